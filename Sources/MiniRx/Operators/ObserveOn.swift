import Dispatch

extension Single {
    /// Delivers the event on `scheduler`, in one hop. The source is released once the event is queued; a queued event is dropped when the
    /// subscription is disposed first.
    public func observe(on scheduler: some Scheduler) -> Single {
        Single { [run] subscription, observer in
            run(subscription) { subscription, event in
                Single.create { deliver in scheduler.schedule(after: .zero) { deliver(event) } }
                    .run(subscription, observer)
            }
        }
    }

    /// Delivers the event on the main actor, and lets the closures of `subscribe` touch its state. On the main thread with nothing waiting
    /// the event comes at once.
    public func observe(on actor: MainActor) -> MainActorSingle<Element> {
        MainActorSingle(single: observe(on: MainScheduler.instance))
    }
}
