/// The producer's side of one `create`. It delivers one event, and disposes the producer's resource exactly once.
///
/// The emitter of the first `create` of a chain is the subscription itself. Later ones are attached to it.
@usableFromInline
final class Emitter<Element: Sendable>: Subscription, @unchecked Sendable {  // As in ``Subscription``.
    /// Whether the resource must be disposed as soon as the body returns it.
    @exclusivity(unchecked) @usableFromInline var isDone = false
    /// Whether the producer's body is running.
    @exclusivity(unchecked) @usableFromInline var isInBody = true
    // For an event inside the body, on its thread. No other thread uses these two, so they need no lock.
    @exclusivity(unchecked) @usableFromInline var hasEmittedInBody = false
    @exclusivity(unchecked) @usableFromInline var ofBody: (context: Context, next: Next?)?
    @usableFromInline let bodyThread: ThreadID
    /// The observer, until the event or the end.
    @exclusivity(unchecked) @usableFromInline var observer: Receiver<Element>?
    @exclusivity(unchecked) @usableFromInline var resource: (any Disposable)?

    @inlinable
    init(owner: Fork?, _ observer: @escaping Single<Element>.Observer) {
        (self.observer, bodyThread) = (Receiver(observer), .current)
        super.init(owner: owner)
        unreleased = 1
    }

    /// Runs the producer's body, and returns the next start.
    @inlinable
    func run(_ body: (@escaping Single<Element>.SingleObserver) -> any Disposable, in context: inout Context) -> Next? {
        guard let subscription = context.subscription else {
            // A closure that holds one object needs no allocation.
            return hold(body { self.emit($0, in: self) }, of: self, in: &context)
        }
        return hold(body { self.emit($0, in: subscription) }, of: subscription, in: &context)
    }

    @inlinable
    func emit(_ event: SingleEvent<Element>, in subscription: Subscription) {
        let (observer, isInBody) = mutex.withLock { (self.observer.take(), self.isInBody && bodyThread == .current) }
        guard let observer else { return }
        guard !isInBody else { return emitInBody(event, to: observer, in: subscription) }
        var context = Context(subscription, owner: subscription.owner, startsLeft: 0)
        let next = observer.receive(&context, event)
        let resource = mutex.withLock {
            isDone = true
            return self.resource.take()
        }
        resource?.dispose()
        let released: Int32 = (resource == nil ? 0 : 1) + (context.hasEnded ? 1 : 0)
        if released > 0 { subscription.release(released) }
        Next.run(next)
    }

    /// Delivers an event inside the body. The next start and the release wait until the body has returned.
    ///
    /// Nobody else knows the first emitter of a chain yet, so this works as if there were no subscription.
    @inlinable
    func emitInBody(_ event: SingleEvent<Element>, to observer: Receiver<Element>, in subscription: Subscription) {
        hasEmittedInBody = true
        var context = Context(subscription === self ? nil : subscription, owner: subscription.owner, startsLeft: 0)
        let next = observer.receive(&context, event)
        if next != nil || context.subscription != nil { ofBody = (context, next) }
    }

    /// Takes the resource that the producer's body has returned.
    @inlinable
    func hold(_ resource: any Disposable, of subscription: Subscription, in context: inout Context) -> Next? {
        guard !hasEmittedInBody else {
            resource.dispose()
            guard let (event, next) = ofBody.take() else { return nil }
            context.subscription = event.subscription
            let released: Int32 = (subscription === self ? 0 : 1) + (event.hasEnded ? 1 : 0)
            if released > 0 { event.subscription?.release(released) }
            return next
        }
        keep(resource, of: subscription)
        context.subscription = subscription
        return nil
    }

    @inlinable @inline(never)
    func keep(_ resource: any Disposable, of subscription: Subscription) {
        // The owner adopts this before it can be released, and then waits for it, even if it is too late to go on.
        let isAdopted = subscription !== self || owner?.adopt(self) ?? true
        let isTooLate = mutex.withLock {
            isInBody = false
            if !isDone { self.resource = resource }
            return isDone
        }
        if isTooLate {
            resource.dispose()
            subscription.release()
        }
        if !isAdopted { cancel() }
    }

    /// Releases the resource. While the producer's body runs there is none yet, and `keep` releases it later.
    @usableFromInline
    override func cancel(in subscription: Subscription) {
        let (resource, _) = mutex.withLock {
            isDone = true
            return (self.resource.take(), observer.take())
        }
        guard let resource else { return }
        resource.dispose()
        subscription.release()
    }
}
