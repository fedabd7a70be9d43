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

/// A source and the current run. Each subscriber's emitter gets the run's event.
private final class SharedSource<Element: Sendable>: Sendable {
    private struct Subscriber {
        let subscription: Subscription
        let emitter: Emitter<Element>
    }

    private struct State {
        /// The subscription to the source. New subscribers join the run until the event, or until nobody waits.
        var run: Subscription?
        /// The waiting subscribers, by sequence number.
        var subscribers: [Int: Subscriber] = [:]
        var lastNumber = 0
    }

    private let source: Single<Element>
    private let state = Locked(State())

    init(source: Single<Element>) { self.source = source }

    func join(_ subscription: Subscription, _ observer: @escaping Single<Element>.Observer) -> TrampolineStep {
        let number = state.withLock { state in
            state.lastNumber += 1
            return state.lastNumber
        }
        let emitter = Emitter(observer, resource: Disposables.create { self.removeSubscriber(number) })
        guard subscription.addSource(cancel: emitter.cancel) else { return .none }
        // Entering at the event would be too late: a dispose may come first. The subscriber counts until unsubscribed, or until the run's
        // teardown.
        subscription.enter()
        let (run, isFirst) = state.withLock { state in
            state.subscribers[number] = Subscriber(subscription: subscription, emitter: emitter)
            if let run = state.run { return (run, false) }
            let run = Subscription()
            state.run = run
            return (run, true)
        }
        // A dispose between `addSource` and the insertion found no subscriber to remove.
        if subscription.isFinished { removeSubscriber(number) }
        if isFirst { source.start(in: run) { run, event in run.finish() ? self.emit(event, from: run) : .none } }
        return emitter.finishStarting(in: subscription)
    }

    private func emit(_ event: SingleEvent<Element>, from run: Subscription) -> TrampolineStep {
        let subscribers = state.withLock { state -> [Int: Subscriber] in
            guard state.run === run else { return [:] }
            defer { (state.run, state.subscribers) = (nil, [:]) }
            return state.subscribers
        }
        .sorted { $0.key < $1.key }
        for (_, subscriber) in subscribers { run.onTeardown { subscriber.subscription.leave() } }
        let nextSteps = subscribers.map { _, subscriber in subscriber.emitter.emit(event, in: subscriber.subscription) }
        return .afterDisposal(run) { _ in
            for step in nextSteps { step.run() }
            return .none
        }
    }

    private func removeSubscriber(_ number: Int) {
        let (subscriber, abandonedRun) = state.withLock { state -> (Subscriber?, Subscription?) in
            let subscriber = state.subscribers.removeValue(forKey: number)
            return (subscriber, subscriber != nil && state.subscribers.isEmpty ? state.run.take() : nil)
        }
        guard let subscriber else { return }
        guard let abandonedRun else { return subscriber.subscription.leave() }
        abandonedRun.onTeardown { subscriber.subscription.leave() }
        abandonedRun.dispose()
    }
}
