import Dispatch
import MiniRx

typealias SchedulerType = Scheduler
typealias RxTimeInterval = DispatchTimeInterval

// For `extension PrimitiveSequence where Trait == SingleTrait`.
typealias PrimitiveSequence<Trait, Element: Sendable> = Single<Element>
enum SingleTrait {}

extension Single {
    typealias Trait = SingleTrait

    func timeout(
        _ time: RxTimeInterval, other: Single, scheduler: any Scheduler
    ) -> Single {
        // The source's errors travel as values, so the only failure is the timeout.
        map { Single.just($0) }.catch { .just(.error($0)) }
            .timeout(time, scheduler: scheduler)
            .catchAndReturn(other)
            .flatMap { $0 }
    }

    func delaySubscription(
        _ time: RxTimeInterval, scheduler: any Scheduler
    ) -> Single {
        Single<Void>.just(()).delay(time, scheduler: scheduler).flatMap { self }
    }

    func debug(_ identifier: String = #fileID) -> Single {
        self.do(
            onSuccess: { print("\(identifier) -> Event success(\($0))") },
            onError: { print("\(identifier) -> Event failure(\($0))") },
            onSubscribe: { print("\(identifier) -> subscribed") },
            onDispose: { print("\(identifier) -> isDisposed") })
    }
}

extension Single where Element: FixedWidthInteger {
    static func timer(_ time: RxTimeInterval, scheduler: any Scheduler) -> Single {
        just(0).delay(time, scheduler: scheduler)
    }
}

extension MainScheduler {
    static let asyncInstance = SerialDispatchQueueScheduler(queue: .main)
}

// A second disposable replaces the first. RxSwift ends the process there.
typealias SingleAssignmentDisposable = SerialDisposable

extension SerialDisposable {
    func setDisposable(_ new: any Disposable) { disposable = new }
}

extension Disposables {
    static func create(_ disposables: any Disposable...) -> any Disposable {
        create(with: { disposables.forEach { $0.dispose() } })
    }
}

extension DisposeBag {
    func insert(_ disposables: any Disposable...) { insert(disposables) }
    func insert(_ disposables: [any Disposable]) { disposables.forEach(insert) }
}

// The names before RxSwift 6, with a fix-it.
extension Single {
    @available(*, deprecated, renamed: "observe(on:)")
    func observeOn(_ scheduler: any Scheduler) -> Single { observe(on: scheduler) }

    @available(*, deprecated, renamed: "subscribe(on:)")
    func subscribeOn(_ scheduler: any Scheduler) -> Single {
        subscribe(on: scheduler)
    }

    @available(*, deprecated, renamed: "catchAndReturn(_:)")
    func catchErrorJustReturn(_ value: Element) -> Single { catchAndReturn(value) }

    @available(*, deprecated, renamed: "catch(_:)") @preconcurrency
    func catchError(
        _ handler: @escaping @Sendable (any Error) throws -> Single
    ) -> Single {
        self.catch(handler)
    }

    @available(*, deprecated, renamed: "subscribe(onSuccess:onFailure:onDisposed:)")
    @preconcurrency
    func subscribe(
        onSuccess: (@Sendable (Element) -> Void)? = nil,
        onError: @escaping @Sendable (any Error) -> Void,
        onDisposed: (@Sendable () -> Void)? = nil
    ) -> any Disposable {
        subscribe(onSuccess: onSuccess, onFailure: onError, onDisposed: onDisposed)
    }
}
