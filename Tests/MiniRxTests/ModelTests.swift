import MiniRx
import TestSupport
import Testing

/// Random trees of operators, driven by random steps, do what a model does that is simple enough to be obviously right.
@Suite("Model", tenMinutes)
struct ModelTests {
    @Test("20,000 random trees do what the model does, step by step", arguments: [0, 1, 2, 3] as [UInt64])
    func trees(part: UInt64) {
        for seed in (part * 5_000)..<(part * 5_000 + 5_000) {
            var random = SplitMix(state: seed)
            let tree = Tree.random(depth: Int.random(in: 1...5, using: &random), using: &random)
            let script = (0..<Int.random(in: 1...8, using: &random)).map { _ in Step.random(using: &random) }
            let reaction = [nil, nil, Step.dispose, Step.random(using: &random)].randomElement(using: &random) ?? nil
            let real = Real(tree, reaction: reaction)
            let model = Model(tree, reaction: reaction)
            for (index, step) in ([Step.subscribe] + script + [.dispose]).enumerated() {
                real.perform(step)
                model.perform(step)
                guard real.log.entries == model.log.entries else {
                    Issue.record(
                        """
                        Seed \(seed), after step \(index), \(step), of \(script) with reaction \(String(describing: reaction)):
                        tree:  \(tree)
                        model: \(model.log.entries)
                        real:  \(real.log.entries)
                        """)
                    return
                }
            }
            #expect(real.log.entries.count { $0 == "disposed" } == 1, "seed \(seed)")
        }
    }
}

private struct SplitMix: RandomNumberGenerator {
    var state: UInt64
    mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }
}

private typealias Event = SingleEvent<Int>

private indirect enum Tree: Sendable {
    case just(Int), fail, never
    /// A source that the script controls.
    case source(Int)
    /// Whether the closure throws, or performs the reaction.
    case map(Tree, throws: Bool, reacts: Bool)
    case flatMap(Tree, Tree), recover(Tree, Tree), zip(Tree, Tree), tapped(Tree), retried(Tree, Int)

    static let sources = 3

    static func random(depth: Int, using random: inout SplitMix) -> Tree {
        guard depth > 0 else {
            switch Int.random(in: 0..<10, using: &random) {
            case 0: return .never
            case 1, 2: return .fail
            case 3, 4: return .just(Int.random(in: 0..<10, using: &random))
            default: return .source(Int.random(in: 0..<sources, using: &random))
            }
        }
        func child() -> Tree { .random(depth: depth - Int.random(in: 1...depth, using: &random), using: &random) }
        switch Int.random(in: 0..<6, using: &random) {
        case 0: return .map(child(), throws: Int.random(in: 0..<5, using: &random) == 0, reacts: Bool.random(using: &random))
        case 1: return .flatMap(child(), child())
        case 2: return .recover(child(), child())
        case 3: return .zip(child(), child())
        case 4: return .tapped(child())
        default: return .retried(child(), Int.random(in: 1...3, using: &random))
        }
    }
}

private enum Step: Sendable {
    case subscribe, dispose
    /// Every subscription of the source that is there tries to emit, also those that have ended.
    case emit(Int, isSuccess: Bool)

    static func random(using random: inout SplitMix) -> Step {
        Int.random(in: 0..<12, using: &random) == 0
            ? .dispose : .emit(Int.random(in: 0..<Tree.sources, using: &random), isSuccess: Int.random(in: 0..<3, using: &random) > 0)
    }

    var event: Event {
        if case .emit(let source, true) = self { return .success(source) }
        return .failure(TestError())
    }
}

private func text(_ event: Event) -> String { (try? event.get()).map { "success \($0)" } ?? "failure" }

/// The tree, made of singles.
private final class Real: Sendable {
    let log = Log<String>()
    private let callbacks = Locked((0..<Tree.sources).map { _ in [Single<Int>.SingleObserver]() })
    private let disposable = SerialDisposable()
    private let tree: Tree
    private let reaction: Step?
    private let hasReacted = Locked(false)

    init(_ tree: Tree, reaction: Step?) { (self.tree, self.reaction) = (tree, reaction) }

    func perform(_ step: Step) {
        switch step {
        case .subscribe:
            disposable.disposable = single(tree).subscribe(
                onSuccess: { [log] in log.append(text(.success($0))) }, onFailure: { [log] _ in log.append("failure") },
                onDisposed: log.adds("disposed"))
        case .dispose: disposable.dispose()
        case .emit(let source, _): callbacks.withLock { $0[source] }.forEach { $0(step.event) }
        }
    }

