/// An operator that runs.
class Node {
    unowned let model: Model

    init(_ model: Model) { self.model = model }

    func start(_ then: @escaping Continuation) -> After { After() }
    /// Releases all but what an emission that is under way has ended: that is released when the emission has returned.
    func cancel() {}
    /// Whether nothing is held any more, after the end.
    var isReleased: Bool { true }
}

final class EventNode: Node {
    private let event: Event

    init(_ event: Event, _ model: Model) {
        self.event = event
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After { then(event) }
}

/// A source that emits later.
final class ProducerNode: Node {
    /// Returns how to release what it opens.
    private let open: (ProducerNode) -> () -> Void
    private var then: Continuation?
    private var close: (() -> Void)?

    init(_ model: Model, _ open: @escaping (ProducerNode) -> () -> Void) {
        self.open = open
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After {
        self.then = then
        close = open(self)
        return After()
    }

    func emit(_ event: Event) {
        guard let then else { return }
        self.then = nil
        let after = then(event)
        release()
        model.run(after)
    }

    override func cancel() {
        then = nil
        release()
    }

    override var isReleased: Bool { close == nil }

    private func release() {
        close?()
        close = nil
    }
}

final class MapNode: Node {
    private let child: Node
    private let map: (Int) -> Event
    private var isCancelled = false

    init(_ child: Node, _ model: Model, map: @escaping (Int) -> Event) {
        (self.child, self.map) = (child, map)
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After {
        child.start { [self] event in
            guard !isCancelled, case .success(let value) = event else { return then(event) }
            return then(map(value))
        }
    }

    override func cancel() {
        isCancelled = true
        child.cancel()
    }

    override var isReleased: Bool { child.isReleased }
}

/// flatMap, catch, retry, delay, observe(on:) and subscribe(on:).
final class NextNode: Node {
    private var current: Node
    private let next: (Event) -> Node?
    private var isCancelled = false

    init(_ first: Node, _ model: Model, next: @escaping (Event) -> Node?) {
        (current, self.next) = (first, next)
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After {
        current.start { [self] event in
            guard !isCancelled else { return After() }
            guard let next = next(event) else { return then(event) }
            return After(starts: [
                { [self] in
                    guard !isCancelled else { return }
                    current = next
                    model.run(next.start(then))
                }
            ])
        }
    }

    override func cancel() {
        isCancelled = true
        current.cancel()
    }

    override var isReleased: Bool { current.isReleased }
}

/// do(onSuccess:afterSuccess:onError:afterError:onSubscribe:onDispose:).
final class TapNode: Node {
    private let child: Node
    private let isReacting: Bool
    private var isOpen = false
    private var isStarting = false
    private var isPassed = false
    private var isCancelled = false

    init(_ child: Node, _ model: Model, isReacting: Bool) {
        (self.child, self.isReacting) = (child, isReacting)
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After {
        model.log.append("tap subscribed")
        (isOpen, isStarting) = (true, true)
        let after = child.start { [self] event in
            guard !isCancelled else { return After() }
            model.log.append("tap")
            guard !isCancelled else { return After() }
            isPassed = true
            let after = then(event)
            model.log.append("after")
            if isReacting { model.react() }
            return After(releases: [closeOnceReleased]) + after
        }
        isStarting = false
        model.run(After())
        return after
    }

    override func cancel() {
        guard !isPassed else { return }
        isCancelled = true
        child.cancel()
        closeOnceReleased()
    }

    override var isReleased: Bool { !isOpen }

    private func closeOnceReleased() {
        model.perform(once: { [self] in child.isReleased && !isStarting }) { [self] in
            if isOpen { model.log.append("tap disposed") }
            isOpen = false
        }
    }
}

/// create { inner.subscribe($0) }: the inner chain is separate, and passes the event on while its source still delivers it.
final class BridgeNode: Node {
    private let inner: Node
    private var isEnded = false
    private var isCancelled = false
    /// While the inner chain is started: what is left to do then.
    private var starting: After?
    private var isOpen = false

