@_spi(Transports) public import APIProvider
import Foundation
public import MiniRx

/// Answers requests from the same stubs as ``MockURLProtocol``, without a `URLSession` and in a fraction of the time.
///
/// ```swift
/// MockURLProtocol.stub(UserRequest(), respond: .fixture(Fixture.user))
/// let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())
/// ```
///
/// Chunks and errors behave as with `URLSessionTransport`. An answer without a delay comes at once, on the subscriber's thread, before
/// `subscribe` returns. Answers with a delay, and timeouts, come on the scheduler. With a `TestScheduler`, they come in virtual time.
///
/// <doc:TestingWithoutWaiting> shows a test without it, and with it.
public struct MockTransport: Transport {
    private let exchanges: ExchangeTransport

    /// Creates a transport whose requests the current scope answers.
    ///
    /// - Parameter scheduler: Delivers answers with a delay, and timeouts. By default, a background queue. With a scheduler that runs
    ///   actions at once, delays take no time, and nothing times out.
    public init(scheduler: (any Scheduler)? = nil) {
        let (mock, scheduler) = (MockURLProtocol.scopeClass, scheduler ?? MockURLProtocol.delayScheduler)
        var settings = ExchangeTransport.Settings()
        settings.maxRequestsPerHost = nil
        exchanges = ExchangeTransport(settings, usesEphemeralCookies: true, scheduler: scheduler, executor: .immediate) { exchange in
            let timer = SerialDisposable()
            let answer = mock.receive(exchange.request).answer()
            exchange.didSendBody()
            answer.play(to: exchange, scheduler, timer)
            return Disposables.create {
                timer.dispose()
                answer.endFeed()
            }
        }
    }

    /// Answers `request`. Disposing ends a delay.
    ///
    /// Progress is reported for each 64 KB of the body that is sent and for each chunk that arrives, on the thread of the answer. Cookies
    /// of the stubs are kept and sent for the life of the transport.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> {
        .deferred {
            // It may stand for a transport with schemes such as http+unix.
            if request.url.scheme?.contains("+") != true { try request.checkScheme() }
            return exchanges.send(request)
        }
    }
}

extension MockTransport {
    /// The cookies of stubs that `request` would be sent with now.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? { exchanges.addedHeaders(for: request) }
}

// MARK: - Playing an answer

extension Playback {
    /// Delivers the answer up to the next wait, and goes on after it.
    fileprivate func play(to exchange: Exchange, _ scheduler: any Scheduler, _ timer: SerialDisposable) {
        func play(_ answer: Playback, after seconds: TimeInterval) {
            // The action may run before `schedule` returns, and set the next timer. This one must not replace that one.
            let next = SerialDisposable()
            timer.disposable = next
            next.disposable = scheduler.schedule(after: DispatchTimeInterval(seconds: seconds)) {
                answer.play(to: exchange, scheduler, timer)
            }
        }
        if let deferredAnswer {
            // The answer may come before this is known here, and then its timer takes this one's place.
            let making = SerialDisposable()
            timer.disposable = making
            making.disposable = deferredAnswer { $0.play(to: exchange, scheduler, timer) }
            return
        }
        func complete(with error: (any Error)? = nil) {
            endFeed()
            exchange.complete(with: error)
        }
        guard delay <= 0 else { return play(droppingDelay(), after: delay) }
        if let head, !exchange.receive(head) { return complete() }
        for (index, step) in zip(steps.indices, steps) {
            switch step {
            case .wait(let interval): if interval.seconds > 0 { return play(suffix(after: index), after: interval.seconds) }
            case .data(let chunk): guard exchange.receive(chunk) else { return complete() }
            case .failure(let error): return complete(with: error)
            }
        }
        guard let feed else { return exchange.complete() }
        feed.play(to: exchange)
    }
}

extension StreamFeed {
    /// Delivers what was sent, and goes on when there is more.
    fileprivate func play(to exchange: Exchange) {
        while let part = next() {
            switch part {
            case .data(let data):
                guard exchange.receive(data) else {
                    requestDidEnd()
                    return exchange.complete()
                }
                exchange.whenDrained { self.didRead(data.count) }
            case .end(let error): return exchange.complete(with: error)
            }
        }
        onNextPart { self.play(to: exchange) }
    }
}
