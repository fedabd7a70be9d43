/// What a ``Single`` ends in: one value or one error.
public typealias SingleEvent<Element> = Result<Element, any Error>

/// A cold computation that ends in exactly one value or one error.
///
/// Nothing runs before ``subscribe(_:)``; each subscription runs the computation afresh, on the subscriber's thread, and gets exactly one
/// event, on whichever thread produced it. The order is always: the event, the release of the source's resource, `onDisposed`.
///
/// ```swift
/// let number = Single<Int>.create { observer in
///     let timer = startTimer { observer(.success(42)) }
///     return Disposables.create { timer.cancel() }
/// }
/// number.map { "\($0)" }
///     .observe(on: MainActor.shared)
///     .subscribe(onSuccess: { label.text = $0 })
///     .disposed(by: bag)
/// ```
public struct Single<Element: Sendable>: Sendable {
    /// What a producer calls with its one event, and what a subscriber is called with.
    public typealias SingleObserver = @Sendable (SingleEvent<Element>) -> Void

    /// The observer inside a chain. The subscription comes down with the event, so that no closure of a chain has to keep it alive.
    @usableFromInline typealias Observer = @Sendable (Subscription, SingleEvent<Element>) -> Void

    /// Starts the computation. An operator is a closure that runs its source's closure with another observer: there is no more to a chain.
    @usableFromInline let run: @Sendable (Subscription, @escaping Observer) -> Void

    @inlinable
    init(run: @escaping @Sendable (Subscription, @escaping Observer) -> Void) {
        self.run = run
    }
}
