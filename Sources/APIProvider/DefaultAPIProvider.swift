public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Builds requests, sends them through middlewares and a transport, and validates and decodes the responses.
///
/// ```swift
/// let provider = DefaultAPIProvider(
///     baseURL: URL(string: "https://api.github.com")!,
///     middlewares: [RetryMiddleware()])
///
/// provider.request(SearchRequest(keyword: "swift"))
///     .observe(on: MainActor.shared)
///     .subscribe(onSuccess: { self.items = $0.items }, onFailure: { self.show($0) })
///     .disposed(by: bag)
/// ```
///
/// Create one provider for each API, and pass the provider to the code that needs it. Each provider has a session, which keeps connections
/// and file descriptors open.
///
/// Each subscription sends one request. Its event comes on a background queue. Disposing cancels the request, and no event comes after
/// that. An error is an ``APIError``, or an error thrown by your own endpoint, middleware or transport.
///
/// The exceptions are in <doc:/documentation/APIProvider>.
public struct DefaultAPIProvider: APIProvider {
    @HiddenFromReflection private var baseURL: BaseURL?
    @HiddenFromReflection private var transport: any Transport
    @HiddenFromReflection private var encoder: JSONEncoder
    @HiddenFromReflection private var decoder: any BodyDecoder
    private let middlewares: [any Middleware]
    private let errorMessage: (@Sendable (APIResponse) -> String?)?

    /// The settings with which a stub builds the same request.
    package var settings: (baseURL: URL?, encoder: JSONEncoder) { (baseURL?.url, encoder) }

    // MARK: - Creating a provider

    /// Creates a provider with a new session, configured like `session`.
    ///
    /// The configuration's `urlCache` is not used: to cache responses, add `CacheMiddleware` from the module APIProviderCache. The session's
    /// delegate still decides about server trust: see ``URLSessionTransport/init(session:maxResponseSize:)``.
    ///
    /// - Parameters:
    ///   - baseURL: The API's URL, with `http` or `https` and a host. A request's path and query are appended to this URL's. Without a base
    ///     URL, each request needs an absolute URL: ``RequestPath/url(_:_:)``.
    ///   - session: The session with the configuration.
    ///   - encoder: The encoder for JSON bodies. The default sorts keys, so equal values are sent as equal bytes. Do not change the encoder
    ///     afterwards.
    ///   - decoder: The decoder for responses. Do not change the decoder afterwards.
    ///   - middlewares: The middlewares. The first is the outermost: the first to see the request, and the last to see the response.
    ///   - errorMessage: Returns the server's message from a refused or undecodable response, in words for the app and its log; `nil`
    ///     without one. See ``RequestOptions/errorMessage``.
    public init(
        baseURL: URL? = nil, session: URLSession = .shared, encoder: JSONEncoder = .sortingKeys, decoder: any BodyDecoder = JSONDecoder(),
        middlewares: [any Middleware] = [], errorMessage: (@Sendable (APIResponse) -> String?)? = nil
    ) {
        self.init(
            baseURL: baseURL, transport: URLSessionTransport(session: session), encoder: encoder, decoder: decoder,
            middlewares: middlewares, errorMessage: errorMessage)
    }

    /// Creates a provider with a new session and a copy of `configuration`.
    ///
    /// - Parameters:
    ///   - baseURL: The API's URL, with `http` or `https` and a host. A request's path and query are appended to this URL's. Without a base
    ///     URL, each request needs an absolute URL: ``RequestPath/url(_:_:)``.
    ///   - configuration: The session's configuration. The `urlCache` is not used.
    ///   - encoder: The encoder for JSON bodies. The default sorts keys. Do not change the encoder afterwards.
    ///   - decoder: The decoder for responses. Do not change the decoder afterwards.
    ///   - middlewares: The middlewares. The first is the outermost: the first to see the request, and the last to see the response.
    ///   - errorMessage: Returns the server's message from a refused or undecodable response: see ``RequestOptions/errorMessage``.
    public init(
        baseURL: URL? = nil, configuration: URLSessionConfiguration, encoder: JSONEncoder = .sortingKeys,
        decoder: any BodyDecoder = JSONDecoder(), middlewares: [any Middleware] = [],
        errorMessage: (@Sendable (APIResponse) -> String?)? = nil
    ) {
        self.init(
            baseURL: baseURL, transport: URLSessionTransport(configuration: configuration), encoder: encoder, decoder: decoder,
            middlewares: middlewares, errorMessage: errorMessage)
    }

