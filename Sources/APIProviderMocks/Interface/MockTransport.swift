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
/// <doc:TestingWithoutWaiting> shows a test without and with this transport.
public struct MockTransport: Transport {
    /// The clock for delays and timeouts.
    public let scheduler: any Scheduler
    private let exchanges: ExchangeTransport

    /// Creates a transport answered by the current scope.
    ///
    /// - Parameter scheduler: Delivers answers with a delay, and timeouts. By default, a background queue. With a scheduler that runs
    ///   actions at once, delays take no time, and silence never times out. An endpoint's `timeout(_:)` then fails at once.
    public init(scheduler: (any Scheduler)? = nil) {
        let (mock, scheduler) = (MockURLProtocol.protocolClass, scheduler ?? ProtocolPlayer.delayScheduler)
        self.scheduler = scheduler
        var settings = ExchangeTransport.Settings()
        settings.maxRequestsPerHost = nil
        exchanges = ExchangeTransport(settings, usesEphemeralCookies: true, scheduler: scheduler) { exchange in
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
    /// Reports progress for each 64 KB of the sent body and for each received chunk, on the answer's thread. The transport stores and sends
    /// the stubs' cookies until released.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> {
        .deferred {
            // The mock may stand for a transport with schemes such as http+unix.
            if request.url.scheme?.contains("+") != true { try request.checkScheme() }
            return exchanges.send(request)
        }
    }
}

extension MockTransport {
    /// The stubs' cookies for `request` now.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? { exchanges.addedHeaders(for: request) }
}