    init(_ inner: Node, _ model: Model) {
        self.inner = inner
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After {
        (isOpen, starting) = (true, After())
        model.run(
            inner.start { [self] event in
                guard !isEnded else { return After() }
                isEnded = true
                let after = then(event)
                if starting != nil {
                    starting = after
                } else {
                    isOpen = false
                    model.run(after)
                }
                return After()
            })
        let after = starting ?? After()
        starting = nil
        if isEnded { release() }
        return after
    }

    override func cancel() {
        isCancelled = !isEnded
        isEnded = true
        if starting == nil { release() }
    }

    private func release() {
        if isCancelled { inner.cancel() }
        isOpen = false
        model.run(After())
    }

    override var isReleased: Bool { !isOpen }
}

/// zip and timeout: `whole` makes the event of all from that of a part.
final class PartsNode: Node {
    private let children: [Node]
    private let whole: (Int, Event) -> Event?
    private var isPassed = false
    private var isOpen = false
    /// Those that have delivered an event. The end of the whole skips nothing of theirs.
    private var delivered: Set<Int> = []
    /// While the parts are started: what is left to do then.
    private var starting: After?

    init(_ children: [Node], _ model: Model, whole: @escaping (Int, Event) -> Event?) {
        (self.children, self.whole) = (children, whole)
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After {
        (isOpen, starting) = (true, After())
        for (index, child) in children.enumerated() where !isPassed {
            model.run(child.start { [self] event in receive(event, index, then) })
        }
        let after = starting ?? After()
        starting = nil
        if isPassed { isOpen = false }
        model.run(After())
        return after
    }

    private func receive(_ event: Event, _ index: Int, _ then: Continuation) -> After {
        delivered.insert(index)
        guard !isPassed, let event = whole(index, event) else { return After() }
        isPassed = true
        let after = then(event)
        cancelOthers()
        guard starting == nil else {
            starting = after
            return After()
        }
        return After(releases: [{ self.isOpen = false }]) + after
    }

    override func cancel() {
        isPassed = true
        isOpen = false
        cancelOthers()
    }

    private func cancelOthers() {
        for (index, child) in children.enumerated() where !delivered.contains(index) { child.cancel() }
    }

    override var isReleased: Bool { !isOpen && starting == nil && children.allSatisfy(\.isReleased) }
}

/// A source that chains share.
final class Share {
    final class Run {
        let source: Node
        var members: [SharedNode] = []
        var isClosed = false
        var isDelivering = false
        init(_ source: Node) { self.source = source }
    }

    let tree: Tree
    var run: Run?
    init(_ tree: Tree) { self.tree = tree }
}

final class SharedNode: Node {
    private let share: Share
    private var run: Share.Run?
    private var then: Continuation?
    private var isCancelled = false

    init(_ share: Share, _ model: Model) {
        self.share = share
        super.init(model)
    }

    override func start(_ then: @escaping Continuation) -> After {
        self.then = then
        run = share.run
        guard let run else { return startRun() }
        run.members.append(self)
        return After()
    }

    private func startRun() -> After {
        let run = Share.Run(model.node(share.tree))
        run.members = [self]
        (share.run, self.run) = (run, run)
        return run.source.start { [share] event in
            guard !run.isClosed else { return After() }
            run.isClosed = true
            if share.run === run { share.run = nil }
            run.isDelivering = true
            defer { run.isDelivering = false }
            return run.members.map { $0.isCancelled ? After() : $0.then?(event) ?? After() }.reduce(After(), +)
        }
    }

    override func cancel() {
        isCancelled = true
        guard let run, !run.isClosed else { return }
        run.members.removeAll { $0 === self }
        guard run.members.isEmpty else { return self.run = nil }
        run.isClosed = true
        if share.run === run { share.run = nil }
        run.source.cancel()
    }

    override var isReleased: Bool { run.map { $0.isClosed && !$0.isDelivering && $0.source.isReleased } ?? true }
}
