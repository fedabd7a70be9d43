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

    /// The observer inside a chain.
    @usableFromInline typealias Observer = @Sendable (Subscription, SingleEvent<Element>) -> Void

    /// An event that is known from the start, or a closure that starts a source.
    ///
    /// An operator is a closure that starts its source with another observer. A chain is nothing more than that.
    @usableFromInline
    enum Content: Sendable {
        case event(SingleEvent<Element>)
        case source(@Sendable (Subscription, @escaping Observer) -> Void)
    }

    @usableFromInline let content: Content

    @inlinable
    init(content: Content) { self.content = content }

    @inlinable
    init(_ source: @escaping @Sendable (Subscription, @escaping Observer) -> Void) { content = .source(source) }

    /// Starts the computation in a chain.
    @inlinable
    func run(_ chain: Subscription, _ observer: @escaping Observer) {
        switch content {
        case .event(let event): chain.pass(event, to: observer)
        case .source(let source):
            guard chain.goesDeeper else { return chain.next = Next(.rest) { source($0, observer) } }
            source(chain, observer)
        }
    }
}
