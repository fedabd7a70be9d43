public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A request that is ready to be sent. A provider makes one of an ``Endpoint`` for each subscription.
///
/// Each ``Middleware`` may change it, and a ``Transport`` sends it:
///
/// ```swift
/// request.headers["X-Request-ID"] = UUID().uuidString
/// request.body = try request.body.map { RequestBody(try compress($0.data())) }
/// ```
public struct PreparedRequest: Sendable {
    /// The request method.
    public var method: HTTPMethod { didSet { isChecked = false } }
    /// The URL with its query, already escaped.
    public var url: URL { didSet { isChecked = false } }
    /// The header fields. Those that the session or the network stack adds are missing.
    public var headers: HTTPHeaders { didSet { isChecked = false } }
    /// The body. It can be read any number of times.
    public var body: RequestBody? { didSet { isChecked = false } }
    /// The time in seconds without activity in either direction after which the request times out; `nil` is the session's setting.
    public var timeoutInterval: TimeInterval? { didSet { isChecked = false } }
    /// What the endpoint, the provider and the middlewares say of the request, each under a key of its own.
    public var options: RequestOptions

    /// Whether ``check()`` has found nothing wrong with what the request has now.
    var isChecked = false
    /// What most requests do not have. A request passes through each middleware, so this is in a box.
    private var rare: Boxed<Rare>?

    /// Creates a request, which has no options. To change a request, change a copy.
    ///
    /// A provider makes a request of each ``Endpoint``. Create your own in a middleware that sends another request first, such as one for a
    /// nonce: <doc:WritingAMiddleware> says what it has. Or create one to test a middleware or a transport.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - url: The URL with its query, already escaped.
    ///   - headers: The header fields.
    ///   - body: The body, already encoded.
    public init(_ method: HTTPMethod, _ url: URL, headers: HTTPHeaders = [:], body: RequestBody? = nil) {
        self.method = method
        self.url = url
        self.headers = headers
        self.body = body
        options = RequestOptions()
    }

    // MARK: - What most requests do not have

    private struct Rare: Sendable {
        var secrets = RequestSecrets()
        var redirectChain: [RedirectedRequest] = []
        var foundationRequest: URLRequest?
    }

    private var rareValues: Rare {
        get { rare?.wrappedValue ?? Rare() }
        set { rare = Boxed(wrappedValue: newValue) }
    }

    /// Texts that no error and no log shows.
    package var secrets: RequestSecrets {
        get { rare?.wrappedValue.secrets ?? RequestSecrets() }
        set { rareValues.secrets = newValue }
    }
    /// The requests that have been redirected to this one, the first first.
    package var redirectChain: [RedirectedRequest] {
        get { rare?.wrappedValue.redirectChain ?? [] }
        set { rareValues.redirectChain = newValue }
    }
    /// The `URLRequest` that was set as ``urlRequest``, for properties that this type does not have.
    package private(set) var foundationRequest: URLRequest? {
        get { rare?.wrappedValue.foundationRequest }
        set { rareValues.foundationRequest = newValue }
    }

    // MARK: - Foundation's request

    /// The request as Foundation has it, without its body.
    ///
    /// Use it for settings that only `URLRequest` has: `request.urlRequest.networkServiceType = .video`. A body that you set here makes the
    /// request invalid; set ``body`` instead. A `timeoutInterval` of 60 seconds is Foundation's "not set"; set ``timeoutInterval`` instead.
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
            let oldHeaders = headers
            headers = HTTPHeaders((newValue.allHTTPHeaderFields ?? [:]).map { (key: $0, value: $1) })
            if headers["Authorization"] == oldHeaders["Authorization"] { headers.adoptProblem(of: oldHeaders) }
            foundationRequest = newValue
            foundationRequest?.allHTTPHeaderFields = nil
        }
    }
}

/// A request that was redirected.
package struct RedirectedRequest: Sendable {
    package let url: URL
    let method: HTTPMethod
    let hasIdempotencyKey: Bool
    let headerNames: [String]

    init(_ request: PreparedRequest) {
        (url, method, headerNames) = (request.url, request.method, request.headers.map(\.name))
        hasIdempotencyKey = request.headers["Idempotency-Key"] != nil
    }
}

extension PreparedRequest {
    /// The URLs that have been redirected to this request, the first first. The servers have acted on a request at each of them.
    public var redirects: [URL] { redirectChain.map(\.url) }

    /// Whether a redirect led from one origin to another on the way to this request. Whoever chose this URL is to get no credential.
    public var hasLeftOrigin: Bool {
        let origins = redirectChain.map(\.url.origin) + (redirectChain.isEmpty ? [] : [url.origin])
        return origins.contains { $0 != origins[0] }
    }
}

// MARK: - Middlewares and transports

extension PreparedRequest {
    /// Whether it is a GET or a HEAD without a body.
    package var isPlainRead: Bool { [.get, .head].contains(method) && body == nil }

    /// Whether cookies are sent with it and kept from its response.
    public var handlesCookies: Bool { foundationRequest?.httpShouldHandleCookies ?? true }

    /// Whether it is safe to send the request more than once, because its method is idempotent (RFC 9110, section 9.2.2) or it has an
    /// `Idempotency-Key`. After redirects, that must be so for each request of the chain: a `POST` that a 303 has turned into a `GET` is
    /// still a `POST`.
    public var isIdempotent: Bool { isIdempotent(HTTPMethod.idempotent) }

    /// Whether it is safe to send the request more than once, if `methods` are the idempotent methods: see ``isIdempotent``.
    public func isIdempotent(_ methods: Set<HTTPMethod>) -> Bool {
        (methods.contains(method) || headers["Idempotency-Key"] != nil)
            && redirectChain.allSatisfy { $0.hasIdempotencyKey || methods.contains($0.method) }
    }

    /// Hides `secret` in the texts of errors, logs and reports about this request, wherever it occurs. One of fewer than six bytes may
    /// occur by chance, and is hidden only where it is a whole segment of the path.
    ///
    /// What stands in `Authorization`, in cookies, or under a name such as `api_key` is hidden without it.
    public mutating func hide(_ secret: String) {
        secrets.add([secret])
    }

    /// The base URL of the provider that sends the request; `nil` if it has none. A credential is for its origin only.
    public package(set) var baseURL: URL? {
        get { options[BaseURLKey.self] }
        set { if newValue != nil { options[BaseURLKey.self] = newValue } else { options.remove(BaseURLKey.self) } }
    }

    /// Sets each of `headers` that the request does not have.
    package mutating func addMissingHeaders(_ headers: HTTPHeaders) {
        let keepsOwnAuthorization = self.headers["Authorization"] != nil
        for (name, value) in headers where self.headers[name] == nil { self.headers[name] = value }
        if !keepsOwnAuthorization { self.headers.adoptProblem(of: headers) }
    }
}

private enum BaseURLKey: BuiltInOptionKey { static var defaultValue: URL? { nil } }
