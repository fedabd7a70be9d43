/// Holds one disposable, and disposes it when it gets another. After its own end, it disposes each new one at once.
public final class SerialDisposable: Cancelable {
    private struct State {
        var isDisposed = false
        var disposable: (any Disposable)?
    }

    private let state = Locked(State())

    /// Creates an empty one.
    public init() {}

    /// The disposable that it holds. Setting it disposes the one before. If it holds none, this is a disposable that does nothing.
    public var disposable: any Disposable {
        get { state.withLock(\.disposable) ?? Disposables.create() }
        set {
            let unwanted: (any Disposable)? = state.withLock { state in
                guard !state.isDisposed else { return newValue }
                defer { state.disposable = newValue }
                return state.disposable
            }
            unwanted?.dispose()
        }
    }

    /// Whether it was disposed.
    public var isDisposed: Bool { state.withLock(\.isDisposed) }

    /// Disposes the disposable that it holds, and all that it gets later.
    public func dispose() {
        let held = state.withLock { state in
            state.isDisposed = true
            return state.disposable.take()
        }
        held?.dispose()
    }
}
