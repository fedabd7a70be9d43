extension Single {
    /// Delivers the event on `scheduler`.
    ///
    /// The source is released before the event is queued. If you dispose the subscription while the event is queued, the event is dropped.
    ///
    /// ![The value is delivered on the queue.](observeOn)
    public func observe(on scheduler: any Scheduler) -> Single {
        Single { subscription, observer in
            run(in: subscription) { subscription, event in
                let hop = Single.create { deliver in scheduler.schedule(after: .zero) { deliver(event) } }
                return .source(subscription) { hop.run(in: $0, observer) }
            }
        }
    }

    /// Delivers the event on the main actor.
    ///
    /// The closures of `subscribe` may then use main-actor state. If the event is on the main queue already and nothing else waits, it is
    /// delivered at once.
    public func observe(on actor: MainActor) -> MainActorSingle<Element> {
        MainActorSingle(single: observe(on: MainScheduler.instance))
    }
}
