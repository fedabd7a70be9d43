import Dispatch

/// A single with its event on the main actor: the result of ``Single/observe(on:)-(MainActor)``.
///
/// The closures of `subscribe` may use main-actor state. The compiler refuses racing captures.
public struct MainActorSingle<Element: Sendable>: Sendable {
    /// Delivers on the main queue.
    let single: Single<Element>

    /// Subscribes. `observer` gets the one event, on the main actor.
    public func subscribe(_ observer: @escaping @MainActor (SingleEvent<Element>) -> Void) -> any Disposable {
        makeSubscription(observer, onDisposed: nil)
    }

    /// Subscribes with closures for the value and the error, called on the main actor.
    ///
    /// - Parameters:
    ///   - onSuccess: Gets the value.
    ///   - onFailure: Gets the error. Without it, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Called exactly once, after the event or `dispose()`, at the source's teardown. A teardown on the main queue, such as
    ///     in a `dispose()` there, calls `onDisposed` at once. Another enqueues the call on the main queue.
    public func subscribe(
        onSuccess: (@MainActor (Element) -> Void)? = nil, onFailure: (@MainActor (any Error) -> Void)? = nil,
        onDisposed: (@MainActor () -> Void)? = nil
    ) -> any Disposable {
        makeSubscription(
            {
                switch $0 {
                case .success(let element): onSuccess?(element)
                case .failure(let error): if let onFailure { onFailure(error) } else { Hooks.defaultErrorHandler(error) }
                }
            }, onDisposed: onDisposed)
    }

    /// Subscribes with closures that get `object`, called on the main actor.
    ///
    /// The object is held weakly. After its release, none of the closures is called, and an error does not go to
    /// ``Hooks/defaultErrorHandler``.
    ///
    /// - Parameters:
    ///   - object: The object for the closures, such as a view controller or a view model.
    ///   - onSuccess: Gets the object and the value.
    ///   - onFailure: Gets the object and the error. Without it, the error goes to ``Hooks/defaultErrorHandler``.
    ///   - onDisposed: Called once, after the event or `dispose()`, at the source's teardown, if the object still exists.
    public func subscribe<Object: AnyObject & Sendable>(
        with object: Object, onSuccess: (@MainActor (Object, Element) -> Void)? = nil,
        onFailure: (@MainActor (Object, any Error) -> Void)? = nil, onDisposed: (@MainActor (Object) -> Void)? = nil
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

    private func makeSubscription(
        _ observer: @escaping @MainActor (SingleEvent<Element>) -> Void, onDisposed: (@MainActor () -> Void)?
    ) -> any Disposable {
        let onDisposed = onDisposed.map { onDisposed -> @Sendable () -> Void in
            {
                guard !MainScheduler.isOnMainQueue else { return MainActor.assumeIsolated(onDisposed) }
                DispatchQueue.main.async { MainActor.assumeIsolated(onDisposed) }
            }
        }
        return single.makeSubscription(onDisposed: onDisposed) { subscription, event in
            if subscription.finish() { MainActor.assumeIsolated { observer(event) } }
            return .none
        }
    }
}
