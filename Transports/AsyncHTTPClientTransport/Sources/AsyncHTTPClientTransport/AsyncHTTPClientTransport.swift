public import APIProvider
public import AsyncHTTPClient
public import Foundation
public import MiniRx
import NIOCore

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests by AsyncHTTPClient, with the behaviour of `URLSessionTransport`.
///
/// ```swift
/// let provider = DefaultAPIProvider(baseURL: gitHub, transport: AsyncHTTPClientTransport())
/// ```
///
/// Redirects, timeouts, limits, files and the codes and sentences of errors are those of `URLSessionTransport`. HTTP/2 is used where the
/// server speaks it over TLS. Events come on a background queue, and progress on the client's event loops.
///
/// A request that is in flight ends though the transport is let go.
public struct AsyncHTTPClientTransport: Transport {
    private let exchanges: ExchangeTransport

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - client: Sends the requests with its configuration: its TLS, its proxy, its decompression. You shut it down after the last request.
    ///     A host gets at most eight requests at once; a client that allows fewer connections makes the others wait, which counts as silence.
    ///     Each redirect costs a connection, because the client might follow it itself, and the body of a redirect is not read. The transport
    ///     asks for no compression. `nil` is a client of the transport's own, which ends with the transport and its last request.
    ///   - cookies: Where cookies come from and go; `nil` is nowhere.
    ///   - maximumResponseSize: How many bytes a response's body may have, in memory or in a file. One that passes it fails at once with
    ///     `URLError.dataLengthExceedsMaximum`. `nil` is no limit.
    public init(client: HTTPClient? = nil, cookies: HTTPCookieStorage? = nil, maximumResponseSize: Int? = nil) {
        var settings = ExchangeTransport.Settings()
        settings.cookies = cookies
        settings.maximumResponseSize = maximumResponseSize
        settings.connectionsPerHost = Client.connectionsPerHost
        self.init(client: client, settings: settings)
    }

    init(client: HTTPClient?, settings: ExchangeTransport.Settings) {
        let maximum = settings.maximumResponseSize
        let client = client.map { Client(lent: $0, maximumResponseSize: maximum) } ?? Client(maximumResponseSize: maximum)
        exchanges = ExchangeTransport(settings) { client.start($0) }
    }

    /// Sends `request` and follows redirects. Disposing cancels the exchange and frees the connection.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Called on an event loop of the client, one call at a time. It starts again after a redirect, and when a request
    ///     is sent again.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        exchanges.send(request, progress: progress)
    }

    /// Sends `request`, follows redirects, and writes the body of the last response to `destination` as it comes, so that memory stays flat.
    ///
    /// It does what `URLSessionTransport` does with the file.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - destination: A file, which is replaced if it is there, and whose mode is kept. A link to a file is followed. Its folder must exist.
    ///   - progress: Called on an event loop of the client, one call at a time. It starts again after a redirect, and when a request
    ///     is sent again.
    public func download(
        _ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        exchanges.download(request, to: destination, progress: progress)
    }
}

extension AsyncHTTPClientTransport: CustomReflectable {
    /// Shows nothing, also in a `dump`: a client may know secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
