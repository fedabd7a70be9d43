// Names for code that was written for RxSwift. Each works as it does there, and is made from other parts of MiniRx. To import this module
// is enough: it brings MiniRx along.

public import Dispatch
@_exported public import MiniRx

/// RxSwift's name for `Scheduler`.
public typealias SchedulerType = Scheduler

/// RxSwift's name for a time interval.
public typealias RxTimeInterval = DispatchTimeInterval

/// RxSwift's name for `Single`, so that `extension PrimitiveSequence where Trait == SingleTrait` compiles.
public typealias PrimitiveSequence<Trait, Element: Sendable> = Single<Element>

/// The trait of every `Single`. There are no other traits.
public enum SingleTrait: Sendable {}

/// A protocol that `Single` conforms to, for your extensions of this protocol.
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
    /// Continues with `other` on `scheduler` if no event arrives within `dueTime` of the subscription, and disposes the source.
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

    /// Prints the subscription to the source, its event, and its disposal.
    ///
    /// - Parameters:
    ///   - identifier: The start of each line. By default, it is the place of the call.
    ///   - trimOutput: Whether a long event is cut to 40 characters.
    ///   - file: The file of the call.
    ///   - line: The line of the call.
    ///   - function: The function of the call.
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

    /// Creates a resource at each subscription, and a single that uses it. The resource is disposed when that single ends or is disposed.
    ///
    /// - Parameters:
    ///   - resourceFactory: Creates the resource. If it throws, the single fails with that error.
    ///   - primitiveSequenceFactory: Creates the single. If it throws, the resource is disposed, and the single fails with that error.
    @preconcurrency
    public static func using<Resource: Disposable>(
        _ resourceFactory: @escaping @Sendable () throws -> Resource,
        primitiveSequenceFactory: @escaping @Sendable (Resource) throws -> Single
    ) -> Single {
        deferred {
            let held = Locked<Resource?>(nil)
            // The resource is made within `do`, which releases it although the subscription ends meanwhile.
            return Single.deferred {
                let resource = try resourceFactory()
                held.withLock { $0 = resource }
                return .deferred { try primitiveSequenceFactory(resource) }
            }
            .do(onDispose: { held.withLock { $0.take() }?.dispose() })
        }
    }
}

extension Single where Element: FixedWidthInteger {
    /// Creates a single that succeeds with 0 on `scheduler`, `dueTime` after the subscription.
    public static func timer(_ dueTime: DispatchTimeInterval, scheduler: any Scheduler) -> Single {
        Single<Void>.timer(dueTime, scheduler).map { 0 }
    }
}

/// An error inside `timeout`, which throws and catches it.
private struct TimedOut: Error {}

extension MainScheduler {
    /// A scheduler that runs each action on the main queue in its own turn, never at once.
    public static let asyncInstance = SerialDispatchQueueScheduler(queue: .main)
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
    @available(*, deprecated, renamed: "subscribe(onSuccess:onFailure:onDisposed:)") @preconcurrency
    public func subscribe(
        onSuccess: (@Sendable (Element) -> Void)? = nil, onError: @escaping @Sendable (any Error) -> Void,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable { subscribe(onSuccess: onSuccess, onFailure: onError, onDisposed: onDisposed) }
}

extension Hooks {
    /// The handler in RxSwift's form. Its call stack is always empty. With MiniRx alone, the handler gets only the error.
    public static var defaultErrorHandler: @Sendable (_ callStack: [String], _ error: any Error) -> Void {
        get {
            let handler = errorHandler
            return { _, error in handler(error) }
        }
        set { errorHandler = { newValue([], $0) } }
    }
}