    private func react() {
        let isFirst = hasReacted.withLock { hasReacted in
            defer { hasReacted = true }
            return !hasReacted
        }
        if isFirst, let reaction { perform(reaction) }
    }

    private func single(_ tree: Tree) -> Single<Int> {
        switch tree {
        case .just(let value): return .just(value)
        case .fail: return .error(TestError())
        case .never: return .never()
        case .source(let source):
            return .create { [self] observer in
                log.append("subscribe \(source)")
                callbacks.withLock { $0[source].append(observer) }
                return log.disposable("release \(source)")
            }
        case .map(let tree, let isThrowing, let isReacting):
            return single(tree).map { [self] value in
                if isReacting { react() }
                if isThrowing { throw TestError() }
                return value + 1
            }
        case .flatMap(let tree, let next): return single(tree).flatMap { [self] _ in single(next) }
        case .recover(let tree, let next): return single(tree).catch { [self] _ in single(next) }
        case .zip(let first, let second): return Single<Int>.zip(single(first), single(second)) { $0 * 10 + $1 }
        case .tapped(let tree):
            return single(tree).do(
                onSuccess: { [log] _ in log.append("tap") }, onError: { [log] _ in log.append("tap") }, onDispose: log.adds("tap disposed"))
        case .retried(let tree, let count): return single(tree).retry(count)
        }
    }
}

/// What is left to do once the source of an event has been released.
private typealias After = [() -> Void]
private typealias Continuation = (Event) -> After

/// The same without threads, locks, subscriptions or a thought for the stack: an object for each operator that runs.
private final class Model {
    let log = Log<String>()
    private let tree: Tree
    private let reaction: Step?
    private var hasReacted = false
    private var root: Node?
    private(set) var isEnded = false
    private var isDisposedDue = false
    /// Nobody can dispose a subscription before `subscribe` has returned it.
    private var isStarting = false
    private var isDisposeDue = false
    var sources = [[SourceNode]](repeating: [], count: Tree.sources)

    init(_ tree: Tree, reaction: Step?) { (self.tree, self.reaction) = (tree, reaction) }

    func perform(_ step: Step) {
        switch step {
        case .subscribe:
            let root = node(tree)
            self.root = root
            isStarting = true
            run(
                root.start { [self] event in
                    guard !isEnded else { return [] }
                    isEnded = true
                    log.append(text(event))
                    return [logDisposed]
                })
            emissionHasUnwound()
            isStarting = false
            if isDisposeDue { perform(.dispose) }
        case .dispose:
            guard !isStarting else { return isDisposeDue = true }
            guard !isEnded else { return }
            isEnded = true
            root?.cancel()
            logDisposed()
        case .emit(let source, _): sources[source].forEach { $0.emit(step.event) }
        }
    }

    func run(_ after: After) {
        after.forEach { $0() }
    }

    /// Or once the emissions that are under way have unwound, if what they end is not released yet.
    private func logDisposed() {
        isDisposedDue = root?.isReleased == false
        if !isDisposedDue { log.append("disposed") }
    }

    func emissionHasUnwound() {
        guard isDisposedDue else { return }
        root?.cancel()
        logDisposed()
    }

    func react() {
        guard !hasReacted else { return }
        hasReacted = true
        if let reaction { perform(reaction) }
    }

    func node(_ tree: Tree) -> Node {
        switch tree {
        case .just(let value): EventNode(event: .success(value))
        case .fail: EventNode(event: .failure(TestError()))
        case .never: EventNode(event: nil)
        case .source(let source): SourceNode(model: self, source: source)
        case .map(let tree, let isThrowing, let isReacting): MapNode(node(tree), model: self, isThrowing, isReacting)
        case .flatMap(let tree, let next): NextNode(node(tree), model: self) { (try? $0.get()) == nil ? nil : next }
        case .recover(let tree, let next): NextNode(node(tree), model: self) { (try? $0.get()) == nil ? next : nil }
        case .zip(let first, let second): ZipNode([node(first), node(second)], model: self)
        case .tapped(let tree): TapNode(node(tree), model: self)
        case .retried(let tree, let count):
            NextNode(node(tree), model: self) { (try? $0.get()) == nil && count > 1 ? .retried(tree, count - 1) : nil }
        }
    }
}

private class Node {
    func start(_ then: @escaping Continuation) -> After { [] }
    /// Releases what is there, but for what an emission that is under way has ended: that is released when it has unwound.
    func cancel() {}
    /// Whether nothing is held any more, after the end.
    var isReleased: Bool { true }
}

