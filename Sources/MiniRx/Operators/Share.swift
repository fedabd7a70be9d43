extension Single {
    /// One run of the source for all who subscribe while it is in flight. The last to leave cancels it; after its end a new subscription
    /// starts afresh.
    public func share() -> Single {
        let sharing = Sharing(source: self)
        return Single { subscription, observer in sharing.join(subscription, observer) }
    }
}

private final class Sharing<Element: Sendable>: Sendable {
    /// One run of the source.
    final class Run: @unchecked Sendable {  // The members are touched under the lock of `Sharing`.
        let connection = SerialDisposable()
        var members: [Member] = []
    }

    /// One who has joined a run: its chain is released when the run is.
    final class Member: Source {
        let sharing: Sharing
        let run: Run
        let subscription: Subscription
        let observer: Single<Element>.Observer

        init(sharing: Sharing, run: Run, subscription: Subscription, observer: @escaping Single<Element>.Observer) {
            (self.sharing, self.run, self.subscription, self.observer) = (sharing, run, subscription, observer)
        }

        func cancel(in subscription: Subscription) { sharing.leave(self) }
    }

    private let source: Single<Element>
    private let current = Locked<Run?>(nil)

    init(source: Single<Element>) { self.source = source }

    func join(_ subscription: Subscription, _ observer: @escaping Single<Element>.Observer) {
        let (member, isFirst) = current.withLock { current in
            let isFirst = current == nil
            let run = current ?? Run()
            current = run
            let member = Member(sharing: self, run: run, subscription: subscription, observer: observer)
            run.members.append(member)
            return (member, isFirst)
        }
        guard subscription.attach(member) else { return leave(member, isAttached: false) }
        guard isFirst else { return }
        let run = member.run
        run.connection.disposable = source.start({ self.deliver($0, of: run) }, onDisposed: { self.release(run) })
    }

    private func deliver(_ event: SingleEvent<Element>, of run: Run) {
        let members = current.withLock { current in
            if current === run { current = nil }
            return run.members
        }
        members.forEach { $0.observer($0.subscription, event) }
    }

    private func release(_ run: Run) {
        let members = current.withLock { _ in
            defer { run.members = [] }
            return run.members
        }
        members.forEach { $0.subscription.release() }
    }

    private func leave(_ member: Member, isAttached: Bool = true) {
        let (index, isLast) = current.withLock { current in
            let index = member.run.members.firstIndex { $0 === member }
            if let index { member.run.members.remove(at: index) }
            let isLast = member.run.members.isEmpty && current === member.run
            if isLast { current = nil }
            return (index, isLast)
        }
        if isLast { member.run.connection.dispose() }
        if index != nil, isAttached { member.subscription.release() }
    }
}
