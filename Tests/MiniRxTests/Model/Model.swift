import TestSupport

typealias Event = Result<Int, any Error>

/// The work that is left when the source of an event has returned: first releases, then the next sources.
struct After {
    var releases: [() -> Void] = []
    var starts: [() -> Void] = []

    static func + (a: After, b: After) -> After { After(releases: a.releases + b.releases, starts: a.starts + b.starts) }
}

typealias Continuation = (Event) -> After

/// The behavior of the library, without threads, locks, subscriptions and trampolines. Each operator that runs is a node.
final class Model {
    let log = Log<String>()
    let forest: Forest
    private let reaction: Step?
    private var hasReacted = false
    private var chains: [Int: Chain] = [:]
    private var waiting: [(condition: () -> Bool, operation: () -> Void)] = []
    private var disposed: Set<Int> = []
    private let shares: [Share]
    private var now = 0
    private var timers: [(due: Int, number: Int, action: () -> Void)] = []
    private var timerCount = 0
    /// How to emit an event of each subscription of a source.
    private var sources = [[(Event) -> Void]](repeating: [], count: Tree.sources)

    init(_ forest: Forest, reaction: Step?) {
        (self.forest, self.reaction) = (forest, reaction)
        shares = forest.shared.map(Share.init)
    }

    func perform(_ step: Step) {
        switch step {
        case .subscribe(let index):
            guard chains[index] == nil else { return }
            let chain = Chain(index, node(forest.chains[index]), isDisposeDue: disposed.contains(index), model: self)
            chains[index] = chain
            chain.start()
        case .dispose(let index):
            disposed.insert(index)
            chains[index]?.dispose()
        case .emit(let source, let isSuccess):
            sources[source].forEach { emit in emit(isSuccess ? .success(source) : .failure(TestError())) }
        case .advance(let seconds):
            let end = now + seconds
            while let next = timers.filter({ $0.due <= end }).min(by: { ($0.due, $0.number) < ($1.due, $1.number) }) {
                unschedule(next.number)
                now = max(now, next.due)
                next.action()
            }
            now = max(now, end)
        }
    }

    /// Performs `operation` as soon as `condition` is true.
    func perform(once condition: @escaping () -> Bool, _ operation: @escaping () -> Void) {
        waiting.append((condition, operation))
        performWaiting()
    }

    private func performWaiting() {
        while let index = waiting.firstIndex(where: { $0.condition() }) { waiting.remove(at: index).operation() }
    }

    /// The chains that have ended in the meantime are told, if all that they held is released.
    func run(_ after: After) {
        after.releases.forEach { $0() }
        performWaiting()
        for (_, chain) in chains.sorted(by: { $0.key < $1.key }) { chain.tellIfReleased() }
        after.starts.forEach { $0() }
    }

    func react() {
        guard !hasReacted else { return }
        hasReacted = true
        if let reaction { perform(reaction) }
    }

    func node(_ tree: Tree) -> Node {
        switch tree {
        case .just(let value): Node(start: { then in then(.success(value)) })
        case .fail: Node(start: { then in then(.failure(TestError())) })
        case .never: Node()
        case .source(let source):
            producer { [self] emit in
                log.append("subscribe \(source)")
                sources[source].append(emit)
                return { [log] in log.append("release \(source)") }
            }
        case .shared(let index): member(of: shares[index])
        case .map(let tree, let isThrowing, let isReacting):
            mapped(node(tree)) { [self] event in
                guard case .success(let value) = event else { return event }
                log.append("map")
                if isReacting { react() }
                return isThrowing ? .failure(TestError()) : .success(value + 1)
            }
        case .flatMap(let tree, .fail): mapped(node(tree)) { [self] in $0.isSuccess ? throwNext() : $0 }
        case .flatMap(let tree, let next): following(node(tree)) { [self] in $0.isSuccess ? logNext(next) : nil }
        case .recover(let tree, .fail): mapped(node(tree)) { [self] in $0.isSuccess ? $0 : throwNext() }
        case .recover(let tree, let next): following(node(tree)) { [self] in $0.isSuccess ? nil : logNext(next) }
        case .zip(let first, let second): zip(first, second)
        case .tapped(let tree, let isReacting): tapped(node(tree), isReacting: isReacting)
        case .bridged(let tree): bridged(node(tree))
        case .retried(let tree, let count):
            following(node(tree)) { [self] in $0.isSuccess || count == 1 ? nil : node(.retried(tree, count - 1)) }
        case .timeout(let tree, let seconds):
            grouped([timer(seconds, .success(0)), node(tree)]) { $0 == 0 ? .failure(TestError()) : $1 }
        case .delayed(let tree, let seconds): following(node(tree)) { [self] in $0.isSuccess ? timer(seconds, $0) : nil }
        case .observedOn(let tree): following(node(tree)) { [self] in timer(0, $0) }
        case .subscribedOn(let tree): following(timer(0, .success(0))) { [self] _ in node(tree) }
        }
    }

    private func timer(_ seconds: Int, _ event: Event) -> Node {
        producer { [self] emit in
            timerCount += 1
            let number = timerCount
            timers.append((now + seconds, number, { emit(event) }))
            return { [self] in unschedule(number) }
        }
    }

    private func unschedule(_ number: Int) { timers.removeAll { $0.number == number } }

    private func logNext(_ tree: Tree) -> Node {
        log.append("next")
        return node(tree)
    }

    private func throwNext() -> Event {
        log.append("next")
        return .failure(TestError())
    }

    private func zip(_ first: Tree, _ second: Tree) -> Node {
        var values: [Int?] = [nil, nil]
        return grouped([node(first), node(second)]) { index, event in
            guard case .success(let value) = event else { return event }
            values[index] = value
            guard let first = values[0], let second = values[1] else { return nil }
            return .success(first * 10 + second)
        }
    }
}

extension Event {
    var isSuccess: Bool { (try? get()) != nil }
}

/// One subscription of the script's.
private final class Chain {
    private let index: Int
    private let root: Node
    private unowned let model: Model
    private var isEnded = false
    private var isTold = false
    /// Nobody can dispose a subscription before `subscribe` has returned it.
    private var isStarting = true
    private var isDisposeDue: Bool

    init(_ index: Int, _ root: Node, isDisposeDue: Bool, model: Model) {
        (self.index, self.root, self.isDisposeDue, self.model) = (index, root, isDisposeDue, model)
    }

    func start() {
        model.run(
            root.start { [self] event in
                guard !isEnded else { return After() }
                isEnded = true
                model.log.append((try? event.get()).map { "\(index) success \($0)" } ?? "\(index) failure")
                return After(releases: [tellIfReleased])
            })
        isStarting = false
        if isDisposeDue { dispose() }
    }

    func dispose() {
        guard !isStarting else { return isDisposeDue = true }
        guard !isEnded else { return }
        isEnded = true
        root.cancel()
        tellIfReleased()
    }

    func tellIfReleased() {
        guard isEnded, !isTold, root.isReleased() else { return }
        isTold = true
        model.log.append("\(index) disposed")
    }
}
