public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Builds a request, sends it through its middlewares and its transport, validates the response and makes the value of it.
///
/// ```swift
/// let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.github.com")!, middlewares: [RetryMiddleware()])
///
/// provider.request(SearchRequest(keyword: "swift"))
///     .observe(on: MainActor.shared)
///     .subscribe(onSuccess: { self.items = $0.items }, onFailure: { self.show($0) })
///     .disposed(by: bag)
/// ```
///
/// Make one provider for each API and hand it down. Each provider has a session of its own, which keeps connections open and uses file
/// descriptors.
///
/// Each subscription sends one request. The request is built on the subscriber's thread. One that cannot be built fails there, before
/// `subscribe` returns; all other events come on a background queue. Failures are ``APIError``s, and the errors that an endpoint, a
/// middleware or a transport of your own throws. Disposing cancels the request and is silent. A request in flight ends though you let the
/// provider go.
public struct DefaultAPIProvider: APIProvider {
    private let baseURL: URL?
    private let transport: any Transport
    private let encoder: JSONEncoder
    private let decoder: any BodyDecoder
    private let middlewares: [any Middleware]

    /// Creates a provider that sends by a session of its own, with the configuration of `session`.
    ///
    /// The delegate of `session` is still asked about server trust and told of metrics, where the platform has them: see
    /// ``URLSessionTransport/init(session:maximumResponseSize:)``.
    ///
    /// - Parameters:
    ///   - baseURL: The address of the API, with `http` or `https` and a host. Its path and query come first in each request. Without it,
    ///     each request needs a path that is a URL: ``RequestPath/url(_:_:)``.
    ///   - session: Lends its configuration.
    ///   - encoder: Encodes JSON bodies. The default sorts keys, so that the same value is always sent as the same bytes. Do not change it
    ///     afterwards.
    ///   - decoder: Decodes responses. Do not change it afterwards.
    ///   - middlewares: What each request goes through. The first is the outermost: it sees the request first and the response last.
    public init(
        baseURL: URL? = nil, session: URLSession = .shared, encoder: JSONEncoder = .sortingKeys, decoder: any BodyDecoder = JSONDecoder(),
        middlewares: [any Middleware] = []
    ) {
        self.init(
            baseURL: baseURL, transport: URLSessionTransport(session: session), encoder: encoder, decoder: decoder,
            middlewares: middlewares)
    }

    /// Creates a provider that sends by a session of its own, with `configuration`.
    ///
    /// The other parameters are those of ``init(baseURL:session:encoder:decoder:middlewares:)``.
    public init(
        baseURL: URL? = nil, configuration: URLSessionConfiguration, encoder: JSONEncoder = .sortingKeys,
        decoder: any BodyDecoder = JSONDecoder(), middlewares: [any Middleware] = []
    ) {
        self.init(
            baseURL: baseURL, transport: URLSessionTransport(configuration: configuration), encoder: encoder, decoder: decoder,
            middlewares: middlewares)
    }

    /// Creates a provider that sends by `transport`.
    ///
    /// The other parameters are those of ``init(baseURL:session:encoder:decoder:middlewares:)``.
    public init(
        baseURL: URL? = nil, transport: any Transport, encoder: JSONEncoder = .sortingKeys, decoder: any BodyDecoder = JSONDecoder(),
        middlewares: [any Middleware] = []
    ) {
        (self.baseURL, self.transport, self.encoder, self.decoder) = (baseURL, transport, encoder, decoder)
        self.middlewares = middlewares
    }

    /// Returns a single that builds and sends `request` at each subscription, and succeeds with the value of its response.
    public func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response> {
        .deferred {
            let endpoint = request.endpoint
            let built = try endpoint.urlRequest(relativeTo: baseURL, encoder: encoder, mediaType: decoder.mediaType)
            try endpoint.checkDestination()
            return chain(for: endpoint)(built).map { response in try endpoint.value(of: response.readable(by: decoder)) }
        }
    }

    /// The way of a request through the middlewares to the transport.
    private func chain<Response>(for endpoint: Endpoint<Response>) -> @Sendable (URLRequest) -> Single<APIResponse> {
        let (destination, report) = (endpoint.destination, endpoint.report)
        let send: @Sendable (URLRequest) -> Single<APIResponse> = { [transport, decoder] request in
            let response =
                destination.map { transport.download(request, to: $0, progress: report) } ?? transport.send(request, progress: report)
            return response.map { $0.readable(by: decoder) }
                .mapError { $0 is URLError ? APIError.transport(request, underlying: $0) : $0 }
        }
        var options = endpoint.options
        options.baseURL = baseURL
        return middlewares.reversed().reduce(send) { [options] next, middleware in
            { middleware.intercept($0, options: options, next: next) }
        }
    }
}

extension DefaultAPIProvider: CustomStringConvertible, CustomReflectable {
    /// The base URL, without what is secret in it.
    public var description: String { "DefaultAPIProvider(\(baseURL?.redacted ?? "without a base URL"))" }

    /// Shows the base URL and the middlewares, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["baseURL": baseURL?.redacted as Any, "middlewares": middlewares]) }
}
