/// An operator that runs.
struct Node {
    var start: (_ then: @escaping Continuation) -> After = { _ in After() }
    /// Releases everything but the sources whose event is being delivered. They are released when the delivery returns.
    var cancel: () -> Void = {}
    /// Whether nothing is held any more, after the end.
    var isReleased: () -> Bool = { true }
}

/// A source that chains share.
final class Share {
    final class Run {
        let source: Node
        var members: [Member] = []
        var isClosed = false
        var isDelivering = false
        init(_ source: Node) { self.source = source }
    }

    final class Member {
        var then: Continuation?
        var isCancelled = false
    }

    let tree: Tree
    var run: Run?
    init(_ tree: Tree) { self.tree = tree }
}

extension Model {
    /// A source that emits later. `open` gets how to emit, and returns how to release what it has opened.
    func producer(_ open: @escaping (_ emit: @escaping (Event) -> Void) -> () -> Void) -> Node {
        var then: Continuation?
        var close: (() -> Void)?
        func release() {
            close?()
            close = nil
        }
        return Node(
            start: { [self] continuation in
                then = continuation
                close = open { [self] event in
                    guard let continuation = then else { return }
                    then = nil
                    let after = continuation(event)
                    release()
                    run(after)
                }
                return After()
            },
            cancel: {
                then = nil
                release()
            },
            isReleased: { close == nil })
    }

    func mapped(_ child: Node, _ map: @escaping (Event) -> Event) -> Node {
        var isCancelled = false
        return Node(
            start: { then in
                child.start { event in then(isCancelled ? event : map(event)) }
            },
            cancel: {
                isCancelled = true
                child.cancel()
            },
            isReleased: child.isReleased)
    }

    /// flatMap, catch, retry, delay, observe(on:) and subscribe(on:).
    func following(_ first: Node, _ next: @escaping (Event) -> Node?) -> Node {
        var (current, isCancelled) = (first, false)
        return Node(
            start: { [self] then in
                first.start { [self] event in
                    guard !isCancelled else { return After() }
                    guard let next = next(event) else { return then(event) }
                    return After(starts: [
                        { [self] in
                            guard !isCancelled else { return }
                            current = next
                            run(next.start(then))
                        }
                    ])
                }
            },
            cancel: {
                isCancelled = true
                current.cancel()
            },
            // A single of a `zip` may still deliver its event when the zip has failed and the next source has ended.
            isReleased: { first.isReleased() && current.isReleased() })
    }

    /// do(onSuccess:afterSuccess:onError:afterError:onSubscribe:onDispose:).
    func tapped(_ child: Node, isReacting: Bool) -> Node {
        var (isOpen, isStarting, isPassed, isCancelled) = (false, false, false, false)
        func closeOnceReleased() {
            perform(once: { child.isReleased() && !isStarting }) { [log] in
                if isOpen { log.append("tap disposed") }
                isOpen = false
            }
        }
        return Node(
            start: { [self] then in
                log.append("tap subscribed")
                (isOpen, isStarting) = (true, true)
                let after = child.start { [self] event in
                    guard !isCancelled else { return After() }
                    log.append("tap")
                    isPassed = true
                    let after = then(event)
                    log.append("after")
                    if isReacting { react() }
                    return After(releases: [closeOnceReleased]) + after
                }
                isStarting = false
                run(After())
                return after
            },
            cancel: {
                guard !isPassed else { return }
                isCancelled = true
                child.cancel()
                closeOnceReleased()
            },
            isReleased: { !isOpen })
    }

    /// create { inner.subscribe($0) }: the inner chain is separate, and passes the event on while its source still delivers it.
    func bridged(_ inner: Node) -> Node {
        var (isOpen, isEnded, isCancelled) = (false, false, false)
        // While the inner chain is started: what is left to do then.
        var starting: After?
        func release() {
            if isCancelled { inner.cancel() }
            isOpen = false
            run(After())
        }
        return Node(
            start: { [self] then in
                (isOpen, starting) = (true, After())
                run(
                    inner.start { [self] event in
                        guard !isEnded else { return After() }
                        isEnded = true
                        let after = then(event)
                        if starting != nil {
                            starting = after
                        } else {
                            isOpen = false
                            run(after)
                        }
                        return After()
                    })
                let after = starting ?? After()
                starting = nil
                if isEnded { release() }
                return after
            },
            cancel: {
                isCancelled = !isEnded
                isEnded = true
                if starting == nil { release() }
            },
            isReleased: { !isOpen })
    }

    /// zip and timeout: `whole` makes the event of all from that of a part.
    func grouped(_ children: [Node], _ whole: @escaping (Int, Event) -> Event?) -> Node {
        var (isOpen, isPassed) = (false, false)
        // The children that have delivered an event. They are not cancelled.
        var delivered: Set<Int> = []
        // While the parts are started: what is left to do then.
        var starting: After?
        func cancelOthers() {
            for (index, child) in children.enumerated() where !delivered.contains(index) { child.cancel() }
        }
        func receive(_ event: Event, _ index: Int, _ then: Continuation) -> After {
            delivered.insert(index)
            guard !isPassed, let event = whole(index, event) else { return After() }
            isPassed = true
            let after = then(event)
            cancelOthers()
            guard starting == nil else {
                starting = after
                return After()
            }
            return After(releases: [{ isOpen = false }]) + after
        }
        return Node(
            start: { [self] then in
                (isOpen, starting) = (true, After())
                for (index, child) in children.enumerated() where !isPassed {
                    run(child.start { receive($0, index, then) })
                }
                let after = starting ?? After()
                starting = nil
                if isPassed { isOpen = false }
                run(After())
                return after
            },
            cancel: {
                (isPassed, isOpen) = (true, false)
                cancelOthers()
            },
            isReleased: { !isOpen && starting == nil && children.allSatisfy { $0.isReleased() } })
    }

    func member(of share: Share) -> Node {
        let member = Share.Member()
        var run: Share.Run?
        return Node(
            start: { [self] then in
                member.then = then
                if let current = share.run {
                    run = current
                    current.members.append(member)
                    return After()
                }
                let new = Share.Run(node(share.tree))
                new.members = [member]
                (share.run, run) = (new, new)
                return new.source.start { event in
                    guard !new.isClosed else { return After() }
                    new.isClosed = true
                    if share.run === new { share.run = nil }
                    new.isDelivering = true
                    defer { new.isDelivering = false }
                    return new.members.map { $0.isCancelled ? After() : $0.then?(event) ?? After() }.reduce(After(), +)
                }
            },
            cancel: {
                member.isCancelled = true
                guard let current = run, !current.isClosed else { return }
                current.members.removeAll { $0 === member }
                guard current.members.isEmpty else { return run = nil }
                current.isClosed = true
                if share.run === current { share.run = nil }
                current.source.cancel()
            },
            isReleased: { run.map { $0.isClosed && !$0.isDelivering && $0.source.isReleased() } ?? true })
    }
}
