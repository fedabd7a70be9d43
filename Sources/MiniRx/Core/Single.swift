/// The event of a ``Single``: one value or one error.
public typealias SingleEvent<Element> = Result<Element, any Error>

/// A cold computation that ends in exactly one value or one error.
///
/// Nothing runs before you subscribe. Each subscription runs the computation again, on the subscriber's thread, and gets exactly one event,
/// on the thread that produces it. Then the source's resource is released, and `onDisposed` is called, in this order.
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
///
/// Disposing a subscription stops the source, and no event comes after that:
///
/// ![The source and the subscription are disposed after two seconds, and no value is delivered.](dispose)
public struct Single<Element: Sendable>: Sendable {
    /// A closure that gets the one event.
    public typealias SingleObserver = @Sendable (SingleEvent<Element>) -> Void

    /// The next observer in a chain. It returns what remains to do.
    typealias Observer = @Sendable (Subscription, SingleEvent<Element>) -> Continuation

    /// Starts the computation in a subscription. The observer gets its event.
    ///
    /// An operator's body runs the single before it, with an observer that passes the event on by `forward`.
    private let body: @Sendable (Subscription, @escaping Observer) -> Continuation

    init(_ body: @escaping @Sendable (Subscription, @escaping Observer) -> Continuation) { self.body = body }

    /// Runs the computation as part of a chain. Returns what remains to do.
    func run(in subscription: Subscription, _ observer: @escaping Observer) -> Continuation {
        switch subscription.nextCall() {
        case .never: .none
        case .now: body(subscription, observer)
        case .later: .rest(subscription) { body($0, observer) }
        }
    }

    /// Runs the computation in a new subscription, and lets go of the hold that the subscription was created with.
    func start(in subscription: Subscription, _ observer: @escaping Observer) {
        run(in: subscription, observer).run()
        subscription.release()
    }
}

extension Subscription {
    /// Passes an event to the next observer of the chain.
    @inline(__always)
    func forward<Element: Sendable>(_ event: SingleEvent<Element>, to observer: @escaping Single<Element>.Observer) -> Continuation {
        switch nextCall() {
        case .never: .none
        case .now: observer(self, event)
        case .later: .rest(self) { observer($0, event) }
        }
    }
}
