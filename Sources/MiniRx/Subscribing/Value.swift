extension Single {
    /// Subscribes, and waits for the event.
    ///
    /// - Throws: The single's error; `CancellationError` when the task is cancelled, which disposes the source. In a task that is cancelled
    ///   already the source is never subscribed to.
    public var value: Element {
        get async throws {
            let waiting = Locked<CheckedContinuation<Element, any Error>?>(nil)
            let resume: SingleObserver = { event in
                waiting.withLock { $0.take() }?.resume(with: event)
            }
            let subscription = SerialDisposable()
            return try await withTaskCancellationHandler {
                try await withCheckedThrowingContinuation { continuation in
                    waiting.withLock { $0 = continuation }
                    // The handler may have run before there was a continuation to resume.
                    guard !subscription.isDisposed else { return resume(.failure(CancellationError())) }
                    subscription.disposable = subscribe(resume)
                }
            } onCancel: {
                subscription.dispose()
                resume(.failure(CancellationError()))
            }
        }
    }
}
