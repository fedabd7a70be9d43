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

    /// The observer inside a chain. It returns what is to be started next, once the source of the event has unwound and is released.
    @usableFromInline typealias Observer = @Sendable (inout Context, SingleEvent<Element>) -> Next?

    /// An event that is there from the start, or a closure that starts a source. An operator is a closure that starts its source with
    /// another observer: there is no more to a chain.
    @usableFromInline
    enum Content: Sendable {
        case event(SingleEvent<Element>)
        case source(@Sendable (inout Context, @escaping Observer) -> Next?)
    }

    @usableFromInline let content: Content

    @inlinable
    init(content: Content) { self.content = content }

    @inlinable
    init(_ source: @escaping @Sendable (inout Context, @escaping Observer) -> Next?) { content = .source(source) }

    /// Starts the computation in a chain. Returns what is to be started next, once the caller has unwound.
    @inlinable
    func run(_ context: inout Context, _ observer: @escaping Observer) -> Next? {
        switch content {
        case .event(let event): observer(&context, event)
        case .source(let source): source(&context, observer)
        }
    }
}
