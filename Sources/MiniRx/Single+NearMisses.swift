public import Dispatch

// Spellings from other libraries. Each is unavailable, so the compiler says what to write instead.

extension Single {
    /// Not available: a single is subscribed to as it is.
    @available(*, unavailable, message: "leave it out: a Single is subscribed to, mapped and zipped as it is")
    public func asObservable() -> Single { self }

    /// Not available: a queue is not a scheduler.
    @available(
        *, unavailable,
        message:
            "for the main queue, write observe(on: MainActor.shared); for another, observe(on: SerialDispatchQueueScheduler(queue: queue))"
    )
    public func observe(on queue: DispatchQueue) -> Single { self }
}
