/// The event of a ``Single``: one value or one error.
public typealias SingleEvent<Element> = Result<Element, any Error>

/// A cold computation of one value or one error.
///
/// Nothing runs before you subscribe. Each subscription runs the computation again, on the subscriber's thread, and gets at most one event,
/// on the producer's thread: none if disposed first, or if the source never ends. After the event or the disposal, `create`'s disposable is
/// disposed, and then `onDisposed` is called.
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
    /// Called with the one event.
    public typealias SingleObserver = @Sendable (SingleEvent<Element>) -> Void

    /// The downstream observer in a chain. Returns the next call: see ``TrampolineStep``.
    typealias Observer = @Sendable (Subscription, SingleEvent<Element>) -> TrampolineStep

    /// Starts the computation in a subscription. The observer gets the event.
    ///
    /// An operator's body runs the upstream single. Its observer passes the event on with `forward`.
    private let body: @Sendable (Subscription, @escaping Observer) -> TrampolineStep

    init(_ body: @escaping @Sendable (Subscription, @escaping Observer) -> TrampolineStep) { self.body = body }

    /// Runs the computation as part of a chain. Returns the next call.
    func run(in subscription: Subscription, _ observer: @escaping Observer) -> TrampolineStep {
        switch subscription.countCall() {
        case .never: .none
        case .now: body(subscription, observer)
        case .later: .beforeDisposal(subscription) { body($0, observer) }
        }
    }

    /// Runs the computation in a new subscription. A new subscription counts this call as pending (see ``Subscription``), so this method
    /// ends with `leave()`.
    func start(in subscription: Subscription, _ observer: @escaping Observer) {
        run(in: subscription, observer).run()
        subscription.leave()
    }
}

extension Subscription {
    /// Passes an event to the downstream observer.
    @inline(__always)
    func forward<Element: Sendable>(_ event: SingleEvent<Element>, to observer: @escaping Single<Element>.Observer) -> TrampolineStep {
        switch countCall() {
        case .never: .none
        case .now: observer(self, event)
        case .later: .beforeDisposal(self) { observer($0, event) }
        }
    }

    /// Passes an error on. A separate function: generic code looks up the event's type at run time, even where no event is passed on.
    @inline(never)
    func fail<Element: Sendable>(_ error: any Error, _ observer: @escaping Single<Element>.Observer) -> TrampolineStep {
        forward(.failure(error), to: observer)
    }
}
