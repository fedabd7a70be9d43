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
/// Create one provider for each API and pass it to the code that needs it. Each provider has its own session, which keeps connections and
/// file descriptors open.
///
/// ### Subscriptions
///
/// Each subscription sends one request. The request is built on the subscriber's thread. If it cannot be built, or a middleware or the
/// transport refuses it, it may fail there, before `subscribe` returns. Other events come on a background queue, unless your own transport
/// chooses another thread. Disposing cancels the request, and no event comes after that. If you release the provider, requests in flight
/// still end.
///
/// ### Errors
///
/// An error is an ``APIError``, or the error that your own endpoint, middleware or transport throws.
public struct DefaultAPIProvider: APIProvider {
    @HiddenFromReflection private var baseURL: BaseURL?
    @HiddenFromReflection private var transport: any Transport
    @HiddenFromReflection private var encoder: JSONEncoder
    @HiddenFromReflection private var decoder: any BodyDecoder
    private let middlewares: [any Middleware]
    private let errorMessage: (@Sendable (APIResponse) -> String?)?

    /// What a stub needs to build the same request.
    package var settings: (baseURL: URL?, encoder: JSONEncoder) { (baseURL?.url, encoder) }

    // MARK: - Creating a provider

    /// Creates a provider with its own session, which has the configuration of `session`.
    ///
    /// The provider does not use the configuration's `urlCache`, on any platform. To cache responses, add the module APIProviderCache and
    /// its `CacheMiddleware`. It is the only cache then, and its `removeAll()` removes every stored response.
    ///
    /// The delegate of `session` still decides about server trust and gets metrics, where the platform has them. See
    /// ``URLSessionTransport/init(session:maxResponseSize:)``.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the API, with `http` or `https` and a host. The path and the query of a request are appended to those of
    ///     this URL. Without a base URL, each request needs a path that is a URL: ``RequestPath/url(_:_:)``.
    ///   - session: The session whose configuration is used.
    ///   - encoder: The encoder for JSON bodies. The default sorts keys, so the same value is always sent as the same bytes. Do not change
    ///     it afterwards.
    ///   - decoder: The decoder for responses. Do not change it afterwards.
    ///   - middlewares: The middlewares. The first is the outermost: it sees the request first and the response last.
    ///   - errorMessage: Returns the server's message from a response that was refused or does not decode, in the words that the app and
    ///     its log may show; `nil` if there is none. See ``RequestOptions/errorMessage``.
    public init(
        baseURL: URL? = nil, session: URLSession = .shared, encoder: JSONEncoder = .sortingKeys, decoder: any BodyDecoder = JSONDecoder(),
        middlewares: [any Middleware] = [], errorMessage: (@Sendable (APIResponse) -> String?)? = nil
    ) {
        self.init(
            baseURL: baseURL, transport: URLSessionTransport(session: session), encoder: encoder, decoder: decoder,
            middlewares: middlewares, errorMessage: errorMessage)
    }

    /// Creates a provider with its own session, which has a copy of `configuration`.
    ///
    /// - Parameters:
    ///   - baseURL: The URL of the API, with `http` or `https` and a host. The path and the query of a request are appended to those of
    ///     this URL. Without a base URL, each request needs a path that is a URL: ``RequestPath/url(_:_:)``.
    ///   - configuration: The configuration of the session. Its `urlCache` is not used.
    ///   - encoder: The encoder for JSON bodies. The default sorts keys. Do not change it afterwards.
    ///   - decoder: The decoder for responses. Do not change it afterwards.
    ///   - middlewares: The middlewares. The first is the outermost: it sees the request first and the response last.
    ///   - errorMessage: Returns the server's message from a response that was refused or does not decode: see
    ///     ``RequestOptions/errorMessage``.
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
    ///   - baseURL: The URL of the API. The path and the query of a request are appended to those of this URL. Without a base URL, each
    ///     request needs a path that is a URL: ``RequestPath/url(_:_:)``.
    ///   - transport: The transport, such as a ``URLSessionTransport`` with a limit of size, or one of your own.
    ///   - encoder: The encoder for JSON bodies. The default sorts keys. Do not change it afterwards.
    ///   - decoder: The decoder for responses. Do not change it afterwards.
    ///   - middlewares: The middlewares. The first is the outermost: it sees the request first and the response last.
    ///   - errorMessage: Returns the server's message from a response that was refused or does not decode: see
    ///     ``RequestOptions/errorMessage``.
    public init(
        baseURL: URL? = nil, transport: any Transport, encoder: JSONEncoder = .sortingKeys, decoder: any BodyDecoder = JSONDecoder(),
        middlewares: [any Middleware] = [], errorMessage: (@Sendable (APIResponse) -> String?)? = nil
    ) {
        (self.baseURL, self.transport, self.encoder, self.decoder) = (baseURL.map { BaseURL($0) }, transport, encoder, decoder)
        (self.middlewares, self.errorMessage) = (middlewares, errorMessage)
    }

    // MARK: - Sending a request

    /// Returns a single that builds and sends `request` at each subscription, and succeeds with the value of its response.
    public func request<Response: Sendable>(_ request: some APIRequest<Response>) -> Single<Response> {
        .deferred {
            let endpoint = request.endpoint
            let decoder = endpoint.configuration.decoder ?? decoder
            let context = RequestContext(decoder: decoder, signOutCount: endpoint.configuration.signOutCount)
            var request = try endpoint.preparedRequest(relativeTo: baseURL, encoder, mediaType: decoder.mediaType, context: context)
            // A response that cannot be saved need not be sent for.
            if let file = endpoint.destination.file { try APIError.explainingDestination { try PartialFile.check(file) } }
            let reporters = endpoint.configuration.progressHandlers.map { ProgressReporter($0, isStream: endpoint.destination.isStream) }
            if !reporters.isEmpty { request.reportProgress = { progress in reporters.forEach { $0.report(progress) } } }
            let download = request.bodyDestination.download
            var value = send(request).map { [errorMessage] response in
                var response = response.with(decoder: decoder)
                if let download { response = response.restoringFile(of: download) }
                let value = try endpoint.value(of: response, errorMessage: errorMessage)
                // The value may come from a body in memory.
                download?.removeAtEnd()
                return value
            }
            for reporter in reporters { value = reporter.reportingLast(before: value) }
            if let timeout = endpoint.configuration.timeout { value = try value.failing(after: timeout, with: request) }
            if let download { value = value.cleaningUp { download.close() } }
            return value
        }
    }

    /// Passes a request through the middlewares to the transport. Requests that follow a redirect go to the transport only, unless a
    /// middleware follows the redirects.
    private func send(_ request: PreparedRequest) -> Single<APIResponse> {
        let sendToTransport: Middleware.Next = { [transport] request in
            .resuming(request) { .followingRedirects($0) { transport.sendWithoutFragment($0) } }
        }
        guard !middlewares.isEmpty else { return sendToTransport(request) }
        let last: Middleware.Next = { request in
            var request = request
            request.options.transport = nil
            // A middleware may have changed it.
            do { try request.check() } catch { return .error(error) }
            return sendToTransport(request)
        }
        let first = middlewares.reversed().reduce(last) { next, middleware in
            { request in middleware.intercept(request) { next($0.attributed(to: request)) } }
        }
        var request = request
        request.options.transport = transport
        // What the app gets holds no transport, and so no connection.
        return first(request).flatMapResult { .event($0.map { $0.releasingTransport() }.mapError { $0.releasingTransport() }) }
    }
}
