extension Single {
    /// Runs closures along the way of an event, without changing it. Each closure runs on the thread of the event.
    ///
    /// ![A line is logged at the subscription, and another when the value passes.](do)
    ///
    /// - Parameters:
    ///   - onSuccess: Runs before the value is passed on. If it throws, the single fails with that error, and no `after…` closure runs.
    ///   - afterSuccess: Runs after the value was passed on. If it throws, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onError: Runs before the error is passed on. If it throws, its error replaces the first, and no `after…` closure runs.
    ///   - afterError: Runs after the error was passed on. If it throws, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onSubscribe: Runs before the subscription to the source.
    ///   - onSubscribed: Runs after the subscription to the source.
    ///   - onDispose: Runs when the source has ended or was disposed, and is released. It runs once for each `onSubscribe`.
    @preconcurrency
    public func `do`(
        onSuccess: (@Sendable (Element) throws -> Void)? = nil, afterSuccess: (@Sendable (Element) throws -> Void)? = nil,
        onError: (@Sendable (any Error) throws -> Void)? = nil, afterError: (@Sendable (any Error) throws -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil, onDispose: (@Sendable () -> Void)? = nil
    ) -> Single {
        let single = Single { subscription, observer in
            if let onDispose { subscription.onRelease(onDispose) }
            onSubscribe?()
            let continuation = run(in: subscription) { subscription, event in
                do { try event.visit(onSuccess, onError) } catch { return subscription.forward(.failure(error), to: observer) }
                guard !subscription.isDisposed else { return .none }
                // An operator behind this one may dispose. Nothing is released before the `after…` closure has run.
                subscription.hold()
                defer { subscription.release() }
                let continuation = subscription.forward(event, to: observer).finishEvent()
                do { try event.visit(afterSuccess, afterError) } catch { Hooks.defaultErrorHandler(error) }
                return continuation
            }.finishEvent()
            if !subscription.wasDisposed { onSubscribed?() }
            return continuation
        }
        guard onDispose != nil else { return single }
        // `onDispose` does not wait for the rest of the chain, so the source has a separate subscription.
        return ChildGroup.single { group in group.add(single) { group.emit($0) } }
    }
}

extension Result where Failure == any Error {
    fileprivate func visit(_ onSuccess: (@Sendable (Success) throws -> Void)?, _ onFailure: (@Sendable (Failure) throws -> Void)?) throws {
        switch self {
        case .success(let element): try onSuccess?(element)
        case .failure(let error): try onFailure?(error)
        }
    }
}
