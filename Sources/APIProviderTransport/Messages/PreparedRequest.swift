public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request ready to send. A provider creates one from an ``Endpoint`` for each subscription.
///
/// Each ``Middleware`` may change the request, and a ``Transport`` sends the result:
///
/// ```swift
/// request.headers["X-Request-ID"] = UUID().uuidString
/// request.body = try request.body.map { RequestBody(try compress($0.data())) }
/// ```
public struct PreparedRequest: Sendable {
    /// The request method.
    public var method: HTTPMethod { didSet { isChecked = false } }
    /// The URL with the query, already escaped. A fragment is dropped, because it is not for the server (RFC 9110, section 7.1).
    public var url: URL {
        didSet {
            url = url.withoutFragment
            isChecked = false
        }
    }
    /// The header fields, without the additions of the session or the network stack.
    public var headers: HTTPHeaders { didSet { isChecked = false } }
    /// The body, readable any number of times.
    public var body: RequestBody? { didSet { isChecked = false } }
    /// The longest time without activity in either direction, in seconds, before the request times out; `nil` is the session's setting.
    public var timeoutInterval: TimeInterval? { didSet { isChecked = false } }
    /// Options set by the endpoint, the provider and the middlewares, by key.
    public var options: RequestOptions

    /// Whether ``check()`` found the current request valid.
    var isChecked = false
    /// The package's properties, which few requests have. Boxed, because a request passes through each middleware.
    private var boxedInternals: Boxed<Internals>?

    /// Creates a request without options. To change a request, change a copy.
    ///
    /// A provider creates requests from endpoints. Create your own in a middleware that sends another request first, such as one for a
    /// nonce: see <doc:WritingAMiddleware>. Or create one to test a middleware or a transport.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - url: The URL with the query, already escaped. A fragment is dropped.
    ///   - headers: The header fields.
    ///   - body: The body, already encoded.
    public init(_ method: HTTPMethod, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody? = nil) {
        self.method = method
        self.url = url.withoutFragment
        self.headers = headers
        self.body = body
        options = RequestOptions()
    }

    // MARK: - The package's properties

    private struct Internals: Sendable {
        var secrets = RequestSecrets()
        var addedCookie: String?
        var redirectChain: [RedirectedRequest] = []
        var foundationRequest: URLRequest?
        var throwingMiddleware: String?
        var infiniteQueryKeys: Set<[UInt8]> = []
    }

    private var internals: Internals {
        get { boxedInternals?.wrappedValue ?? Internals() }
        set { boxedInternals = Boxed(wrappedValue: newValue) }
    }

    /// Texts hidden in every error and log.
    package var secrets: RequestSecrets {
        get { boxedInternals?.wrappedValue.secrets ?? RequestSecrets() }
        set { internals.secrets = newValue }
    }
    /// The cookies that the transport has added, a secret in errors and logs.
    var addedCookie: String? {
        get { boxedInternals?.wrappedValue.addedCookie }
        set { internals.addedCookie = newValue }
    }
    /// The requests redirected to this one, the first one first.
    var redirectChain: [RedirectedRequest] {
        get { boxedInternals?.wrappedValue.redirectChain ?? [] }
        set { internals.redirectChain = newValue }
    }
    /// The `URLRequest` set as ``urlRequest``, for properties that this type lacks.
    package private(set) var foundationRequest: URLRequest? {
        get { boxedInternals?.wrappedValue.foundationRequest }
        set { internals.foundationRequest = newValue }
    }

    /// The name of the middleware that threw an error with this request or with its response.
    var throwingMiddleware: String? {
        get { boxedInternals?.wrappedValue.throwingMiddleware }
        set { internals.throwingMiddleware = newValue }
    }

    /// The keys in the query that were set to a number that is not finite.
    package var infiniteQueryKeys: Set<[UInt8]> {
        get { boxedInternals?.wrappedValue.infiniteQueryKeys ?? [] }
        set {
            guard newValue != infiniteQueryKeys else { return }
            internals.infiniteQueryKeys = newValue
            isChecked = false
        }
    }

    // MARK: - Foundation's request

