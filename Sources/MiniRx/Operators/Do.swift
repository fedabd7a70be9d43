extension Single {
    /// Looks on without changing the event: every closure runs on the thread on which the event passes.
    ///
    /// - Parameters:
    ///   - onSuccess: Runs before the value goes on. If it throws, the single fails with that error.
    ///   - afterSuccess: Runs after the value has gone on. What it throws comes too late, and goes to ``Hooks/defaultErrorHandler``.
    ///   - onError: Runs before the error goes on. If it throws, its error replaces the first.
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
        let before = Self.tap(onSuccess, onError)
        let after = Self.tap(afterSuccess, afterError)
        return Single { [run] subscription, observer in
            onSubscribe?()
            defer { onSubscribed?() }
            guard let part = subscription.part(onDisposed: { onDispose?() }) else { return }
            run(part) { part, event in
                var event = event
                do { try before(event) } catch { event = .failure(error) }
                part.finish {
                    observer(subscription, event)
                    do { try after(event) } catch { Hooks.defaultErrorHandler(error) }
                }
            }
        }
    }

    private static func tap(
        _ onSuccess: (@Sendable (Element) throws -> Void)?, _ onError: (@Sendable (any Error) throws -> Void)?
    ) -> @Sendable (SingleEvent<Element>) throws -> Void {
        {
            switch $0 {
            case .success(let element): try onSuccess?(element)
            case .failure(let error): try onError?(error)
            }
        }
    }
}
