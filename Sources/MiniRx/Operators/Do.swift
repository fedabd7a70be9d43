extension Single {
    /// Performs side effects for an event, without changing the event. Each closure runs on the event's thread.
    ///
    /// ![A line is logged at the subscription, and another when the value passes.](do)
    ///
    /// - Parameters:
    ///   - onSuccess: Runs before the value is passed on. If this closure throws, the single fails with that error, and no `after…` closure
    ///     runs.
    ///   - afterSuccess: Runs after the value is passed on, even if the subscription is disposed meanwhile. A thrown error goes to
    ///     ``Hooks/defaultErrorHandler``.
    ///   - onError: Runs before the error is passed on. A thrown error replaces the first, and no `after…` closure runs.
    ///   - afterError: Runs after the error is passed on, even if the subscription is disposed meanwhile. A thrown error goes to
    ///     ``Hooks/defaultErrorHandler``.
    ///   - onSubscribe: Runs before the subscription to the source.
    ///   - onSubscribed: Runs after the subscription to the source, unless the subscription is already disposed, before or after its event.
    ///     Upstream of a ``share()``, also runs if the event came first and the subscribers were disposed since.
    ///   - onDispose: Runs at the source's teardown, after the event or a dispose, once for each `onSubscribe`.
    @preconcurrency
    public func `do`(
        onSuccess: (@Sendable (Element) throws -> Void)? = nil, afterSuccess: (@Sendable (Element) throws -> Void)? = nil,
        onError: (@Sendable (any Error) throws -> Void)? = nil, afterError: (@Sendable (any Error) throws -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil, onDispose: (@Sendable () -> Void)? = nil
    ) -> Single {
        let single = Single { subscription, observer in
            if let onDispose { subscription.onTeardown(onDispose) }
            onSubscribe?()
            let nextStep = run(in: subscription) { subscription, event in
                do { try event.notify(onSuccess: onSuccess, onFailure: onError) } catch {
                    return subscription.forward(.failure(error), to: observer)
                }
                guard !subscription.isFinished else { return .none }
                // An observer downstream may dispose the subscription. The teardown waits for the `after…` closure.
                subscription.enter()
                defer { subscription.leave() }
                let nextStep = subscription.forward(event, to: observer).runBeforeDisposal()
                do { try event.notify(onSuccess: afterSuccess, onFailure: afterError) } catch { Hooks.defaultErrorHandler(error) }
                return nextStep
            }.runBeforeDisposal()
            if let onSubscribed, !subscription.wasDisposed { onSubscribed() }
            return nextStep
        }
        guard onDispose != nil else { return single }
        // `onDispose` runs at this source's teardown, not at the whole chain's, so the source gets a child subscription.
        return ChildGroup.single { group in group.children.add(single) { group.emit($0) } }
    }
}

extension Result where Failure == any Error {
    fileprivate func notify(onSuccess: (@Sendable (Success) throws -> Void)?, onFailure: (@Sendable (Failure) throws -> Void)?) throws {
        switch self {
        case .success(let element): try onSuccess?(element)
        case .failure(let error): try onFailure?(error)
        }
    }
}
