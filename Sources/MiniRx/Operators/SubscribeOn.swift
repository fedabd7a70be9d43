extension Single {
    /// Subscribes to the source on `scheduler`.
    ///
    /// ![The source starts on the queue.](subscribeOn)
    public func subscribe(on scheduler: any Scheduler) -> Single {
        Single<Void>.timer(.zero, scheduler).flatMap { self }
    }
}
