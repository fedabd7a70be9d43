/// The producer's side of one `create`: it lets one event through, and disposes the producer's resource exactly once.
@usableFromInline
final class Emitter<Element: Sendable>: Source, @unchecked Sendable {  // The variables are touched under the subscription's lock.
    /// Until the event, or the end.
    @exclusivity(unchecked) @usableFromInline var observer: Single<Element>.Observer?
    @exclusivity(unchecked) @usableFromInline var resource: (any Disposable)?
    @exclusivity(unchecked) @usableFromInline var isEnded = false

    @inlinable
    init(_ observer: @escaping Single<Element>.Observer) { self.observer = observer }

    @inlinable
    func emit(_ event: SingleEvent<Element>, in subscription: Subscription) {
        guard let observer = subscription.state.withLock({ _ in observer.take() }) else { return }
        Trampoline.run(for: subscription.root) {
            observer(subscription, event)
            end(in: subscription)
        }
    }

    /// Takes what the producer's body has returned.
    @inlinable
    func hold(_ resource: any Disposable, in subscription: Subscription) {
        let isTooLate = subscription.state.withLock { _ in
            if !isEnded { self.resource = resource }
            return isEnded
        }
        guard isTooLate else { return }
        resource.dispose()
        subscription.release()
    }

    @usableFromInline
    func cancel(in subscription: Subscription) { end(in: subscription) }

    /// Ends, and disposes the resource. There is none yet while the producer's body runs: then `hold` disposes it.
    @inlinable
    func end(in subscription: Subscription) {
        let (resource, _) = subscription.state.withLock { _ in
            isEnded = true
            return (self.resource.take(), self.observer.take())
        }
        guard let resource else { return }
        resource.dispose()
        subscription.release()
    }
}
