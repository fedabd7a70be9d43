// Names that code written for RxSwift has. Each does what it does there, by what MiniRx has already.

public import Dispatch

/// RxSwift's name for ``Scheduler``.
public typealias SchedulerType = Scheduler

/// RxSwift's name for a time interval.
public typealias RxTimeInterval = DispatchTimeInterval

/// RxSwift's name for ``Single``, so that `extension PrimitiveSequence where Trait == SingleTrait` compiles.
public typealias PrimitiveSequence<Trait, Element: Sendable> = Single<Element>

/// The trait of every ``Single``. There is no other.
public enum SingleTrait: Sendable {}

/// What ``Single`` conforms to, for extensions that are written for this protocol.
public protocol PrimitiveSequenceType<Trait, Element>: Sendable {
    /// Always ``SingleTrait``.
    associatedtype Trait
    /// The type of the value.
    associatedtype Element: Sendable

    /// The single itself.
    var primitiveSequence: Single<Element> { get }
}

extension Single: PrimitiveSequenceType {
    /// The trait of every single.
    public typealias Trait = SingleTrait

    /// The single itself.
    public var primitiveSequence: Single { self }
}

extension Single {
    /// Goes on with `other` on `scheduler`, and disposes the source, when no event has come within `dueTime` of the subscription.
    public func timeout(_ dueTime: DispatchTimeInterval, other: Single, scheduler: any Scheduler) -> Single {
        timeout(dueTime, scheduler, error: TimedOut()).catch { error in
            guard error is TimedOut else { throw error }
            return other
        }
    }

    /// Subscribes to the source `dueTime` later, on `scheduler`.
    public func delaySubscription(_ dueTime: DispatchTimeInterval, scheduler: any Scheduler) -> Single {
        Single<Void>.timer(dueTime, scheduler).flatMap { self }
    }

    /// Prints when the source is subscribed to, its event, and when it is disposed.
    ///
    /// - Parameters:
    ///   - identifier: What each line begins with. Without it, the place of the call.
    ///   - trimOutput: Whether a long event is cut to 40 characters.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - function: The function that calls.
    public func debug(
        _ identifier: String? = nil, trimOutput: Bool = false, file: String = #fileID, line: UInt = #line, function: String = #function
    ) -> Single {
        let name = identifier ?? "\(file):\(line) (\(function))"
        let log: @Sendable (String, Any) -> Void = { kind, content in
            let text = "\(content)"
            let shown = trimOutput && text.count > 40 ? "\(text.prefix(20))...\(text.suffix(20))" : text
            print("\(name) -> Event \(kind)(\(shown))")
        }
        return self.do(
            onSuccess: { log("success", $0) }, onError: { log("failure", $0) }, onSubscribe: { print("\(name) -> subscribed") },
            onDispose: { print("\(name) -> isDisposed") })
    }

    /// Makes a resource at each subscription, and the single that uses it. The resource is disposed when that single has ended or is disposed.
    ///
    /// - Parameters:
    ///   - resourceFactory: Makes the resource. If it throws, the single fails with that error.
    ///   - primitiveSequenceFactory: Makes the single. If it throws, the resource is disposed, and the single fails with that error.
    @preconcurrency
    public static func using<Resource: Disposable>(
        _ resourceFactory: @escaping @Sendable () throws -> Resource,
        primitiveSequenceFactory: @escaping @Sendable (Resource) throws -> Single
    ) -> Single {
        deferred {
            let resource = try resourceFactory()
            return Single.deferred { try primitiveSequenceFactory(resource) }.do(onDispose: { resource.dispose() })
        }
    }
}

extension Single where Element: FixedWidthInteger {
    /// A single that succeeds with 0 on `scheduler`, `dueTime` after the subscription.
    public static func timer(_ dueTime: DispatchTimeInterval, scheduler: any Scheduler) -> Single {
        Single<Void>.timer(dueTime, scheduler).map { 0 }
    }
}

/// Nobody sees it: the `timeout` that throws it catches it.
private struct TimedOut: Error {}

extension MainScheduler {
    /// Runs work on the main queue, always in a turn of its own.
    public static let asyncInstance = SerialDispatchQueueScheduler(queue: .main)
}

/// Holds disposables, and disposes them together. What is inserted after that is disposed at once.
public final class CompositeDisposable: Cancelable {
    /// The place of one disposable.
    public struct DisposeKey: Sendable {
        fileprivate let number: Int
    }

    private struct State {
        var held: [Int: any Disposable] = [:]
        var count = 0
        var isDisposed = false
    }

