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
    static let connectionsPerHost = 8

    private struct Sending {
        var task: HTTPClient.Task<Void>?
        var isCancelled = false
    }

    /// Whether the client may follow redirects, which is for the transport to do.
    let mayFollowRedirects: Bool
    let maximumResponseSize: Int?
    private let client: HTTPClient
    private let isOwn: Bool
    /// The hosts to which connections may be kept.
    private let answered = NIOLockedValueBox<Set<String>>([])

    init(lent client: HTTPClient, maximumResponseSize: Int?) {
        (self.client, self.maximumResponseSize, isOwn, mayFollowRedirects) = (client, maximumResponseSize, false, true)
    }

    init(maximumResponseSize: Int?) {
        var configuration = HTTPClient.Configuration()
        configuration.redirectConfiguration = .disallow
        // A part of a response that grows a thousandfold must not do so before its size is looked at.
        configuration.decompression = .enabled(limit: maximumResponseSize.map { .size($0) } ?? .none)
        // The exchange has its own timer. This one ends connections that nobody waits for any more.
        configuration.timeout.connect = .seconds(60)
        configuration.connectionPool.concurrentHTTP1ConnectionsPerHostSoftLimit = Self.connectionsPerHost
        configuration.connectionPool.retryConnectionEstablishment = false
        client = HTTPClient(eventLoopGroup: HTTPClient.defaultEventLoopGroup, configuration: configuration)
        (self.maximumResponseSize, isOwn, mayFollowRedirects) = (maximumResponseSize, true, false)
    }

    deinit { if isOwn { client.shutdown { _ in } } }

    /// Keeps in mind that `host` has answered.
    func hasAnswer(of host: String) {
        answered.withLockedValue { hosts in
            if hosts.count > 10_000 { hosts = [] }
            _ = hosts.insert(host)
        }
    }

    /// Sends the request of `exchange` and returns what cancels it.
    func start(_ exchange: Exchange) -> any Disposable {
        let sending = NIOLockedValueBox(Sending())
        send(exchange, sending, isFirst: true)
        return Disposables.create {
            let task = sending.withLockedValue { sending in
                sending.isCancelled = true
                return sending.task
            }
            task?.cancel()
        }
    }

    /// A server may close a connection that was kept at the moment at which the request goes out. Such a request is sent once more, as by
    /// URLSession (RFC 9112, section 9.3.1).
    private func send(_ exchange: Exchange, _ sending: NIOLockedValueBox<Sending>, isFirst: Bool) {
        do {
            let request = try HTTPClient.Request(exchange, acceptsCompression: isOwn)
            let host = "\(request.scheme)://\(request.host):\(request.port)"
            let maySendAgain = isFirst && exchange.isIdempotent && answered.withLockedValue { $0.contains(host) }
            let delegate = ResponseDelegate(exchange, client: self, host: host)
            if maySendAgain { delegate.sendAgain = { self.send(exchange, sending, isFirst: false) } }
            let task = client.execute(request: request, delegate: delegate)
            let isCancelled = sending.withLockedValue { sending in
                // The first may have failed meanwhile, and the second be on its way.
                if !isFirst || sending.task == nil { sending.task = task }
                return sending.isCancelled
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
