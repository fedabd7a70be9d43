extension Single {
    /// Delivers the event on `scheduler`.
    ///
    /// The event is enqueued after the source's teardown. Disposing the subscription drops an enqueued event.
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
    /// The closures of `subscribe` may then use main-actor state. An event on the main queue is delivered at once, unless another event
    /// waits there or is being delivered.
    ///
    /// - Parameter actor: `MainActor.shared`.
    public func observe(on actor: MainActor) -> MainActorSingle<Element> {
        MainActorSingle(single: observe(on: MainScheduler.instance))
    }
}
