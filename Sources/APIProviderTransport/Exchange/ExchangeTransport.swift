public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A transport that sends with your network stack.
///
/// Your closure sends one request and reports the response. The transport does all else as ``URLSessionTransport`` does: it keeps cookies,
/// ends what takes too long, queues requests by origin, limits the size of a response, reports progress, writes files, and delivers no
/// event after a dispose.
///
/// ```swift
/// let transport = ExchangeTransport { exchange in
///     let task = stack.send(
///         exchange.request,
///         onHead: { head in exchange.receive(head) },
///         onBody: { chunk in exchange.receive(chunk) },
///         onEnd: { error in exchange.complete(with: error) })
///     return Disposables.create { task.cancel() }
/// }
/// ```
@_spi(Transports) public struct ExchangeTransport: Transport {
    /// The settings of an ``ExchangeTransport``.
    public struct Settings: Sendable {
        /// Header fields that each request gets unless it has one of the same name. If the provider has a base URL, requests to other
        /// origins get only those that are known to be harmless, such as `Accept-Language`.
        public var additionalHeaders: HTTPHeaders = [:]
        /// The storage for cookies, by the rules of RFC 6265bis. `nil` means no cookies. A cookie that is also for subdomains needs a
        /// domain of at least two labels that is not like `co.uk`. A host keeps 180 cookies, and gets at most 8 KB of them.
        public var cookies: HTTPCookieStorage? {
            get { storage }
            set { storage = newValue }
        }
        // Stored under another name: a public property cannot have the wrapper, which is `package`.
        @HiddenFromReflection private var storage: HTTPCookieStorage?
        /// The maximum number of requests to an origin (scheme, host and port) at the same time, even over HTTP/2. Others wait, first come,
        /// first served. `nil` is no limit.
        public var maxRequestsPerHost: Int? = 6
        /// The maximum size of a response's body in bytes. `nil` is no limit.
        public var maxResponseSize: Int?
        /// The time in seconds that may pass without activity, unless the request has its own timeout. Activity is a call of
        /// ``Exchange/didSend(_:of:)``, the head of the response, and each part of its body. Waiting in the queue does not count.
        public var timeoutInterval: TimeInterval = 60
        /// The time in seconds that a request may take as a whole. It starts again after a redirect.
        public var timeoutIntervalForResource: TimeInterval = 604_800

        /// Creates settings without headers, cookies or a limit of size.
        public init() {}
    }

    let settings: Settings
    /// `nil` sends each request at once.
    let limiter: RequestLimiter?
    /// `nil` leaves it to the network stack to end requests in time.
    let timeoutMonitor: TimeoutMonitor?
    /// `nil` leaves cookies to the network stack.
    let cookies: CookieJar?
    /// Delivers events.
    let executor: ClosureExecutor
    let start: @Sendable (Exchange) -> any Disposable

    // MARK: - Creating a transport

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - settings: The settings of the transport.
    ///   - start: Sends ``Exchange/request`` and returns a disposable that stops it. The stack must follow no redirects, and keep no
    ///     cookies. It is called on the subscriber's thread, or on the thread that completes another exchange, and should return soon.
    public init(_ settings: Settings = Settings(), start: @escaping @Sendable (Exchange) -> any Disposable) {
        let scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
        self.init(settings, TimeoutMonitor(scheduler, keepsTimer: true), start: start)
    }

    /// - Parameters:
    ///   - usesEphemeralCookies: Whether it keeps cookies in memory of its own, whatever the `cookies` of `settings` are.
    ///   - scheduler: The clock of timeouts. It may be one of virtual time.
    ///   - executor: Delivers events.
    package init(
        _ settings: Settings, usesEphemeralCookies: Bool = false, scheduler: any Scheduler, executor: ClosureExecutor = .background,
        start: @escaping @Sendable (Exchange) -> any Disposable
    ) {
        let cookies = usesEphemeralCookies ? CookieJar() : settings.cookies.map { CookieJar(storage: $0) }
        self.init(settings, TimeoutMonitor(scheduler, keepsTimer: false), cookies: cookies, executor: executor, start: start)
    }

    init(
        _ settings: Settings, _ timeoutMonitor: TimeoutMonitor?, executor: ClosureExecutor = .background,
        start: @escaping @Sendable (Exchange) -> any Disposable
    ) {
        self.init(settings, timeoutMonitor, cookies: settings.cookies.map { CookieJar(storage: $0) }, executor: executor, start: start)
    }

    init(
        _ settings: Settings, _ timeoutMonitor: TimeoutMonitor?, cookies: CookieJar?, executor: ClosureExecutor = .background,
        start: @escaping @Sendable (Exchange) -> any Disposable
    ) {
        (self.settings, self.timeoutMonitor, self.cookies, self.executor, self.start) = (settings, timeoutMonitor, cookies, executor, start)
        limiter = settings.maxRequestsPerHost.map { RequestLimiter(limit: $0) }
    }

    // MARK: - Sending

    /// Sends `request`. Disposing stops the transfer.
    ///
    /// The body of a successful response goes where the endpoint says: into memory, to a file, or to the reader of a stream.
    /// `maxRequestsPerHost`, `timeoutIntervalForResource` and `maxResponseSize` do not apply to streams. The server has to wait while the
    /// reader is behind, if the closure of the transport calls ``Exchange/onWritable(_:)``.
    ///
    /// Progress is reported on the thread of the closure's calls, one call at a time. It starts again after a redirect, and when a request
    /// is sent again.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> {
        .create { observer in
            do {
                let exchange = Exchange(try prepared(request), by: self, observer: observer)
                exchange.start()
                return Subscriber(exchange: exchange)
            } catch {
                observer(.failure(error))
                return Disposables.create()
            }
        }
    }

    private struct Subscriber: Disposable {
        let exchange: Exchange

        func dispose() { exchange.subscriberDidLeave() }
    }

    /// The request with the headers of the transport.
    private func prepared(_ request: PreparedRequest) throws -> PreparedRequest {
        // A file may have changed since the request was made.
        try request.body?.check()
        let ownHeaders = ownHeaders(for: request)
        var request = request
        if !ownHeaders.isEmpty { request.addMissingHeaders(ownHeaders) }
        try request.check()
        return request
    }

    /// The fields that the transport sets, unless `request` has them.
    private func ownHeaders(for request: PreparedRequest) -> HTTPHeaders {
        var headers = settings.additionalHeaders
        if !headers.isEmpty {
            // Default headers are for the origin of the provider only. A redirect or a whole URL may lead away from it.
            let isElsewhere = request.hasLeftOrigin || request.baseURL.map { $0.origin != request.url.origin } ?? false
            if isElsewhere { headers = headers.forOtherOrigins }
        }
        // A range of a compressed body could not be decompressed.
        if request.headers["Range"] != nil, headers["Accept-Encoding"] == nil { headers["Accept-Encoding"] = "identity" }
        return headers
    }
}

@_spi(Transports) extension ExchangeTransport {
    /// The header fields that `request` would be sent with now, and does not have.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? {
        var headers = ownHeaders(for: request)
        for (name, _) in headers where request.headers[name] != nil { headers[name] = nil }
        if headers["Cookie"] == nil, let cookie = cookies?.header(for: request) { headers["Cookie"] = cookie }
        return headers
    }
}
