/// Parts of a chain with ends of their own, as one source of it: for `zip`, `timeout` and `do(onDispose:)`.
///
/// The first `finish` ends them all. The chain's `onDisposed` waits until each is released.
@usableFromInline
final class Parts<Whole: Sendable, Values>: Source, @unchecked Sendable {  // The variables are touched under the chain's lock.
    @usableFromInline let chain: Subscription
    /// Until the event of the whole, or the end.
    @exclusivity(unchecked) @usableFromInline var observer: Single<Whole>.Observer?
    @exclusivity(unchecked) @usableFromInline var parts: [Subscription] = []
    /// What the parts have come to so far.
    @exclusivity(unchecked) @usableFromInline var values: Values

    /// `nil` if the chain has ended already.
    @inlinable
    init?(of chain: Subscription, values: Values, _ observer: @escaping Single<Whole>.Observer) {
        (self.chain, self.values, self.observer) = (chain, values, observer)
        guard chain.attach(self) else { return nil }
    }

    /// Starts `single` as one more part, unless all have ended.
    @inlinable
    func start<Element>(
        _ single: Single<Element>, onDisposed: (@Sendable () -> Void)? = nil,
        _ receive: @escaping @Sendable (Parts, SingleEvent<Element>) -> Void
    ) {
        let part = Subscription(partOf: chain, onDisposed: onDisposed)
        let isInTime = chain.state.withLock { state in
            guard observer != nil else { return false }
            state.unreleased += 1
            parts.append(part)
            return true
        }
        guard isInTime else { return }
        part.start(single) { part, event in part.finish { receive(self, event) } }
    }

    /// Sets the value of a part, or fails with its error. The whole succeeds with what `set` returns for the last value.
    @inlinable
    func receive<Element>(_ event: SingleEvent<Element>, set: (inout Values, Element) -> Whole?) {
        switch event {
        case .success(let value):
            if let whole = chain.state.withLock({ _ in set(&values, value) }) { finish(.success(whole)) }
        case .failure(let error):
            finish(.failure(error))
        }
    }

    /// Delivers the event of the whole, and then ends every part. Later calls do nothing.
    @inlinable
    func finish(_ event: SingleEvent<Whole>) {
        end { $0(chain, event) }
    }

    @usableFromInline
    func cancel(in chain: Subscription) {
        end { _ in }
    }

    @inlinable
    func end(_ deliver: (Single<Whole>.Observer) -> Void) {
        let (observer, parts) = chain.state.withLock { _ in
            defer { self.parts = [] }
            return (self.observer.take(), self.parts)
        }
        guard let observer else { return }
        deliver(observer)
        parts.forEach { $0.dispose() }
        chain.release()
    }
}
