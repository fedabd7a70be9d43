import Dispatch

extension Single {
    /// Delivers the event on `scheduler`.
    ///
    /// The source is released before the event is queued. If you dispose the subscription while the event is queued, the event is dropped.
    ///
    /// ![The value is delivered on the queue.](observeOn)
    @inlinable
    public func observe(on scheduler: any Scheduler) -> Single {
        Single { chain, observer in
            run(chain) { chain, event in
                chain.start(.create { deliver in scheduler.schedule(after: .zero) { deliver(event) } }, observer)
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
