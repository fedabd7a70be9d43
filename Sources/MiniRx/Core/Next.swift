/// What a subscription does next.
@usableFromInline
struct Next {
    @usableFromInline
    enum Kind {
        /// The start of a source.
        case source
        /// The rest of a call that had to wait because the stack was deep.
        case rest
        /// At the end of a branch: what follows in the chain that has got the event.
        case chain
    }

    @usableFromInline let kind: Kind
    @usableFromInline let start: (Subscription) -> Void

    @inlinable
    init(_ kind: Kind, start: @escaping (Subscription) -> Void) { (self.kind, self.start) = (kind, start) }
}

// A source starts when the one before has returned and is released, and calls that are too deep wait until the stack has unwound.
extension Subscription {
    /// Starts the next source now, or when the event of the source before is over and that is released.
    @inlinable
    func start<Element: Sendable>(_ single: Single<Element>, _ observer: @escaping Single<Element>.Observer) {
        guard isInEvent else { return single.run(self, observer) }
        next = Next(.source) { single.run($0, observer) }
    }

    /// Hands an event to the next observer of the chain.
    @inlinable
    func pass<Element: Sendable>(_ event: SingleEvent<Element>, to observer: @escaping Single<Element>.Observer) {
        guard goesDeeper else { return next = Next(.rest) { observer($0, event) } }
        observer(self, event)
    }

    /// Counts a call. If this returns false, the stack is deep, and the call must wait until that has unwound.
    @inlinable var goesDeeper: Bool {
        guard depth < 32 else { return false }
        depth += 1
        return true
    }

    /// Makes the calls that had to wait. Call it before what comes after them.
    @inlinable
    func finishCall() {
        let thread = ThreadID.current
        while let rest = mutex.withLock({ driver == thread && next?.kind == .rest ? next.take() : nil }) {
            depth = 0
            rest.start(self)
        }
    }

    /// Starts what follows, and what follows that. Then tells those who wait for the end, if this is the end.
    @inlinable
    func proceed() {
        let thread = ThreadID.current
        while true {
            let (next, isReleased) = mutex.withLock { () -> (Next?, Bool) in
                // Another thread may have delivered an event meanwhile. Then that one goes on.
                guard driver == thread else { return (nil, false) }
                let next = self.next.take()
                guard next == nil || state != .active else { return (next, false) }
                (driver, isUnknown) = (nil, false)
                return (next?.kind == .chain ? next : nil, isNowReleased())
            }
            if isReleased { tell() }
            guard let next else { return }
            (isInEvent, depth) = (false, 0)
            next.start(self)
        }
    }
}
