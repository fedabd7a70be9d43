extension Single {
    /// Shares one run of the source among all subscriptions during the run.
    ///
    /// When the last of them is disposed, the run is cancelled. A subscription after the end of a run starts another.
    ///
    /// ![Two subscriptions get the value of one run. A third one, later, starts another.](share)
    public func share() -> Single {
        let shared = SharedSource(source: self)
        return Single { subscription, observer in shared.join(subscription, observer) }
    }
}

/// A source and its current run. Each subscriber's emitter gets the event of the run.
private final class SharedSource<Element: Sendable>: Sendable {
    private struct Member {
        let subscription: Subscription
        let emitter: Emitter<Element>
    }

    private struct State {
        /// The subscription to the source. New subscribers join the run until its event, or until nobody waits.
        var run: Subscription?
        /// The waiting subscribers, by sequence number.
        var members: [Int: Member] = [:]
        var joinCount = 0
    }

    private let source: Single<Element>
    private let state = Locked(State())

    init(source: Single<Element>) { self.source = source }

    func join(_ subscription: Subscription, _ observer: @escaping Single<Element>.Observer) -> TrampolineStep {
        let number = state.withLock { state in
            state.joinCount += 1
            return state.joinCount
        }
        let emitter = Emitter(observer, resource: Disposables.create { self.removeMember(number) })
        guard subscription.addSource(cancel: emitter.cancel) else { return .none }
        // Entering at the event would be too late: a dispose may come first. The member counts until it leaves, or until the run's
        // teardown.
        subscription.enter()
        let (run, isFirst) = state.withLock { state in
            state.members[number] = Member(subscription: subscription, emitter: emitter)
            if let run = state.run { return (run, false) }
            let run = Subscription()
            state.run = run
            return (run, true)
        }
        // A dispose between `addSource` and the insertion found no member to remove.
        if subscription.isFinished { removeMember(number) }
        if isFirst { source.start(in: run) { run, event in run.finish() ? self.emit(event, from: run) : .none } }
        return emitter.finishStarting(in: subscription)
    }

    private func emit(_ event: SingleEvent<Element>, from run: Subscription) -> TrampolineStep {
        let members = state.withLock { state -> [Int: Member] in
            guard state.run === run else { return [:] }
            defer { (state.run, state.members) = (nil, [:]) }
            return state.members
        }
        .sorted { $0.key < $1.key }
        for (_, member) in members { run.onTeardown { member.subscription.leave() } }
        let nextSteps = members.map { _, member in member.emitter.emit(event, in: member.subscription) }
        return .afterDisposal(run) { _ in
            for step in nextSteps { step.run() }
            return .none
        }
    }

    private func removeMember(_ number: Int) {
        let (member, abandonedRun) = state.withLock { state -> (Member?, Subscription?) in
            let member = state.members.removeValue(forKey: number)
            return (member, member != nil && state.members.isEmpty ? state.run.take() : nil)
        }
        guard let member else { return }
        guard let abandonedRun else { return member.subscription.leave() }
        abandonedRun.onTeardown { member.subscription.leave() }
        abandonedRun.dispose()
    }
}
