extension Single {
    /// The value of the single. Reading it subscribes and waits.
    ///
    /// - Throws: The error of the single. If the task is cancelled, the source is disposed and `CancellationError` is thrown. In a task
    ///   that is already cancelled, the source is never subscribed to.
    @inlinable
    public var value: Element {
        get async throws {
            let waiting = Locked(Waiting<Element>())
            return try await withTaskCancellationHandler {
                // It is resumed exactly once, by the one who takes it. The checks of a checked one would cost more than the rest.
                try await withUnsafeThrowingContinuation { continuation in
                    let isTooLate = waiting.withLock { waiting in
                        if !waiting.isCancelled { waiting.continuation = continuation }
                        return waiting.isCancelled
                    }
                    guard !isTooLate else { return continuation.resume(throwing: CancellationError()) }
                    let subscription = subscribe { event in
                        waiting.withLock { $0.continuation.take() }?.resume(with: event)
                    }
                    let isCancelled = waiting.withLock { waiting in
                        waiting.subscription = subscription
                        return waiting.isCancelled
                    }
                    if isCancelled { subscription.dispose() }
                }
            } onCancel: {
                let (continuation, subscription) = waiting.withLock { waiting in
                    waiting.isCancelled = true
                    return (waiting.continuation.take(), waiting.subscription)
                }
                subscription?.dispose()
                continuation?.resume(throwing: CancellationError())
            }
        }
    }
}

/// A task that waits for a value.
@usableFromInline
struct Waiting<Element> {
    @usableFromInline var continuation: UnsafeContinuation<Element, any Error>?
    @usableFromInline var subscription: (any Disposable)?
    @usableFromInline var isCancelled = false

    @inlinable
    init() {}
}
