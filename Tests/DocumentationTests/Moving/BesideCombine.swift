import MiniRx

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

extension Single {
    /// Subscribes once for each subscriber. Cancelling disposes the subscription.
    fileprivate var publisher: AnyPublisher<Element, any Error> {
        Deferred {
            let subscription = SerialDisposable()
            return Future<Element, any Error> { promise in
                let promise = Promise(fulfill: promise)
                subscription.disposable = subscribe { promise.fulfill($0) }
            }
            .handleEvents(receiveCancel: { subscription.dispose() })
        }
        .eraseToAnyPublisher()
    }
}

/// A promise may be fulfilled on any thread, though it is not Sendable.
private struct Promise<Value>: @unchecked Sendable {
    let fulfill: (Result<Value, any Error>) -> Void
}

extension AnyPublisher where Output: Sendable {
    /// Fails with `NoValue` if the publisher finishes without a value.
    fileprivate func firstValue() -> Single<Output> {
        // Combine does not say that its types are Sendable.
        nonisolated(unsafe) let publisher = self
        return .create {
            for try await value in publisher.values { return value }
            throw NoValue()
        }
    }
}

private struct NoValue: Error {}
