#if canImport(Combine)
import Combine
#else
// Stands in for Combine, with the signatures that Apple documents.

nonisolated private protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
}

nonisolated extension Publisher {
    fileprivate func handleEvents(receiveCancel: (() -> Void)?) -> some Publisher<Output, Failure> { self }
    fileprivate func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher() }
}

nonisolated private struct AnyPublisher<Output, Failure: Error>: Publisher {
    var values: AsyncThrowingStream<Output, any Error> { AsyncThrowingStream { $0.finish() } }
}

nonisolated private struct Deferred<Base: Publisher>: Publisher {
    typealias Output = Base.Output
    typealias Failure = Base.Failure
    init(createPublisher: @escaping () -> Base) {}
}

nonisolated private struct Future<Output, Failure: Error>: Publisher {
    init(_ attemptToFulfill: @escaping (@escaping (Result<Output, Failure>) -> Void) -> Void) {}
}

// As there.
@available(*, unavailable) extension AnyPublisher: Sendable {}
#endif

/// Stands in for RxSwift 6, with the signatures that it documents, so that the package needs no dependency.
nonisolated private enum RxSwift {
    enum SingleTrait {}
    typealias Single<Element> = PrimitiveSequence<SingleTrait, Element>
    typealias Observer<Element> = (Result<Element, any Error>) -> Void

    struct PrimitiveSequence<Trait, Element> {
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

// As there.
@available(*, unavailable) extension RxSwift.PrimitiveSequence: Sendable {}
