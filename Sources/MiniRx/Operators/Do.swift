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
    @preconcurrency @inlinable
    public func `do`(
        onSuccess: (@Sendable (Element) throws -> Void)? = nil, afterSuccess: (@Sendable (Element) throws -> Void)? = nil,
        onError: (@Sendable (any Error) throws -> Void)? = nil, afterError: (@Sendable (any Error) throws -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil, onDispose: (@Sendable () -> Void)? = nil
    ) -> Single {
        var single = self
        if onSuccess != nil || onError != nil || afterSuccess != nil || afterError != nil {
            single = single.tapped(
                before: { try $0.visit(onSuccess, onError) }, after: { try $0.visit(afterSuccess, afterError) })
        }
        if onSubscribe != nil || onSubscribed != nil || onDispose != nil {
            single = single.enclosed(onSubscribe: onSubscribe, onSubscribed: onSubscribed, onDispose: onDispose)
        }
        return single
    }

    @inlinable
    func tapped(
        before: @escaping @Sendable (SingleEvent<Element>) throws -> Void, after: @escaping @Sendable (SingleEvent<Element>) throws -> Void
    ) -> Single {
        Single { chain, observer in
            run(chain) { chain, event in
                guard !chain.isOver else { return }
                do { try before(event) } catch { return chain.pass(.failure(error), to: observer) }
                observer(chain, event)
                chain.finishCall()
                guard !chain.isSilent else { return }
                do { try after(event) } catch { Hooks.defaultErrorHandler(error) }
            }
        }
    }

    @inlinable
    func enclosed(
        onSubscribe: (@Sendable () -> Void)?, onSubscribed: (@Sendable () -> Void)?, onDispose: (@Sendable () -> Void)?
    ) -> Single {
        let announced = Single { chain, observer in
            guard !chain.isOver else { return }
            // `onDispose` runs once for each `onSubscribe`, and waits until the source has started.
            if let onDispose { guard chain.awaitRelease(then: Action(onDispose)) else { return } }
            defer { if onDispose != nil { chain.release() } }
            onSubscribe?()
            guard !chain.isOver else { return }
            run(chain, observer)
            chain.finishCall()
            if !chain.isSilent { onSubscribed?() }
        }
        guard onDispose != nil else { return announced }
        return Single { chain, observer in
            Parts.run(in: chain, observer) { $0.start(announced) { $0 } }
        }
    }
}

extension Result where Failure == any Error {
    @inlinable
    func visit(_ onSuccess: (@Sendable (Success) throws -> Void)?, _ onFailure: (@Sendable (Failure) throws -> Void)?) rethrows {
        switch self {
        case .success(let element): try onSuccess?(element)
        case .failure(let error): try onFailure?(error)
        }
    }
}
