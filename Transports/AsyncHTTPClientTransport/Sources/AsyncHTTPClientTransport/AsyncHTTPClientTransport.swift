@_spi(Transports) public import APIProviderTransport
public import AsyncHTTPClient
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends requests by AsyncHTTPClient, with the behaviour of `URLSessionTransport`.
///
/// ```swift
/// let provider = DefaultAPIProvider(baseURL: gitHub, transport: AsyncHTTPClientTransport())
/// ```
///
/// A body in memory may have 256 MB, and one in a file or a stream has no limit, unless you set `maxResponseSize`.
///
/// Timeouts, limits, files and the codes and sentences of errors are those of `URLSessionTransport`. HTTP/2 is used where the server speaks
/// it over TLS. Events come on a background queue, and progress on the client's event loops.
///
/// A request in flight ends even if you let the transport go.
public struct AsyncHTTPClientTransport: Transport {
    private let exchanges: ExchangeTransport

    /// Creates a transport with a client of its own, which ends with the transport and its last request.
    ///
    /// - Parameters:
    ///   - configuration: The client's TLS, proxy and timeouts, and how many connections a host gets. The client follows no redirects and
    ///     decompresses responses whatever it says.
    ///   - cookies: The storage for cookies. `nil` means no cookies.
    public init(configuration: HTTPClient.Configuration, cookies: HTTPCookieStorage? = nil) {
        self.init(Client(configuration, maxResponseSize: nil), ExchangeTransport.Settings(cookies: cookies))
    }

    /// Creates a transport like ``init(configuration:cookies:)``, with a limit for the size of responses.
    ///
    /// - Parameters:
    ///   - configuration: The client's TLS, proxy and timeouts, and how many connections a host gets.
    ///   - cookies: The storage for cookies. `nil` means no cookies.
    ///   - maxResponseSize: The most bytes that a response's body may have, in memory or in a file. A larger one fails at once with
    ///     `URLError.dataLengthExceedsMaximum`. Counts for downloads, too: give those a provider of their own. `nil` is no limit.
    public init(configuration: HTTPClient.Configuration, cookies: HTTPCookieStorage? = nil, maxResponseSize: Int?) {
        let client = Client(configuration, maxResponseSize: maxResponseSize)
        self.init(client, ExchangeTransport.Settings(cookies: cookies, maxResponseSize: maxResponseSize))
    }

    /// Creates a transport with your client, or with one of its own.
    ///
    /// Share a client only if you must. A server can end the process of a client that the transport has not made: see the README.
    ///
    /// - Parameters:
    ///   - client: Sends the requests with its own configuration. Shut it down after the last request. A host gets at most eight requests
    ///     at once. If the client allows fewer connections, requests wait for one in the client, and their timeout runs. Each redirect
    ///     costs a connection, because the client might follow it itself, and the body of a redirect is not read. The transport does not
    ///     ask for compressed responses. `nil` is a client of the transport's own.
    ///   - cookies: The storage for cookies. `nil` means no cookies.
    public init(client: HTTPClient? = nil, cookies: HTTPCookieStorage? = nil) {
        self.init(Client(client, maxResponseSize: nil), ExchangeTransport.Settings(cookies: cookies))
    }

    /// Creates a transport like ``init(client:cookies:)``, with a limit for the size of responses.
    ///
    /// - Parameters:
    ///   - client: Sends the requests with its own configuration. `nil` is a client of the transport's own.
    ///   - cookies: The storage for cookies. `nil` means no cookies.
    ///   - maxResponseSize: As in ``init(configuration:cookies:maxResponseSize:)``.
    public init(client: HTTPClient? = nil, cookies: HTTPCookieStorage? = nil, maxResponseSize: Int?) {
        let client = Client(client, maxResponseSize: maxResponseSize)
        self.init(client, ExchangeTransport.Settings(cookies: cookies, maxResponseSize: maxResponseSize))
    }

    init(_ client: Client, _ settings: ExchangeTransport.Settings) {
        var settings = settings
        settings.maxRequestsPerHost = client.maxRequestsPerHost
        exchanges = ExchangeTransport(settings) { client.start($0) }
    }

    /// Sends `request`, as `URLSessionTransport` does. Disposing cancels the exchange and frees the connection.
    ///
    /// With a file as its destination, the body of an accepted response is written as it comes, so memory stays flat.
    ///
    /// A streamed response succeeds with its head, and the client reads from the server as the reader of the stream
    /// does. It has a connection beside those that a host gets at once. With a client of yours, it takes one of that client's.
    ///
    /// A `GET` or `HEAD` with a body fails, unless the endpoint sets ``APIProvider/RequestOptions/allowsBody``.
    ///
    /// Progress is reported on an event loop of the client, one call at a time. It starts again after a redirect, and when a request
    /// is sent again.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> {
        .deferred {
            try request.checkScheme()
            try request.checkBody()
            return exchanges.send(request)
        }
    }
}

extension AsyncHTTPClientTransport {
    /// The cookies that `request` would be sent with now.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? { exchanges.addedHeaders(for: request) }
}

extension ExchangeTransport.Settings {
    fileprivate init(cookies: HTTPCookieStorage?) {
        self.init()
        self.cookies = cookies
    }

    fileprivate init(cookies: HTTPCookieStorage?, maxResponseSize: Int?) {
        self.init(cookies: cookies)
        self.maxResponseSize = maxResponseSize
    }
}

extension Client {
    /// Your client, or one of the transport's own.
    fileprivate convenience init(_ client: HTTPClient?, maxResponseSize: Int?) {
        if let client {
            self.init(lent: client, maxResponseSize: maxResponseSize)
        } else {
            self.init(HTTPClient.Configuration(), maxResponseSize: maxResponseSize)
        }
    }
}

extension AsyncHTTPClientTransport: CustomReflectable {
    /// Shows nothing, also in a `dump`: a client may know secrets.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
