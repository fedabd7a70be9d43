extension Single {
    /// Looks on without changing the event: every closure runs on the thread on which the event passes.
    ///
    /// - Parameters:
    ///   - onSuccess: Runs before the value goes on. If it throws, the single fails with that error, and no `after…` closure runs.
    ///   - afterSuccess: Runs after the value has gone on. What it throws comes too late, and goes to ``Hooks/defaultErrorHandler``.
    ///   - onError: Runs before the error goes on. If it throws, its error replaces the first, and no `after…` closure runs.
    ///   - afterError: Runs after the error has gone on. What it throws goes to ``Hooks/defaultErrorHandler``.
    ///   - onSubscribe: Runs before the source is subscribed to.
    ///   - onSubscribed: Runs after the source has been subscribed to.
    ///   - onDispose: Runs once the source has ended or been disposed, and is released.
    @preconcurrency
    public func `do`(
        onSuccess: (@Sendable (Element) throws -> Void)? = nil, afterSuccess: (@Sendable (Element) throws -> Void)? = nil,
        onError: (@Sendable (any Error) throws -> Void)? = nil, afterError: (@Sendable (any Error) throws -> Void)? = nil,
        onSubscribe: (@Sendable () -> Void)? = nil, onSubscribed: (@Sendable () -> Void)? = nil, onDispose: (@Sendable () -> Void)? = nil
    ) -> Single {
        let tapped = tap(before: Self.handler(onSuccess, onError), after: Self.handler(afterSuccess, afterError))
        let disposing = onDispose.map { onDispose in tapped.disposing(onDispose) } ?? tapped
        guard onSubscribe != nil || onSubscribed != nil else { return disposing }
        return Single { subscription, observer in
            onSubscribe?()
            disposing.run(subscription, observer)
            onSubscribed?()
        }
    }

    private typealias Handler = @Sendable (SingleEvent<Element>) throws -> Void

    private static func handler(
        _ onSuccess: (@Sendable (Element) throws -> Void)?, _ onError: (@Sendable (any Error) throws -> Void)?
    ) -> Handler? {
        guard onSuccess != nil || onError != nil else { return nil }
        return {
            switch $0 {
            case .success(let element): try onSuccess?(element)
            case .failure(let error): try onError?(error)
            }
        }
    }

    private func tap(before: Handler?, after: Handler?) -> Single {
        guard before != nil || after != nil else { return self }
        return Single { [run] subscription, observer in
            run(subscription) { subscription, event in
                guard !subscription.isDisposed else { return }
                do { try before?(event) } catch { return observer(subscription, .failure(error)) }
                guard !subscription.isDisposed else { return }
                observer(subscription, event)
                do { try after?(event) } catch { Hooks.defaultErrorHandler(error) }
            }
        }
    }

    /// Calls `onDispose` when this source is released.
    private func disposing(_ onDispose: @escaping @Sendable () -> Void) -> Single {
        Single { subscription, observer in
            Parts(of: subscription, values: (), observer)?.start(self, onDisposed: onDispose) { $0.finish($1) }
        }
    }
}
