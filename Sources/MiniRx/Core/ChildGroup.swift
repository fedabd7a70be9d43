/// Child subscriptions with one common event, such as those of a `zip`. The event disposes the running children.
struct ChildGroup<Element: Sendable>: Sendable {
    let children: Children
    private let emitter: Emitter<Element>

    /// Returns a single that runs the children added by `addChildren`.
    static func single(addChildren: @escaping @Sendable (ChildGroup) -> Void) -> Single<Element> {
        Single { subscription, observer in
            let children = Children(parent: subscription)
            let emitter = Emitter(observer, resource: children)
            guard subscription.addSource(cancel: emitter.cancel) else { return .none }
            addChildren(ChildGroup(children: children, emitter: emitter))
            return emitter.finishStarting(in: subscription)
        }
    }

    /// Delivers the group's event, and disposes the children. Only the first call has an effect.
    func emit(_ event: SingleEvent<Element>) -> TrampolineStep { emitter.emit(event, in: children.parent) }
}

/// The children of a group, until they are disposed.
struct Children: Disposable {
    let parent: Subscription
    private let subscriptions = Locked<[Subscription]?>([])

    init(parent: Subscription) { self.parent = parent }

    /// Adds and starts a child, unless the group has finished. `onEvent` gets the child's event, and may call ``ChildGroup/emit(_:)``.
    func add<Element: Sendable>(_ single: Single<Element>, _ onEvent: @escaping @Sendable (SingleEvent<Element>) -> TrampolineStep) {
        guard let child = addChild() else { return }
        single.start(in: child) { child, event in child.finish() ? onEvent(event) : .none }
    }

    /// Adds a child for the caller to start. Returns `nil` if the group has finished.
    func addChild() -> Subscription? {
        let child = Subscription(childOf: parent)
        guard subscriptions.withLock({ $0?.append(child) }) != nil else { return nil }
        parent.enter()
        return child
    }

    func dispose() {
        // A child with an event ends by itself, and doesn't count as disposed.
        for child in subscriptions.withLock({ $0.take() }) ?? [] where !child.isFinished { child.dispose() }
    }
}
