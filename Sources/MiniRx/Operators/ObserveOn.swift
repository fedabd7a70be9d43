import Dispatch

extension Single {
    /// Delivers the event on `scheduler`, in one hop. The source is released once the event is queued; a queued event is dropped when the
    /// subscription is disposed first.
    public func observe(on scheduler: any Scheduler) -> Single {
        Single { context, observer in
            run(&context) { context, event in
                Single.create { deliver in scheduler.schedule(after: .zero) { deliver(event) } }.run(&context, observer)
            }
        }
    }

    /// Delivers the event on the main actor, and lets the closures of `subscribe` touch its state. On the main queue with nothing waiting
    /// the event comes at once.
    public func observe(on actor: MainActor) -> MainActorSingle<Element> {
        MainActorSingle(single: observe(on: MainScheduler.instance))
    }
}
