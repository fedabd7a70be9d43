// A chain has one source at a time: a `create`, the parts of a `zip`, or a place in a `share`. It knows the source by its number.
extension Subscription {
    /// Opens a source and returns its number. Returns `nil` if it is too late, and the source must not start.
    @inlinable
    func open<Element: Sendable>(_ observer: @escaping Single<Element>.Observer, holding parts: Parts? = nil) -> Int32? {
        // Before its first source, nobody else knows it.
        guard isUnknown && source == 0 else { return mutex.withLock { openNow(observer, parts) } }
        return openNow(observer, parts)
    }

    /// The same under the mutex.
    @inlinable
    func openNow<Element: Sendable>(_ observer: @escaping Single<Element>.Observer, _ parts: Parts?) -> Int32? {
        guard state == .active else { return nil }
        (source, unreleased, receiver) = (source + 1, unreleased + 1, Receiver(observer))
        // Parts are released twice: when they are disposed, and when all of them have gone.
        if let parts { (hasResource, resource, unreleased) = (true, parts, unreleased + 1) }
        return source
    }

    /// Delivers the event of the source with this number and goes on.
    @inlinable
    func emit<Element: Sendable>(_ event: SingleEvent<Element>, from number: Int32) {
        if deliver(event, from: number) { proceed() }
    }

    /// Delivers the event of the source with this number and releases the source. If this returns true, the caller calls ``proceed()``
    /// when it has released what it holds itself. If not, somebody does it who is further down on the stack.
    @inlinable
    func deliver<Element: Sendable>(_ event: SingleEvent<Element>, from number: Int32) -> Bool {
        let thread = ThreadID.current
        var (isNested, isInBody) = (false, false)
        var receiver = mutex.withLock { () -> Receiver? in
            guard source == number, let receiver = self.receiver.take() else { return nil }
            isNested = driver == thread
            driver = thread
            // The body that will return the resource is around this call.
            isInBody = isNested && !hasResource
            if isInBody { source += 1 }
            return receiver
        }
        guard receiver != nil else { return false }
        if !isNested { isUnknown = false }
        (isInEvent, depth) = (true, 0)
        // Let go before the rest of the call, so that a deep chain of observers is not released at once.
        receiver.take()?.receive(self, event)
        if next != nil { finishCall() }
        if !isInBody { close(number) }
        return !isNested
    }

    /// Takes the resource of the source with this number. If it is too late, it releases the resource.
    @inlinable
    func hold(_ resource: any Disposable, of number: Int32) {
        let isNothing = type(of: resource) == NopDisposable.self
        let (isHeld, isLast, isByUser) = mutex.withLock { () -> (Bool, Bool, Bool) in
            guard source == number else { return (false, isNothing && releaseNow(), isDisposedByUser) }
            hasResource = true
            if !isNothing { self.resource = resource }
            return (true, false, false)
        }
        if !isHeld, !isNothing { release(resource, byUser: isByUser) }
        if isLast { tell() }
    }

    /// Closes a source and releases it. If there is no resource yet, ``hold(_:of:)`` releases that.
    @usableFromInline
    func close(_ number: Int32) {
        var resource: (any Disposable)?
        let (isLast, isByUser) = mutex.withLock { () -> (Bool, Bool) in
            guard source == number else { return (false, false) }
            source += 1
            guard hasResource else { return (false, false) }
            hasResource = false
            // Moved, because a copy costs several calls.
            swap(&resource, &self.resource)
            return (resource == nil && releaseNow(), isDisposedByUser)
        }
        if let resource { release(resource, byUser: isByUser) }
        if isLast { tell() }
    }

    @usableFromInline
    func release(_ resource: any Disposable, byUser isByUser: Bool) {
        Release.of(resource, byUser: isByUser || owner?.isSilent ?? false)
        release()
    }
}
