import APIProvider
import AsyncHTTPClient
import Foundation
import MiniRx
import NIOConcurrencyHelpers
import NIOCore

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The client that sends a transport's requests. One of the transport's own is shut down when neither a transport nor a request in flight
/// holds it.
final class Client: Sendable {
    /// The task of one exchange.
    private struct Running {
        var task: HTTPClient.Task<Void>?
        var isCancelled = false
    }

    /// Whether somebody else has made the client and shuts it down. Such a client may follow redirects, and may not decompress.
    let isLent: Bool
    let connectionsPerHost: Int
    let maximumResponseSize: Int?
    private let client: HTTPClient
    /// The hosts to which connections may be kept.
    private let answeredHosts = NIOLockedValueBox<Set<String>>([])

    init(lent client: HTTPClient, maximumResponseSize: Int?) {
        (self.client, self.maximumResponseSize, isLent) = (client, maximumResponseSize, true)
        connectionsPerHost = HTTPClient.Configuration().connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit
    }

    init(_ configuration: HTTPClient.Configuration, maximumResponseSize: Int?) {
        var configuration = configuration
        configuration.redirectConfiguration = .disallow
        // A part of a response that grows a thousandfold must not do so before its size is looked at.
        configuration.decompression = .enabled(limit: maximumResponseSize.map { .size($0) } ?? .none)
        // The exchange has its own timer. This one ends connections that nobody waits for any more.
        configuration.timeout.connect = configuration.timeout.connect ?? .seconds(60)
        configuration.connectionPool.retryConnectionEstablishment = false
        configuration.http1_1ConnectionDebugInitializer = ResponseGuard.adding(before: configuration.http1_1ConnectionDebugInitializer)
        configuration.http2StreamChannelDebugInitializer = ResponseGuard.adding(before: configuration.http2StreamChannelDebugInitializer)
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        (self.maximumResponseSize, isLent) = (maximumResponseSize, false)
        connectionsPerHost = configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit
    }

    deinit { if !isLent { client.shutdown { _ in } } }

    /// Keeps in mind that `host` has answered.
    func noteAnswer(from host: String) {
        answeredHosts.withLockedValue { hosts in
            if hosts.count > 10_000 { hosts = [] }
            _ = hosts.insert(host)
        }
    }

    /// Sends the request of `exchange` and returns what cancels it.
    func start(_ exchange: Exchange) -> any Disposable {
        let running = NIOLockedValueBox(Running())
        send(exchange, running, isFirst: true)
        return Disposables.create {
            let task = running.withLockedValue { running in
                running.isCancelled = true
                return running.task
            }
            task?.cancel()
        }
    }

    /// A server may close a connection that was kept at the moment at which the request goes out. Such a request is sent once more, as by
    /// URLSession (RFC 9112, section 9.3.1).
    private func send(_ exchange: Exchange, _ running: NIOLockedValueBox<Running>, isFirst: Bool) {
        do {
            let request = try HTTPClient.Request(exchange, acceptsGzip: !isLent)
            let host = "\(request.scheme)://\(request.host):\(request.port)"
            let maySendAgain = isFirst && exchange.isIdempotent && answeredHosts.withLockedValue { $0.contains(host) }
            let delegate = ResponseDelegate(exchange, client: self, host: host)
            if maySendAgain { delegate.sendAgain = { self.send(exchange, running, isFirst: false) } }
            let task = client.execute(request: request, delegate: delegate)
            let isCancelled = running.withLockedValue { running in
                // The first may have failed meanwhile, and the second be on its way.
                if !isFirst || running.task == nil { running.task = task }
                return running.isCancelled
            }
            if isCancelled { task.cancel() }
            // Some failures reach the future alone, as that of a client that has been shut down.
            task.futureResult.whenFailure { delegate.end($0) }
        } catch {
            exchange.complete(with: error.asURLError(maximumResponseSize))
        }
    }
}

extension Exchange {
    /// RFC 9110, section 9.2.2.
    fileprivate var isIdempotent: Bool {
        canBeSentAgain && RetryPolicy.default.methods.contains(.init(rawValue: request.httpMethod ?? "GET"))
    }
}