    /// Foundation's form of the request, without the body.
    ///
    /// Use this property for settings that only `URLRequest` has: `request.urlRequest.networkServiceType = .video`. A body set here makes
    /// the request invalid; set ``body`` instead. A `timeoutInterval` of 60 seconds means "not set" in Foundation; set ``timeoutInterval``
    /// instead.
    public var urlRequest: URLRequest {
        get {
            // On Linux, setting the method costs as much as parsing the URL, and setting a header costs double.
            var request = foundationRequest ?? URLRequest(url: url)
            if foundationRequest != nil { request.url = url }
            if method != .get || foundationRequest != nil { request.httpMethod = method.rawValue }
            request.allHTTPHeaderFields = headers.dictionary
            if let timeoutInterval { request.timeoutInterval = timeoutInterval }
            return request
        }
        set {
            let old = timeoutInterval ?? foundationRequest?.timeoutInterval ?? URLRequest(url: url).timeoutInterval
            if newValue.timeoutInterval != old { timeoutInterval = newValue.timeoutInterval }
            url = newValue.url ?? url
            method = HTTPMethod(rawValue: newValue.httpMethod ?? "GET")
            headers = HTTPHeaders((newValue.allHTTPHeaderFields ?? [:]).map { (key: $0, value: $1) })
            foundationRequest = newValue
            foundationRequest?.allHTTPHeaderFields = nil
        }
    }
}

/// A redirected request.
struct RedirectedRequest: Sendable {
    let url: URL
    let method: HTTPMethod
    let hasIdempotencyKey: Bool
    let headerNames: [String]

    init(_ request: PreparedRequest) {
        (url, method, headerNames) = (request.url, request.method, request.headers.map(\.name))
        hasIdempotencyKey = request.hasIdempotencyKey
    }
}

extension PreparedRequest {
    /// The URLs redirected to this request, the first one first. A server has acted on a request at each of them.
    public var redirects: [URL] { redirectChain.map(\.url) }

    /// Whether a redirect led from one origin to another on the way to this request. Send no credential to a URL chosen by another server.
    public var hasLeftOrigin: Bool {
        let origins = redirectChain.map(\.url.origin) + (redirectChain.isEmpty ? [] : [url.origin])
        return origins.contains { $0 != origins[0] }
    }
}

// MARK: - Middlewares and transports

extension PreparedRequest {
    /// Whether this is a GET or a HEAD without a body.
    package var isPlainRead: Bool { [.get, .head].contains(method) && body == nil }

    /// Whether cookies are sent, and stored from the response.
    public var handlesCookies: Bool { foundationRequest?.httpShouldHandleCookies ?? true }

    /// Whether the request is safe to send more than once: the method is idempotent (RFC 9110, section 9.2.2), or there is an
    /// `Idempotency-Key`. After redirects, each request in the chain counts: a `POST` turned into a `GET` by a 303 is still a `POST`.
    public var isIdempotent: Bool { isIdempotent(HTTPMethod.idempotent) }

    /// Whether the request is safe to send more than once, with `methods` as the idempotent ones: see ``isIdempotent``.
    public func isIdempotent(_ methods: Set<HTTPMethod>) -> Bool {
        (methods.contains(method) || hasIdempotencyKey)
            && redirectChain.allSatisfy { $0.hasIdempotencyKey || methods.contains($0.method) }
    }

    /// An empty key is none: a value was missing.
    fileprivate var hasIdempotencyKey: Bool { headers["Idempotency-Key"]?.contains { !$0.isWhitespace } == true }

    /// Hides `secret` everywhere in errors, logs and reports about this request. A secret of fewer than six bytes may occur by chance, and
    /// is hidden only as a whole path segment.
    ///
    /// `Authorization`, cookies, and values with a name such as `api_key` are hidden without this call.
    public mutating func hide(_ secret: String) {
        secrets.add([secret])
    }

    /// The provider's base URL; `nil` without one. A credential is for that origin only.
    public package(set) var baseURL: URL? {
        get { options[BaseURLKey.self] }
        set { if newValue != nil { options[BaseURLKey.self] = newValue } else { options.remove(BaseURLKey.self) } }
    }

    /// Adds the fields in `headers` that the request lacks.
    public mutating func addMissingHeaders(_ headers: HTTPHeaders) {
        for (name, value) in headers where self.headers[name] == nil { self.headers[name] = value }
    }
}

private enum BaseURLKey: BuiltInOptionKey { static var defaultValue: URL? { nil } }
