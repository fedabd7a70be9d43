/// Something that can be ended: a subscription, or the work behind it.
public protocol Disposable: Sendable {
    /// Ends it. Safe from any thread; only the first call has an effect.
    func dispose()
}

/// A disposable that knows whether it has ended.
public protocol Cancelable: Disposable {
    /// Whether it has been disposed, or has ended by itself.
    var isDisposed: Bool { get }
}
