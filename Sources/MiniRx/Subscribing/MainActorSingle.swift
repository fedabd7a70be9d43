import Dispatch

/// What ``Single/observe(on:)-(MainActor)`` returns: its closures are known to run on the main actor and may touch its state, and the
/// compiler refuses captures that race.
public struct MainActorSingle<Element: Sendable>: Sendable {
    /// Delivers on the main queue.
    let single: Single<Element>

    /// Starts the single; `observer` gets its one event on the main actor.
    public func subscribe(_ observer: @escaping @MainActor (SingleEvent<Element>) -> Void) -> any Disposable {
        start(observer, onDisposed: nil)
    }

    /// Starts the single with a closure for each ending, called on the main actor.
    ///
    /// - Parameters:
    ///   - onSuccess: Gets the value.
    ///   - onFailure: Gets the error. Without it, an error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Called exactly once, after the event or `dispose()`. When `dispose()` is called on the main queue, it has run when
    ///     that returns, unless another thread is still releasing the source; called elsewhere, it is enqueued.
    public func subscribe(
        onSuccess: (@MainActor (Element) -> Void)? = nil, onFailure: (@MainActor (any Error) -> Void)? = nil,
        onDisposed: (@MainActor () -> Void)? = nil
    ) -> any Disposable {
        start(
            {
                switch $0 {
                case .success(let element): onSuccess?(element)
                case .failure(let error): if let onFailure { onFailure(error) } else { Hooks.defaultErrorHandler(error) }
                }
            }, onDisposed: onDisposed)
    }

    /// Starts the single with closures that are handed `object`, which is held weakly: once it is gone, none of them is called.
    ///
    /// - Parameters:
    ///   - object: What the closures work on: a view controller, a view model.
    ///   - onSuccess: Gets the object and the value, on the main actor.
    ///   - onFailure: Gets the object and the error. Without it, an error goes to ``Hooks/defaultErrorHandler``, also once the object is gone.
    ///   - onDisposed: Called exactly once, after the event or `dispose()`.
    public func subscribe<Object: AnyObject & Sendable>(
        with object: Object, onSuccess: (@MainActor (Object, Element) -> Void)? = nil,
        onFailure: (@MainActor (Object, any Error) -> Void)? = nil, onDisposed: (@MainActor (Object) -> Void)? = nil
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

    private func start(
        _ observer: @escaping @MainActor (SingleEvent<Element>) -> Void, onDisposed: (@MainActor () -> Void)?
    ) -> any Disposable {
        let onDisposed = onDisposed.map { onDisposed -> @Sendable () -> Void in
            {
                guard !MainScheduler.isOnMainQueue else { return MainActor.assumeIsolated(onDisposed) }
                DispatchQueue.main.async { MainActor.assumeIsolated(onDisposed) }
            }
        }
        return single.start(onDisposed: onDisposed) { context, event in
            if context.end() { MainActor.assumeIsolated { observer(event) } }
            return nil
        }
    }
}
