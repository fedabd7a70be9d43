/// Makes disposables.
public enum Disposables {
    /// A disposable that does nothing.
    @inlinable
    public static func create() -> any Disposable { NopDisposable() }

    /// A disposable that runs `action` at the first `dispose()`, on the thread that calls it, and then lets go of it.
    @preconcurrency
    public static func create(with action: @escaping @Sendable () -> Void) -> any Cancelable {
        ActionDisposable(action: Locked(Action(action)))
    }

    /// A disposable that disposes all of `disposables`, in their order.
    public static func create(_ disposables: any Disposable...) -> any Cancelable { create(disposables) }

    /// A disposable that disposes all of `disposables`, in their order.
    public static func create(_ disposables: [any Disposable]) -> any Cancelable {
        create { disposables.forEach { $0.dispose() } }
    }
}

@usableFromInline
struct NopDisposable: Disposable {
    @inlinable
    init() {}

    @inlinable
    func dispose() {}
}

private struct ActionDisposable: Cancelable {
    let action: Locked<Action?>

    var isDisposed: Bool { action.withLock { $0 == nil } }

    func dispose() { action.withLock { $0.take() }?() }
}
