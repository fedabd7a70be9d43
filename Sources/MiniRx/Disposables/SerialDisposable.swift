/// Holds one disposable; a new one disposes the old. What it is given after its own end is disposed at once.
public final class SerialDisposable: Cancelable {
    private struct State {
        var isDisposed = false
        var disposable: (any Disposable)?
    }

    private let state = Locked(State())

    /// Creates one that holds nothing yet.
    public init() {}

    /// What it holds now; setting it disposes what it held before. Reading it when it holds nothing gives a disposable that does nothing.
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

    /// Whether it has been disposed.
    public var isDisposed: Bool { state.withLock(\.isDisposed) }

    /// Disposes what it holds, and from now on whatever it is given.
    public func dispose() {
        let held = state.withLock { state in
            state.isDisposed = true
            return state.disposable.take()
        }
        held?.dispose()
    }
}
