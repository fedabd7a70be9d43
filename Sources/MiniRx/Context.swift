/// What goes along with a call into a chain: with `subscribe`, with an event of a source, and with the start of what follows.
@usableFromInline
struct Context {
    /// There is none before something is to be released when the call has unwound. Until then nobody can dispose the chain by itself.
    @usableFromInline var subscription: Subscription?
    /// What this is a branch of.
    @usableFromInline let owner: Fork?
    /// How many sources may still be started inside this call: none while one is attached, and not many, or the stack would overflow.
    @usableFromInline var startsLeft: Int8
    /// Whether the subscription has ended in this call. It is released when the call has unwound.
    @usableFromInline var hasEnded = false

    /// For a call in which nothing is attached, unless `startsLeft` is 0.
    @inlinable
    init(_ subscription: Subscription? = nil, owner: Fork? = nil, startsLeft: Int8 = 16) {
        (self.subscription, self.owner, self.startsLeft) = (subscription, owner, startsLeft)
    }

    /// What a new subscription is a branch of, unless it is to be attached.
    @inlinable var ownerOfNew: Fork? { subscription == nil ? owner : nil }

    /// To be asked before each closure of the user's: none of them runs when the one before has disposed the chain.
    @inlinable var isDisposed: Bool { subscription?.isDisposed ?? false || owner?.isOver ?? false }

    /// To be asked before a closure that comes after the event: it runs after the end, but not after a dispose.
    @inlinable var hasBeenDisposed: Bool { subscription?.hasBeenDisposed ?? owner?.hasBeenDisposed ?? false }

    /// Starts `single` as the next source: now if nothing is attached, or else when what is attached has unwound.
    @inlinable
    mutating func start<Element>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) -> Next? {
        guard startsLeft > 0 else { return Next(of: self) { single.run(&$0, observer) } }
        startsLeft -= 1
        return single.run(&self, observer)
    }

    /// Attaches parts, which are the subscription if there is none. False if it is too late: then they must not start.
    @inlinable
    mutating func admits(_ parts: Fork) -> Bool {
        startsLeft = 0
        return subscription?.attach(parts) ?? isAdopted(parts)
    }

    /// Attaches an emitter, which is the subscription if there is none; it joins the branches once its body has returned, and can be
    /// cancelled. False if it is too late: then it must not start.
    @inlinable
    mutating func admits<Element>(_ emitter: Emitter<Element>) -> Bool {
        startsLeft = 0
        return subscription?.attach(emitter) ?? !(owner?.isOver ?? false)
    }

    /// Whether `new`, which has not started, is a branch of the owner now. False if it is too late for that.
    @inlinable
    func isAdopted(_ new: Subscription) -> Bool {
        guard let owner, !owner.adopt(new) else { return true }
        owner.drop(new)
        return false
    }

    /// The subscription, which is made if there is none, for a source that cannot be it. `nil` if it is too late for that.
    @inlinable
    mutating func subscriptionForSource() -> Subscription? {
        startsLeft = 0
        if let subscription { return subscription }
        let new = Subscription(owner: owner)
        guard isAdopted(new) else { return nil }
        subscription = new
        return new
    }

    /// The one transition to the end by an event. False if the end has come before.
    @inlinable
    mutating func end() -> Bool {
        guard let subscription else { return true }
        hasEnded = subscription.end()
        return hasEnded
    }

    /// Takes note that the call has unwound, and starts `first`, what that leaves, and so on, as far as it is of this chain or branch. Returns
    /// what is not.
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

    /// Starts `next`, and what that leaves. Returns what `subscribe` does.
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
