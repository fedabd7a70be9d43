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
/// Each subscription sends one request. It is built on the subscriber's thread, where an error of one that cannot be built comes at once; all
/// other events come on a background queue. Failures are ``APIError``s, and errors that a request, a middleware or a transport of your own
/// makes. Disposing cancels the request and is silent. The provider may be let go while a request is in flight.
public struct DefaultAPIProvider: APIProvider {
    private let transport: any Transport
    private let decoder: JSONDecoder
    private let middlewares: [any Middleware]

    /// A provider that sends by a session of its own, with the configuration of `session`. Make one and keep it: a session keeps connections
    /// open, and costs file descriptors.
    ///
    /// The delegate of `session` is still asked about server trust and told of metrics, where the platform has them: see
    /// ``URLSessionTransport/init(session:maximumResponseSize:)``.
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

    /// A single that builds and sends `request` at each subscription, writes the body of the response to a file, and succeeds with
    /// `destination`.
    ///
    /// ```swift
    /// provider.download(AvatarRequest(login: "octocat"), to: folder.appendingPathComponent("octocat.png"))
    /// ```
    ///
    /// The body is streamed to a hidden file in the folder of `destination`, which takes its place when it is whole; memory stays flat, but
    /// with a ``Transport`` of your own that has no `download`. The request's `validate` sees an empty body, and `decode` is not called: let
    /// its `Response` be `Void`, which asks for no JSON.
    ///
    /// On failure, on a status outside of 200...299, whose body is in the error, and on dispose the destination is untouched and nothing is
    /// left behind. (A request whose `validate` lets such a status pass, such as 304, succeeds with the destination as it was; and what
    /// `validate` or a middleware refuses in spite of its status has been written by then.) The limit of
    /// ``URLSessionTransport/init(configuration:maximumResponseSize:)`` counts for downloads too.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - destination: A file, which is replaced if it is there. Its folder must be.
    ///   - progress: Called on a background queue, one call at a time.
    public func download<Request: APIRequest>(
        _ request: Request, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)? = nil
    ) -> Single<URL> {
        single(of: request, by: { [transport] in transport.download($0, to: destination, progress: progress) }, { _ in destination })
    }

    private func response<Request: APIRequest>(
        to request: Request, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<Request.Response> {
        single(of: request, by: { [transport] in transport.send($0, progress: progress) }) { response in
            try response.explainingDecodingErrors(of: Request.Response.self) { try request.decode(response, using: decoder) }
        }
    }

    /// The whole way of a request: built, sent through the middlewares, validated, and made a value of.
    private func single<Value: Sendable>(
        of request: some APIRequest, by transfer: @escaping @Sendable (URLRequest) -> Single<APIResponse>,
        _ value: @escaping @Sendable (APIResponse) throws -> Value
    ) -> Single<Value> {
        let send: @Sendable (URLRequest) -> Single<APIResponse> = { request in
            transfer(request).mapError { $0 is URLError ? APIError.transport(request, underlying: $0) : $0 }
        }
        let chain = middlewares.reversed().reduce(send) { next, middleware in { middleware.intercept($0, next: next) } }
        return Single.deferred { chain(try request.urlRequest()) }
            .map { response in
                try request.validate(response)
                return try value(response)
            }
    }
}
