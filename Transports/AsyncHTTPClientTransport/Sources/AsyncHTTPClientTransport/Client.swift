@_spi(Transports) import APIProviderTransport
import AsyncHTTPClient
import Foundation
import MiniRx
import NIOConcurrencyHelpers
import NIOCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The client that sends a transport's requests. One of the transport's own is shut down when no transport and no request in flight holds
/// it any more.
final class Client: Sendable {
    /// What the client does for one exchange.
    private struct Running {
        var attempts = 0
        /// The task of the last attempt.
        var task: HTTPClient.Task<Void>?
        var isCancelled = false
    }

    /// Whether somebody else has made the client and shuts it down. Such a client may follow redirects, and may not decompress.
    let isLent: Bool
    let maxRequestsPerHost: Int
    let maxResponseSize: Int?
    private let client: HTTPClient
    /// The hosts to which there may be kept connections.
    private let answeredHosts = NIOLockedValueBox<Set<String>>([])

    init(lent client: HTTPClient, maxResponseSize: Int?) {
        (self.client, self.maxResponseSize, isLent) = (client, maxResponseSize, true)
        maxRequestsPerHost = HTTPClient.Configuration().connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit
    }

    init(_ configuration: HTTPClient.Configuration, maxResponseSize: Int?) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        // The client decompresses all that it has read before the exchange can look at the size, and a part may grow a thousandfold.
        configuration.decompression = .enabled(limit: maxResponseSize.map { .size($0) } ?? .none)
        // The exchange has its own timer. This one ends connections that nobody waits for any more.
        configuration.timeout.connect = configuration.timeout.connect ?? .seconds(60)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = ResponseGuard.adding(before: configuration.http1_1ConnectionDebugInitializer)
        configuration.http2StreamChannelDebugInitializer = ResponseGuard.adding(before: configuration.http2StreamChannelDebugInitializer)
        maxRequestsPerHost = configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit
        // The exchanges wait in their own queue, and streams have connections beside it.
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = 10_000
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        (self.maxResponseSize, isLent) = (maxResponseSize, false)
    }

    deinit { if !isLent { client.shutdown { _ in } } }

    /// Remembers that `host` has answered.
    func noteAnswer(from host: String) {
        answeredHosts.withLockedValue { hosts in
            if hosts.count > 10_000 { hosts = [] }
            _ = hosts.insert(host)
        }
    }

    /// Sends the request of `exchange` and returns what cancels it.
    func start(_ exchange: Exchange) -> any Disposable {
        let running = NIOLockedValueBox(Running())
        send(exchange, running)
        return Disposables.create {
            let task = running.withLockedValue { running in
                running.isCancelled = true
                return running.task
            }
            task?.cancel()
        }
    }

    private func send(_ exchange: Exchange, _ running: NIOLockedValueBox<Running>) {
        do {
            let request = try HTTPClient.Request(exchange, acceptsGzip: !isLent)
            let host = "\(request.scheme)://\(request.host):\(request.port)"
            let attempt = running.withLockedValue { running in
                running.attempts += 1
                return running.attempts
            }
            let maySendAgain = attempt == 1 && exchange.request.isIdempotent && answeredHosts.withLockedValue { $0.contains(host) }
            let delegate = ResponseDelegate(exchange, client: self, host: host) { error in
                guard maySendAgain && error.isOfKeptConnection || error.isOfPool else { return false }
                self.send(exchange, running)
                return true
            }
            let task = client.execute(request: request, delegate: delegate)
            let isCancelled = running.withLockedValue { running in
                // It may have failed meanwhile, and the next attempt be on its way.
                if running.attempts == attempt { running.task = task }
                return running.isCancelled
            }
            if isCancelled { task.cancel() }
            // Some failures reach the future alone, as that of a client that has been shut down.
            task.futureResult.whenFailure { delegate.end($0) }
        } catch {
            exchange.complete(with: error.asURLError(maxResponseSize, isConnecting: false))
        }
    }
}

extension Error {
    /// A server may close a connection that was kept at the moment at which the request goes out. Such a request is sent once more, as by
    /// URLSession (RFC 9112, section 9.3.1).
    fileprivate var isOfKeptConnection: Bool { (asURLError(nil, isConnecting: true) as? URLError)?.code == .networkConnectionLost }

    /// The request has waited for a connection, or a stream of one, for longer than the client connects. It goes back to wait, until the
    /// exchange's own timer ends it.
    fileprivate var isOfPool: Bool { self as? HTTPClientError == .getConnectionFromPoolTimeout }
}
