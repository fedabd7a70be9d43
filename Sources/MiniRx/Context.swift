/// The state of a call into a chain. There is one for `subscribe`, for each event of a source, and for each start of a ``Next``.
@usableFromInline
struct Context {
    /// The chain's subscription. It is made when the first source is attached. Until then, nobody can dispose the chain alone.
    @usableFromInline var subscription: Subscription?
    /// The fork, if the chain is a branch of one.
    @usableFromInline let owner: Fork?
    /// How many more sources may start inside this call. In the event of an attached source, it is 0. It is small, because the stack is.
    @usableFromInline var startsLeft: Int8
    /// Whether the subscription has ended in this call. It is released after the call.
    @usableFromInline var hasEnded = false

    /// Creates the state of a call. In the event of an attached source, `startsLeft` is 0.
    @inlinable
    init(_ subscription: Subscription? = nil, owner: Fork? = nil, startsLeft: Int8 = 16) {
        (self.subscription, self.owner, self.startsLeft) = (subscription, owner, startsLeft)
    }

    /// The owner of a new subscription. One that will be attached to the chain's subscription has none.
    @inlinable var ownerOfNew: Fork? { subscription == nil ? owner : nil }

    /// Whether the chain has ended. Check it before each closure of the user, because the one before may have disposed the chain.
    @inlinable var isDisposed: Bool { subscription?.isDisposed ?? false || owner?.isOver ?? false }

    /// Whether the user has disposed the chain. Check it before a closure that runs after the event.
    @inlinable var hasBeenDisposed: Bool { subscription?.hasBeenDisposed ?? owner?.hasBeenDisposed ?? false }

    /// Starts `single` as the next source: now if no source is attached, or else when the attached source has returned.
    @inlinable
    mutating func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) -> Next? {
        guard startsLeft > 0 else { return Next(of: self) { single.run(&$0, observer) } }
        startsLeft -= 1
        return single.run(&self, observer)
    }

    /// Attaches parts. If there is no subscription, they become it. If this returns false, it is too late, and they must not start.
    @inlinable
    mutating func admits(_ parts: Fork) -> Bool {
        subscription?.attach(parts) ?? isAdopted(parts)
    }

    /// Attaches an emitter. If there is no subscription, it becomes it, and the owner adopts it when its body has returned. If this returns
    /// false, it is too late, and the emitter must not start.
    @inlinable
    mutating func admits<Element>(_ emitter: Emitter<Element>) -> Bool {
        subscription?.attach(emitter) ?? !(owner?.isOver ?? false)
    }

    /// Makes `new`, which has not started, a branch of the owner, if there is one. Returns false if it is too late for that.
    @inlinable
    func isAdopted(_ new: Subscription) -> Bool {
        guard let owner, !owner.adopt(new) else { return true }
        owner.drop(new)
        return false
    }

    /// Returns the subscription for a source that cannot be one itself, and makes it if there is none. Returns `nil` if it is too late.
    @inlinable
    mutating func subscriptionForSource() -> Subscription? {
        if let subscription { return subscription }
        let new = Subscription(owner: owner)
        guard isAdopted(new) else { return nil }
        subscription = new
        return new
    }

    /// Ends the subscription with an event. Returns false if it has ended before.
    @inlinable
    mutating func end() -> Bool {
        guard let subscription else { return true }
        hasEnded = subscription.end()
        return hasEnded
    }

    /// Finishes the call. Starts `first`, what that returns, and so on, while they belong to this chain. Returns the one that does not.
    @inlinable
    mutating func unwind(_ first: Next?) -> Next? {
        var next = first
        if hasEnded { subscription?.release() }
        while let current = next, current.subscription === subscription, current.owner === owner {
            var call = Context(subscription, owner: owner)
            next = current.start(&call)
            subscription = call.subscription
            if call.hasEnded { subscription?.release() }
        }
        return next
    }

    /// Starts `next` and all that follows, and returns the result of `subscribe`.
    @usableFromInline
    mutating func started(_ next: Next?, onDisposed: (@Sendable () -> Void)?) -> any Disposable {
        Next.run(unwind(next))
        guard let subscription else {
            onDisposed?()
            return NopDisposable()
        }
        if let onDisposed { subscription.whenReleased(Action(onDisposed)) }
        return subscription
    }
}
