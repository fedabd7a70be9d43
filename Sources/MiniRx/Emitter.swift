/// The producer's side of one `create`: it lets one event through, and disposes the producer's resource exactly once.
///
/// The emitter of the first `create` of a chain is the subscription itself. One that comes later is attached to that.
@usableFromInline
final class Emitter<Element: Sendable>: Subscription, @unchecked Sendable {  // As in ``Subscription``.
    /// Whether the resource is to be released as soon as it is there.
    @exclusivity(unchecked) @usableFromInline var isDone = false
    /// Whether the producer's body is running.
    @exclusivity(unchecked) @usableFromInline var isInBody = true
    // What an event has led to that came inside of the body, on its thread. No other thread touches these, and so there is no lock.
    @exclusivity(unchecked) @usableFromInline var hasEmittedInBody = false
    @exclusivity(unchecked) @usableFromInline var ofBody: (context: Context, next: Next?)?
    @usableFromInline let bodyThread: ThreadID
    /// Until the event, or the end.
    @exclusivity(unchecked) @usableFromInline var observer: Receiver<Element>?
    @exclusivity(unchecked) @usableFromInline var resource: (any Disposable)?

    @inlinable
    init(owner: Fork?, _ observer: @escaping Single<Element>.Observer) {
        (self.observer, bodyThread) = (Receiver(observer), .current)
        super.init(owner: owner)
        unreleased = 1
    }

    /// Runs the producer's body. Returns what is to be started next.
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

    /// What follows, and the release, wait until the body has returned. Of a first emitter nobody else knows yet: it is as if there were no
    /// subscription.
    @inlinable
    func emitInBody(_ event: SingleEvent<Element>, to observer: Receiver<Element>, in subscription: Subscription) {
        hasEmittedInBody = true
        var context = Context(subscription === self ? nil : subscription, owner: subscription.owner, startsLeft: 0)
        let next = observer.receive(&context, event)
        if next != nil || context.subscription != nil { ofBody = (context, next) }
    }

    /// Takes what the producer's body has returned.
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
        // Adopted before it can be released, so that the owner waits for it. It does so also if this comes too late.
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

    /// Releases the resource. There is none yet while the producer's body runs: then `hold` releases it.
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
