// Disposables for code that was written for RxSwift.

public import MiniRx

/// Holds disposables and disposes them together. After that, it disposes each new one at once.
public final class CompositeDisposable: Cancelable {
    /// The key of one disposable.
    public struct DisposeKey: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var held: [Int: any Disposable] = [:]
        var count = 0
        var isDisposed = false
    }

    private let state = Locked(State())

    /// Creates a composite of `disposables`.
    public init(_ disposables: any Disposable...) { disposables.forEach { _ = insert($0) } }

    /// Creates a composite of `disposables`.
    public init(disposables: [any Disposable]) { disposables.forEach { _ = insert($0) } }

    /// The number of disposables that it holds.
    public var count: Int { state.withLock(\.held.count) }

    /// Whether it was disposed.
    public var isDisposed: Bool { state.withLock(\.isDisposed) }

    /// Adds `disposable` and returns its key. If this was disposed, it disposes `disposable` and returns `nil`.
    @discardableResult
    public func insert(_ disposable: any Disposable) -> DisposeKey? {
        let key = state.withLock { state -> DisposeKey? in
            guard !state.isDisposed else { return nil }
            state.count += 1
            state.held[state.count] = disposable
            return DisposeKey(number: state.count)
        }
        if key == nil { disposable.dispose() }
        return key
    }

    /// Disposes the disposable with this key, and removes it.
    public func remove(for key: DisposeKey) {
        let removed = state.withLock { $0.held.removeValue(forKey: key.number) }
        removed?.dispose()
    }

    /// Disposes all disposables, in the order in which they were added.
    public func dispose() {
        let held = state.withLock { state in
            state.isDisposed = true
            defer { state.held = [:] }
            return state.held
        }
        for key in held.keys.sorted() { held[key]?.dispose() }
    }
}

/// Holds one disposable, which is set once.
public final class SingleAssignmentDisposable: Cancelable {
    private let isSet = Locked(false)
    private let held = SerialDisposable()

    /// Creates an empty one.
    public init() {}

    /// Whether it was disposed.
    public var isDisposed: Bool { held.isDisposed }

    /// Sets the disposable. If this was disposed, it disposes `disposable` at once.
    ///
    /// - Precondition: You call it only once.
    public func setDisposable(_ disposable: any Disposable) {
        let wasSet = isSet.withLock { isSet in
            defer { isSet = true }
            return isSet
        }
        // A mistake in the program, as in RxSwift: the first disposable would be lost.
        precondition(!wasSet, "A SingleAssignmentDisposable holds one disposable. Use a SerialDisposable to replace it.")
        held.disposable = disposable
    }

    /// Disposes the disposable, even if it is set later.
    public func dispose() { held.dispose() }
}

/// A disposable that only remembers whether it was disposed.
public final class BooleanDisposable: Cancelable {
    private let state: Locked<Bool>

    /// Creates one, which is not disposed by default.
    public init(isDisposed: Bool = false) { state = Locked(isDisposed) }

    /// Whether it was disposed.
    public var isDisposed: Bool { state.withLock { $0 } }

    /// Remembers that it was disposed.
    public func dispose() { state.withLock { $0 = true } }
}

extension Disposables {
    /// Creates a disposable that disposes all of `disposables` in order.
    public static func create(_ disposables: any Disposable...) -> any Cancelable { create(disposables) }

    /// Creates a disposable that disposes all of `disposables` in order.
    public static func create(_ disposables: [any Disposable]) -> any Cancelable { CompositeDisposable(disposables: disposables) }
}

extension DisposeBag {
    /// Adds each of `disposables`.
    public func insert(_ disposables: any Disposable...) { insert(disposables) }

    /// Adds each of `disposables`.
    public func insert(_ disposables: [any Disposable]) { disposables.forEach { insert($0) } }

    /// Collects the disposables in a closure, one on each line.
    @resultBuilder
    public enum DisposableBuilder {
        /// Returns all of them.
        public static func buildBlock(_ disposables: any Disposable...) -> [any Disposable] { disposables }
    }

    /// Creates a bag with `disposables`.
    public convenience init(disposing disposables: any Disposable...) {
        self.init()
        insert(disposables)
    }

    /// Creates a bag with the disposables of `builder`, one on each line.
    public convenience init(@DisposableBuilder builder: () -> [any Disposable]) {
        self.init()
        insert(builder())
    }

    /// Adds the disposables of `builder`, one on each line.
    public func insert(@DisposableBuilder builder: () -> [any Disposable]) { insert(builder()) }
}
