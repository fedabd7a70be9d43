/// Functions that create disposables.
public enum Disposables {
    /// Creates a disposable that does nothing.
    public static func create() -> any Disposable { NopDisposable() }

    /// Creates a disposable that runs and releases `action` at the first `dispose()`, on the thread of that call.
    @preconcurrency
    public static func create(with action: @escaping @Sendable () -> Void) -> any Disposable {
        ActionDisposable(action: Locked(Action(action)))
    }
}

private struct NopDisposable: Disposable {
    func dispose() {}
}

private struct ActionDisposable: Disposable {
    let action: Locked<Action?>

    func dispose() { action.withLock { $0.take() }?() }
}