private final class EventNode: Node {
    let event: Event?
    init(event: Event?) { self.event = event }
    override func start(_ then: @escaping Continuation) -> After { event.map(then) ?? [] }
}

private final class SourceNode: Node {
    unowned let model: Model
    let source: Int
    var then: Continuation?
    var isHeld = false

    init(model: Model, source: Int) { (self.model, self.source) = (model, source) }

    override func start(_ then: @escaping Continuation) -> After {
        model.log.append("subscribe \(source)")
        (self.then, isHeld) = (then, true)
        model.sources[source].append(self)
        return []
    }

    func emit(_ event: Event) {
        guard let then else { return }
        self.then = nil
        let after = then(event)
        release()
        model.run(after)
        model.emissionHasUnwound()
    }

    override func cancel() {
        then = nil
        release()
    }

    override var isReleased: Bool { !isHeld }

    private func release() {
        if isHeld { model.log.append("release \(source)") }
        isHeld = false
    }
}

private final class MapNode: Node {
    let child: Node
    let model: Model
    let isThrowing: Bool
    let isReacting: Bool

    init(_ child: Node, model: Model, _ isThrowing: Bool, _ isReacting: Bool) {
        (self.child, self.model, self.isThrowing, self.isReacting) = (child, model, isThrowing, isReacting)
    }

    override func start(_ then: @escaping Continuation) -> After {
        child.start { [self] event in
            guard case .success(let value) = event else { return then(event) }
            if isReacting { model.react() }
            return then(isThrowing ? .failure(TestError()) : .success(value + 1))
        }
    }

    override func cancel() { child.cancel() }
    override var isReleased: Bool { child.isReleased }
}

/// flatMap, catch and retry.
private final class NextNode: Node {
    var current: Node
    let model: Model
    let next: (Event) -> Tree?
    var isCancelled = false

    init(_ child: Node, model: Model, next: @escaping (Event) -> Tree?) { (current, self.model, self.next) = (child, model, next) }

    override func start(_ then: @escaping Continuation) -> After {
        current.start { [self] event in
            guard let tree = next(event) else { return then(event) }
            return [
                { [self] in
                    guard !isCancelled, !model.isEnded else { return }
                    current = model.node(tree)
                    model.run(current.start(then))
                }
            ]
        }
    }

    override func cancel() {
        isCancelled = true
        current.cancel()
    }

    override var isReleased: Bool { current.isReleased }
}

private final class TapNode: Node {
    let child: Node
    let model: Model
    var isOpen = false
    var isPassed = false
    var isCancelled = false

    init(_ child: Node, model: Model) { (self.child, self.model) = (child, model) }

    override func start(_ then: @escaping Continuation) -> After {
        isOpen = true
        return child.start { [self] event in
            guard !isCancelled else { return [] }
            model.log.append("tap")
            isPassed = true
            return [close] + then(event)
        }
    }

    override func cancel() {
        guard !isPassed else { return }
        isCancelled = true
        child.cancel()
        if child.isReleased { close() }
    }

    override var isReleased: Bool { !isOpen }

    private func close() {
        if isOpen { model.log.append("tap disposed") }
        isOpen = false
    }
}

private final class ZipNode: Node {
    let children: [Node]
    let model: Model
    var values: [Int?]
    var isPassed = false
    var isOpen = false

    init(_ children: [Node], model: Model) {
        (self.children, self.model) = (children, model)
        values = children.map { _ in nil }
    }

    override func start(_ then: @escaping Continuation) -> After {
        isOpen = true
        for (index, child) in children.enumerated() where !isPassed && !model.isEnded {
            model.run(child.start { [self] event in receive(event, index, then) })
        }
        return []
    }

    private func receive(_ event: Event, _ index: Int, _ then: Continuation) -> After {
        guard !isPassed else { return [] }
        if case .success(let value) = event {
            values[index] = value
            guard values.allSatisfy({ $0 != nil }) else { return [] }
        }
        isPassed = true
        let all = values.compactMap { $0 }
        let after = then(event.map { _ in all[0] * 10 + all[1] })
        for (other, child) in children.enumerated() where other != index { child.cancel() }
        return [{ self.isOpen = false }] + after
    }

    override func cancel() {
        guard !isPassed else { return }
        isPassed = true
        isOpen = false
        children.forEach { $0.cancel() }
    }

    override var isReleased: Bool { !isOpen && children.allSatisfy(\.isReleased) }
}
