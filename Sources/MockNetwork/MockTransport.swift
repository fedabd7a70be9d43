public import APIProvider
public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Answers requests from the same stubs as ``MockURLProtocol``, without a `URLSession` and in a fraction of the time.
///
/// ```swift
/// MockURLProtocol.stub(UserRequest(), respond: .fixture(Fixture.user))
/// let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())
/// ```
///
/// Redirects, chunks and errors behave as with `URLSessionTransport`. An answer without a delay comes at once, on the subscriber's thread,
/// before `subscribe` returns. Answers with a delay, and timeouts, come on the scheduler. With a `TestScheduler`, they come in virtual
/// time:
///
/// ```swift
/// let scheduler = TestScheduler()
/// let provider = DefaultAPIProvider(
///     baseURL: api, transport: MockTransport(scheduler: scheduler))
/// provider.request(UserRequest()).subscribe { log.append($0) }.disposed(by: bag)
/// scheduler.advance(by: .seconds(60))
/// ```
public struct MockTransport: Transport {
    /// The class of the scope, which also tells when the scope has ended.
    private let mock: MockURLProtocol.Type
    private let scheduler: any Scheduler

    /// Creates a transport that the current scope answers.
    ///
    /// - Parameter scheduler: Delivers answers with a delay, and timeouts. By default, a background queue.
    public init(scheduler: (any Scheduler)? = nil) {
        mock = MockURLProtocol.current
        self.scheduler = scheduler ?? MockURLProtocol.delays
    }

    /// Answers `request` and follows redirects. Disposing ends a delay.
    ///
    /// - Parameters:
    ///   - request: The request to record and answer.
    ///   - progress: Called once for the body that is sent and once for each chunk that arrives, on the thread of the answer.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        .following(request) { request in
            do {
                try request.check()
                return exchange(try request.withBodyInMemory(), progress)
            } catch {
                return .error(error)
            }
        }
    }

    /// Answers `request` and follows redirects. The single succeeds with the head of an accepted response, on a background queue. What follows
    /// comes with its delays on the scheduler.
    ///
    /// - Parameters:
    ///   - request: The request to record and answer.
    ///   - progress: Called for each chunk that arrives, on the thread of the answer.
    public func stream(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        exchanges { [mock] in mock.receive(try $0.withBodyInMemory()).answer() }.stream(request, progress: progress)
    }

    /// A transport that plays an answer step by step.
    private func exchanges(answer: @escaping @Sendable (URLRequest) throws -> Answer) -> ExchangeTransport {
        var settings = ExchangeTransport.Settings()
        settings.connectionsPerHost = nil
        return ExchangeTransport(settings, scheduler: scheduler) { [scheduler] exchange in
            let rest = SerialDisposable()
            do { try answer(exchange.request).steps[...].play(to: exchange, scheduler, rest) } catch { exchange.complete(with: error) }
            return rest
        }
    }

    private func exchange(_ request: URLRequest, _ progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        .create { [mock, scheduler] observer in
            let ending = SerialDisposable()
            let answer = mock.receive(request).answer()
            if answer.feed != nil {
                ending.disposable = exchanges { _ in answer }.send(request, progress: progress).subscribe(observer)
                return ending
            }
            let end: @Sendable () -> Void = {
                if let progress { answer.report(request) { if !ending.isDisposed { progress($0) } } }
                observer(answer.result(of: request))
            }
            if answer.duration > 0 {
                ending.disposable = scheduler.schedule(after: .wholeMilliseconds(answer.duration), end)
            } else {
                end()
            }
            return ending
        }
    }
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

extension Answer {
    fileprivate func report(_ request: URLRequest, to progress: (TransferProgress) -> Void) {
        var transferred = TransferProgress()
        let count = request.bodyLength
        if count > 0 {
            (transferred.bytesSent, transferred.bytesToSend) = (count, count)
            progress(transferred)
        }
        var length: Int64?
        for step in steps {
            if case .head(let head) = step { length = head.bodyLength }
            guard case .chunk(let chunk) = step else { continue }
            transferred.bytesReceived += Int64(chunk.count)
            transferred.bytesToReceive = length.flatMap { $0 < transferred.bytesReceived ? nil : $0 }
            progress(transferred)
        }
    }
}