    private let state = Locked(State())

    /// Creates one that holds `disposables`.
    public init(_ disposables: any Disposable...) { disposables.forEach { _ = insert($0) } }

    /// Creates one that holds `disposables`.
    public init(disposables: [any Disposable]) { disposables.forEach { _ = insert($0) } }

    /// How many it holds.
    public var count: Int { state.withLock(\.held.count) }

    /// Whether it has been disposed.
    public var isDisposed: Bool { state.withLock(\.isDisposed) }

    /// Holds `disposable`, and returns its key; `nil` if this has been disposed, and then `disposable` is, too.
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

    /// Disposes the one with this key, and holds it no longer.
    public func remove(for key: DisposeKey) {
        let removed = state.withLock { $0.held.removeValue(forKey: key.number) }
        removed?.dispose()
    }

    /// Disposes all that it holds, in the order in which they came.
    public func dispose() {
        let held = state.withLock { state in
            state.isDisposed = true
            defer { state.held = [:] }
            return state.held
        }
        for (_, disposable) in held.sorted(by: { $0.key < $1.key }) { disposable.dispose() }
    }
}

/// Holds one disposable, which is set once.
public final class SingleAssignmentDisposable: Cancelable {
    private let isSet = Locked(false)
    private let held = SerialDisposable()

    /// Creates one that holds nothing yet.
    public init() {}

    /// Whether it has been disposed.
    public var isDisposed: Bool { held.isDisposed }

    /// Holds `disposable`; disposes it at once if this has been disposed.
    ///
    /// - Precondition: It is called once.
    public func setDisposable(_ disposable: any Disposable) {
        let wasSet = isSet.withLock { isSet in
            defer { isSet = true }
            return isSet
        }
        // A programmer's error, as in RxSwift: the first disposable would be lost.
        precondition(!wasSet, "A SingleAssignmentDisposable holds one disposable. Use a SerialDisposable to replace it.")
        held.disposable = disposable
    }

    /// Disposes what it holds, or will hold.
    public func dispose() { held.dispose() }
}

/// A disposable that does nothing but know that it has been disposed.
public final class BooleanDisposable: Cancelable {
    private let state: Locked<Bool>

    /// Creates one that has not been disposed, or has.
    public init(isDisposed: Bool = false) { state = Locked(isDisposed) }

    /// Whether it has been disposed.
    public var isDisposed: Bool { state.withLock { $0 } }

    /// Notes that it has been disposed.
    public func dispose() { state.withLock { $0 = true } }
}

extension DisposeBag {
    /// Collects the disposables that a closure names, one a line.
    @resultBuilder
    public enum DisposableBuilder {
        /// All of them.
        public static func buildBlock(_ disposables: any Disposable...) -> [any Disposable] { disposables }
    }

    /// Creates a bag that holds `disposables`.
    public convenience init(disposing disposables: any Disposable...) {
        self.init()
        insert(disposables)
    }

    /// Creates a bag that holds what `builder` names, one disposable a line.
    public convenience init(@DisposableBuilder builder: () -> [any Disposable]) {
        self.init()
        insert(builder())
    }

    /// Holds what `builder` names, one disposable a line.
    public func insert(@DisposableBuilder builder: () -> [any Disposable]) { insert(builder()) }
}

extension Single {
    /// RxSwift's old name.
    @available(*, deprecated, renamed: "observe(on:)")
    public func observeOn(_ scheduler: any Scheduler) -> Single { observe(on: scheduler) }

    /// RxSwift's old name.
    @available(*, deprecated, renamed: "subscribe(on:)")
    public func subscribeOn(_ scheduler: any Scheduler) -> Single { subscribe(on: scheduler) }

    /// RxSwift's old name.
    @available(*, deprecated, renamed: "catch(_:)") @preconcurrency
    public func catchError(_ handler: @escaping @Sendable (any Error) throws -> Single) -> Single { self.catch(handler) }

    /// RxSwift's old name.
    @available(*, deprecated, renamed: "catchAndReturn(_:)")
    public func catchErrorJustReturn(_ element: Element) -> Single { catchAndReturn(element) }

    /// RxSwift's old name.
    @available(*, deprecated, renamed: "subscribe(onSuccess:onFailure:)") @preconcurrency
    public func subscribe(
        onSuccess: (@Sendable (Element) -> Void)? = nil, onError: @escaping @Sendable (any Error) -> Void
    ) -> any Disposable { subscribe(onSuccess: onSuccess, onFailure: onError) }
}
