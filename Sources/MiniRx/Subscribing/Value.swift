extension Single {
    /// The value of the single. Reading it subscribes and waits.
    ///
    /// - Throws: The error of the single. If the task is cancelled, the source is disposed and `CancellationError` is thrown. In a task
    ///   that is already cancelled, the source is never subscribed to.
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
