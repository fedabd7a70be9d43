extension Single {
    /// Delivers the event on `scheduler`.
    ///
    /// The source is torn down before the event is enqueued. If you dispose the subscription while the event is enqueued, the event is
    /// dropped.
    ///
    /// ![The value is delivered on the queue.](observeOn)
    public func observe(on scheduler: any Scheduler) -> Single {
        Single { subscription, observer in
            run(in: subscription) { subscription, event in
                let hop = Single.create { deliver in scheduler.schedule(after: .zero) { deliver(event) } }
                return .afterDisposal(subscription) { hop.run(in: $0, observer) }
            }
        }
    }

    /// Delivers the event on the main actor.
    ///
    /// The closures of `subscribe` may then use main-actor state. If the event arrives on the main queue, and no other event waits
    /// there or is being delivered, it is delivered at once.
    ///
    /// - Parameter actor: `MainActor.shared`.
    public func observe(on actor: MainActor) -> MainActorSingle<Element> {
        MainActorSingle(single: observe(on: MainScheduler.instance))
    }
}
