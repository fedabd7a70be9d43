public import APIProvider
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
/// `subscribe` returns. Answers with a delay, and timeouts, come on the scheduler. With a `TestScheduler`, they come in virtual time:
///
/// ```swift
/// let scheduler = TestScheduler()
/// let provider = DefaultAPIProvider(
///     baseURL: api, transport: MockTransport(scheduler: scheduler))
/// provider.request(UserRequest()).subscribe { log.append($0) }.disposed(by: bag)
/// scheduler.advance(by: .seconds(60))
/// ```
public struct MockTransport: Transport {
    private let exchanges: ExchangeTransport

    /// Creates a transport that the current scope answers.
    ///
    /// - Parameter scheduler: Delivers answers with a delay, and timeouts. By default, a background queue.
    public init(scheduler: (any Scheduler)? = nil) {
        let (mock, scheduler) = (MockURLProtocol.current, scheduler ?? MockURLProtocol.delays)
        var settings = ExchangeTransport.Settings()
        settings.maxRequestsPerHost = nil
        exchanges = ExchangeTransport(settings, scheduler: scheduler, executor: .immediate) { exchange in
            let rest = SerialDisposable()
            let answer = mock.receive(exchange.request).answer()
            if let count = exchange.request.body?.count, count > 0 { exchange.sent(Int64(count), of: Int64(count)) }
            answer.steps[...].play(to: exchange, scheduler, rest)
            return rest
        }
    }

    /// Answers `request`. Disposing ends a delay.
    ///
    /// Progress is reported once for the body that is sent and once for each chunk that arrives, on the thread of the answer.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> { exchanges.send(request) }
}

extension ArraySlice<Answer.Step> {
    /// Takes the steps up to the next wait, and goes on after it.
    fileprivate func play(to exchange: Exchange, _ scheduler: any Scheduler, _ rest: SerialDisposable) {
        for (index, step) in zip(indices, self) {
            switch step {
            case .wait(let seconds):
                guard seconds > 0 else { continue }
                let steps = self[(index + 1)...]
                // The action may run before its timer is known here, and then another takes the timer's place.
                let timer = SerialDisposable()
                rest.disposable = timer
                timer.disposable = scheduler.schedule(after: .wholeMilliseconds(seconds)) { steps.play(to: exchange, scheduler, rest) }
                return
            case .head(let head): guard exchange.receive(head) else { return exchange.complete() }
            case .chunk(let chunk): guard exchange.receive(chunk) else { return exchange.complete() }
            case .failure(let error): return exchange.complete(with: error)
            case .feed(let feed):
                rest.disposable = Disposables.create { feed.leave() }
                return feed.play(to: exchange)
            }
        }
        exchange.complete()
    }
}

extension StreamFeed {
    /// Passes on what is there, and goes on when there is more.
    fileprivate func play(to exchange: Exchange) {
        while let part = next() {
            switch part {
            case .data(let data):
                guard exchange.receive(data) else { return exchange.complete() }
                exchange.whenRead { self.read(data.count) }
            case .end(let error): return exchange.complete(with: error)
            }
        }
        whenMore { self.play(to: exchange) }
    }
}
