import MiniRx

/// Stands in for RxSwift 6, with the signatures that it documents, so that the package needs no dependency.
private enum RxSwift {
    enum SingleTrait {}
    typealias Single<Element> = PrimitiveSequence<SingleTrait, Element>
    typealias Observer<Element> = (Result<Element, any Error>) -> Void

    struct PrimitiveSequence<Trait, Element> {
        /// Not Sendable, as it is there.
        var isStarted: () -> Bool = { false }

        static func create(subscribe: @escaping (@escaping Observer<Element>) -> any Disposable) -> Single<Element>
        where Trait == SingleTrait { Single() }

        func subscribe(_ observer: @escaping Observer<Element>) -> any Disposable { Disposables() }
    }

    protocol Disposable {
        func dispose()
    }

    struct Disposables: Disposable {
        static func create(with dispose: @escaping () -> Void) -> any Disposable { Disposables() }
        func dispose() {}
    }
}

extension MiniRx.Single {
    /// The same single for RxSwift.
    fileprivate func asRxSwift() -> RxSwift.Single<Element> {
        .create { observer in
            // RxSwift does not say that its observers are Sendable. They may be called from any thread.
            nonisolated(unsafe) let observer = observer
            let subscription = subscribe { observer($0) }
            return RxSwift.Disposables.create { subscription.dispose() }
        }
    }
}

extension RxSwift.PrimitiveSequence where Trait == RxSwift.SingleTrait, Element: Sendable {
    /// The same single for MiniRx.
    fileprivate func asMiniRx() -> MiniRx.Single<Element> {
        nonisolated(unsafe) let source = self
        return .create { observer in
            nonisolated(unsafe) let subscription = source.subscribe { observer($0) }
            return MiniRx.Disposables.create { subscription.dispose() }
        }
    }
}
