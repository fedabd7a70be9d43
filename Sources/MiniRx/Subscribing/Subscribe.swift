extension Single {
    /// Starts the single; `observer` gets its one event, on the thread that produced it.
    ///
    /// Nothing comes after `dispose()` has returned on the thread that delivers; from another thread, at most an event that was already
    /// being delivered.
    @preconcurrency @inlinable
    public func subscribe(_ observer: @escaping SingleObserver) -> any Disposable {
        start { context, event in
            if context.end() { observer(event) }
            return nil
        }
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
        start(onDisposed: onDisposed) { context, event in
            guard context.end() else { return nil }
            switch event {
            case .success(let element): onSuccess?(element)
            case .failure(let error): (onFailure ?? Hooks.defaultErrorHandler)(error)
            }
            return nil
        }
    }

    /// Starts the single with closures that are handed `object`, which is held weakly: once it is gone, none of them is called.
    ///
    /// - Parameters:
    ///   - object: What the closures work on.
    ///   - onSuccess: Gets the object and the value.
    ///   - onFailure: Gets the object and the error. Without it, an error goes to ``Hooks/defaultErrorHandler``, also once the object is gone.
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
                guard let onFailure else { return Hooks.defaultErrorHandler(error) }
                if let object { onFailure(object, error) }
            },
            onDisposed: { [weak object] in
                if let object { onDisposed?(object) }
            })
    }

    @inlinable
    func start(onDisposed: (@Sendable () -> Void)? = nil, _ observer: @escaping Observer) -> any Disposable {
        var context = Context()
        let next = run(&context, observer)
        if next != nil || context.subscription != nil { return context.started(next, onDisposed: onDisposed) }
        // It has ended, and has left nothing to release.
        onDisposed?()
        return NopDisposable()
    }
}
