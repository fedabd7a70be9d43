/// Several child subscriptions that produce one event together, as those of a `zip` do. That event disposes all children.
struct ChildGroup<Element: Sendable>: Sendable {
    private let parent: Subscription
    private let emitter: Emitter<Element>
    private let children: Children

    /// Returns a single that runs the children that `addChildren` adds.
    static func single(addChildren: @escaping @Sendable (ChildGroup) -> Void) -> Single<Element> {
        Single { subscription, observer in
            let children = Children()
            let emitter = Emitter(observer, resource: children)
            guard subscription.addSource(cancel: emitter.cancel) else { return .none }
            addChildren(ChildGroup(parent: subscription, emitter: emitter, children: children))
            return emitter.didStart(in: subscription)
        }
    }

    /// Adds a child and starts it, unless the group has its event or is disposed. `onEvent` gets the child's event, and may call
    /// ``emit(_:)``.
    func add<Child: Sendable>(_ single: Single<Child>, _ onEvent: @escaping @Sendable (SingleEvent<Child>) -> TrampolineStep) {
        let child = Subscription(childOf: parent)
        guard children.add(child) else { return }
        parent.enter()
        single.start(in: child) { child, event in child.finish() ? onEvent(event) : .none }
    }

    /// Delivers the event of the group, and disposes the children. Only the first call has an effect.
    func emit(_ event: SingleEvent<Element>) -> TrampolineStep { emitter.emit(event, in: parent) }
}

/// The children of a group, until they are disposed.
private struct Children: Disposable {
    private let subscriptions = Locked<[Subscription]?>([])

    func add(_ child: Subscription) -> Bool { subscriptions.withLock { $0?.append(child) } != nil }

    func dispose() {
        // A child that has its event ends by itself. It was not disposed.
        for child in subscriptions.withLock({ $0.take() }) ?? [] where !child.isFinished { child.dispose() }
    }
}
