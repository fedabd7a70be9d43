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
    final class Run: @unchecked Sendable {  // The variables are touched under the lock of `Sharing`.
        let connection = SerialDisposable()
        var members: [Member] = []
        /// The last to leave, whose chain ends when the source has been released.
        var lastMember: Member?
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
        let run = member.run
        if !subscription.attach(member) { leave(member, isAttached: false) }
        // Who has come first starts it, for whoever is there by now.
        guard isFirst else { return }
        guard current.withLock({ _ in !run.members.isEmpty }) else { return release(run) }
        run.connection.disposable = source.start({ self.deliver($0, of: run) }, onDisposed: { self.release(run) })
    }

    private func deliver(_ event: SingleEvent<Element>, of run: Run) {
        let members = current.withLock { current in
            if current === run { current = nil }
            return run.members
        }
        for member in members {
            Trampoline.run(for: member.subscription.root) { member.observer(member.subscription, event) }
        }
    }

    private func release(_ run: Run) {
        let members = current.withLock { _ in
            defer { (run.members, run.lastMember) = ([], nil) }
            return run.members + [run.lastMember].compactMap { $0 }
        }
        members.forEach { $0.subscription.release() }
    }

    private func leave(_ member: Member, isAttached: Bool = true) {
        let run = member.run
        let (isMember, isLast) = current.withLock { current in
            guard let index = run.members.firstIndex(where: { $0 === member }) else { return (false, false) }
            run.members.remove(at: index)
            guard run.members.isEmpty else { return (true, false) }
            if current === run { current = nil }
            if isAttached { run.lastMember = member }
            return (true, true)
        }
        if isLast {
            run.connection.dispose()
        } else if isMember, isAttached {
            member.subscription.release()
        }
    }
}
