extension Single {
    /// Starts the single; `observer` gets its one event, on the thread that produced it.
    ///
    /// Nothing comes after `dispose()` has returned on the thread that delivers; from another thread, at most an event that was already
    /// being delivered.
    @preconcurrency @inlinable
    public func subscribe(_ observer: @escaping SingleObserver) -> any Disposable {
        start(observer)
    }

    /// Starts the single with a closure for each ending, called on the thread that produced the event.
    ///
    /// - Parameters:
    ///   - onSuccess: Gets the value.
    ///   - onFailure: Gets the error. Without it, an error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Called exactly once, after the event or `dispose()`, when the source has been released.
    @preconcurrency @inlinable
    public func subscribe(
        onSuccess: (@Sendable (Element) -> Void)? = nil, onFailure: (@Sendable (any Error) -> Void)? = nil,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        start(
            {
                switch $0 {
                case .success(let element): onSuccess?(element)
                case .failure(let error): (onFailure ?? Hooks.defaultErrorHandler)(error)
                }
            }, onDisposed: onDisposed)
    }

    /// Starts the single with closures that are handed `object`, which is held weakly: once it is gone, nothing is called.
    ///
    /// - Parameters:
    ///   - object: What the closures work on.
    ///   - onSuccess: Gets the object and the value.
    ///   - onFailure: Gets the object and the error. Without it, an error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Called exactly once, after the event or `dispose()`, when the source has been released.
    @preconcurrency
    public func subscribe<Object: AnyObject & Sendable>(
        with object: Object, onSuccess: (@Sendable (Object, Element) -> Void)? = nil,
        onFailure: (@Sendable (Object, any Error) -> Void)? = nil, onDisposed: (@Sendable (Object) -> Void)? = nil
    ) -> any Disposable {
        subscribe(
            onSuccess: { [weak object] element in
                if let object { onSuccess?(object, element) }
            },
            onFailure: { [weak object] error in
                guard let object else { return }
                if let onFailure { onFailure(object, error) } else { Hooks.defaultErrorHandler(error) }
            },
            onDisposed: { [weak object] in
                if let object { onDisposed?(object) }
            })
    }

    @inlinable
    func start(_ observer: @escaping SingleObserver, onDisposed: (@Sendable () -> Void)? = nil) -> Subscription {
        let subscription = Subscription(onDisposed: onDisposed)
        subscription.start(self) { subscription, event in subscription.finish { observer(event) } }
        return subscription
    }
}
