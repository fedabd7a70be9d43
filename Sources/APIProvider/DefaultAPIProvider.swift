public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Builds a request, sends it through its middlewares and its transport, validates the response and decodes it.
///
/// ```swift
/// provider.request(SearchRequest(keyword: "swift", page: 1, perPage: 30))
///     .observe(on: MainActor.shared)
///     .subscribe(onSuccess: { self.items = $0.items }, onFailure: { self.show($0) })
///     .disposed(by: bag)
/// ```
///
/// Each subscription sends one request. Events come on a background queue. Failures are ``APIError``s, and errors that a request, a middleware
/// or a transport of your own makes. Disposing cancels the request and is silent. The provider may be let go while a request is in flight.
public struct DefaultAPIProvider: APIProvider {
    private let transport: any Transport
    private let decoder: JSONDecoder
    private let middlewares: [any Middleware]

    /// A provider that sends by a session of its own, with the configuration of `session`: see ``URLSessionTransport``.
    public init(session: URLSession = .shared, decoder: JSONDecoder = JSONDecoder(), middlewares: [any Middleware] = []) {
        self.init(transport: URLSessionTransport(session: session), decoder: decoder, middlewares: middlewares)
    }

    /// A provider that sends by a session of its own, with `configuration`.
    public init(configuration: URLSessionConfiguration, decoder: JSONDecoder = JSONDecoder(), middlewares: [any Middleware] = []) {
        self.init(transport: URLSessionTransport(configuration: configuration), decoder: decoder, middlewares: middlewares)
    }

    /// A provider that sends by `transport`.
    ///
    /// - Parameters:
    ///   - transport: What sends the requests.
    ///   - decoder: Decodes JSON. Set it up before; it is not to be changed afterwards.
    ///   - middlewares: The first is the outermost.
    public init(transport: any Transport, decoder: JSONDecoder = JSONDecoder(), middlewares: [any Middleware] = []) {
        self.transport = transport
        self.decoder = decoder
        self.middlewares = middlewares
    }

    /// A single that builds and sends `request` at each subscription, and succeeds with what the response decodes into.
    public func request<Request: APIRequest>(_ request: Request) -> Single<Request.Response> {
        response(to: request, progress: nil)
    }

    /// The same, and tells how the transfer goes.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Called on a background queue, one call at a time.
    public func request<Request: APIRequest>(
        _ request: Request, progress: @escaping @Sendable (TransferProgress) -> Void
    ) -> Single<Request.Response> {
        response(to: request, progress: progress)
    }

    private func response<Request: APIRequest>(
        to request: Request, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<Request.Response> {
        Single.deferred { send(try request.urlRequest(), progress) }
            .map { response in
                try request.validate(response)
                return try response.explainingDecodingErrors(of: Request.Response.self) {
                    try request.decode(response, using: decoder)
                }
            }
    }

    private func send(_ request: URLRequest, _ progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        let send: @Sendable (URLRequest) -> Single<APIResponse> = { [transport] request in
            transport.send(request, progress: progress).mapError { $0 is URLError ? APIError.transport(request, underlying: $0) : $0 }
        }
        return middlewares.reversed().reduce(send) { next, middleware in { middleware.intercept($0, next: next) } }(request)
    }
}
