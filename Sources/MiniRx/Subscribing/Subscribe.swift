extension Single {
    /// Subscribes. `observer` gets the one event, on the producer's thread.
    ///
    /// After a `dispose()` on the delivering thread, no event comes. After a `dispose()` on another thread, an event already on its way may
    /// still arrive.
    @preconcurrency
    public func subscribe(_ observer: @escaping SingleObserver) -> any Disposable {
        makeSubscription { subscription, event in
            if subscription.finish() { observer(event) }
            return .none
        }
    }

    /// Subscribes with closures for the value and the error, called on the producer's thread.
    ///
    /// - Parameters:
    ///   - onSuccess: Gets the value.
    ///   - onFailure: Gets the error. Without it, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Called exactly once, after the event or `dispose()`, at the source's teardown and on its thread.
    @preconcurrency
    public func subscribe(
        onSuccess: (@Sendable (Element) -> Void)? = nil, onFailure: (@Sendable (any Error) -> Void)? = nil,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        makeSubscription(onDisposed: onDisposed) { subscription, event in
            guard subscription.finish() else { return .none }
            switch event {
            case .success(let element): onSuccess?(element)
            case .failure(let error): (onFailure ?? Hooks.defaultErrorHandler)(error)
            }
            return .none
        }
    }

    /// Subscribes with closures that get `object`, called on the producer's thread.
    ///
    /// The object is held weakly. After its release, none of the closures is called, and an error does not go to
    /// ``Hooks/defaultErrorHandler``.
    ///
    /// - Parameters:
    ///   - object: The object for the closures.
    ///   - onSuccess: Gets the object and the value.
    ///   - onFailure: Gets the object and the error. Without it, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Called once, after the event or `dispose()`, at the source's teardown and on its thread, if the object still exists.
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

    func makeSubscription(onDisposed: (@Sendable () -> Void)? = nil, _ observer: @escaping Observer) -> any Disposable {
        let subscription = Subscription()
        if let onDisposed { subscription.onTeardown(onDisposed) }
        start(in: subscription, observer)
        return subscription
    }
}