    /// Creates a provider that sends requests with `transport`.
    ///
    /// - Parameters:
    ///   - baseURL: The API's URL, with a host and a scheme of the transport: `http`, `https`, or another such as `http+unix`. A request's
    ///     path and query are appended to this URL's. Without a base URL, each request needs an absolute URL: ``RequestPath/url(_:_:)``.
    ///   - transport: The transport, such as a ``URLSessionTransport`` with a size limit, or your own.
    ///   - encoder: The encoder for JSON bodies. The default sorts keys. Do not change the encoder afterwards.
    ///   - decoder: The decoder for responses. Do not change the decoder afterwards.
    ///   - middlewares: The middlewares. The first is the outermost: the first to see the request, and the last to see the response.
    ///   - errorMessage: Returns the server's message from a refused or undecodable response: see ``RequestOptions/errorMessage``.
    public init(
        baseURL: URL? = nil, transport: any Transport, encoder: JSONEncoder = .sortingKeys, decoder: any BodyDecoder = JSONDecoder(),
        middlewares: [any Middleware] = [], errorMessage: (@Sendable (APIResponse) -> String?)? = nil
    ) {
        (self.baseURL, self.transport, self.encoder, self.decoder) = (baseURL.map { BaseURL($0) }, transport, encoder, decoder)
        (self.middlewares, self.errorMessage) = (middlewares.map(NamingMiddleware.naming), errorMessage)
    }

    // MARK: - Sending a request

    /// Returns a single that builds and sends `request` at each subscription, and succeeds with the response's value.
    public func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response> {
        .deferred {
            let endpoint = request.endpoint
            let decoder = endpoint.configuration.decoder ?? decoder
            let context = RequestContext(decoder: decoder, signOutCount: endpoint.configuration.signOutCount)
            var request = try endpoint.preparedRequest(relativeTo: baseURL, encoder, mediaType: decoder.mediaType, context: context)
            // Without a place to save the response, the request need not be sent.
            if let file = endpoint.destination.file { try DownloadHandoff.check(file) }
            let reporters = endpoint.configuration.progressHandlers.map { ProgressReporter($0, isStream: endpoint.destination.isStream) }
            if !reporters.isEmpty { request.reportProgress = { progress in reporters.forEach { $0.report(progress) } } }
            let download = request.bodyDestination.download
            var value = send(request).map { [errorMessage] response in
                // A middleware may have created the response.
                let response = response.requestOptions.context === context ? response : response.with(decoder: decoder)
                if let download { try response.checkFile(of: download) }
                return try endpoint.value(of: response, errorMessage: errorMessage, download)
            }
            for reporter in reporters { value = reporter.reportingLast(before: value) }
            if let download { value = download.running(value) }
            // Outermost, because a timeout waits for no disk.
            if let timeout = endpoint.configuration.timeout { value = try value.failing(after: timeout, request, transport.scheduler) }
            return value
        }
    }

    /// Passes a request through the middlewares to the transport. Redirected requests go only to the transport, unless a middleware follows
    /// the redirects.
    private func send(_ request: PreparedRequest) -> Single<APIResponse> {
        guard !middlewares.isEmpty else { return transport.sendFollowingRedirects(request) }
        let last: Middleware.Next = { [transport] request in
            var request = request
            request.options.transport = nil
            // A middleware may have changed the request.
            do { try request.check() } catch { return .error(error) }
            return transport.sendFollowingRedirects(request)
        }
        let first = middlewares.reversed().reduce(last) { next, middleware in
            { request in middleware.intercept(request) { next($0.attributed(to: request)) } }
        }
        var request = request
        request.options.transport = transport
        // Responses and errors for the app hold no transport, and so no connection.
        return first(request).flatMapResult { .event($0.map { $0.releasingTransport() }.mapError { $0.releasingTransport() }) }
    }
}
