#if canImport(Combine)
import Combine
#else
// Stands in for Combine, with the signatures that Apple documents.

private protocol Publisher<Output, Failure> {
    associatedtype Output
    associatedtype Failure: Error
}

extension Publisher {
    fileprivate func handleEvents(receiveCancel: (() -> Void)?) -> some Publisher<Output, Failure> { self }
    fileprivate func eraseToAnyPublisher() -> AnyPublisher<Output, Failure> { AnyPublisher() }
}

private struct AnyPublisher<Output, Failure: Error>: Publisher {
    /// Not Sendable, as it is there.
    var isStarted: () -> Bool = { false }
    var values: AsyncThrowingStream<Output, any Error> { AsyncThrowingStream { $0.finish() } }
}

private struct Deferred<Base: Publisher>: Publisher {
    typealias Output = Base.Output
    typealias Failure = Base.Failure
    init(createPublisher: @escaping () -> Base) {}
}

private struct Future<Output, Failure: Error>: Publisher {
    init(_ attemptToFulfill: @escaping (@escaping (Result<Output, Failure>) -> Void) -> Void) {}
}
#endif

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
