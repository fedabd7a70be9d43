public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A transport for your own network stack.
///
/// Your closure sends one request and reports the response. The transport does everything else like ``URLSessionTransport``: cookies,
/// timeouts, a queue for each origin, a limit for the response's size, progress, files, and no event after a dispose.
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
        /// Header fields for each request, unless already set there. If the provider has a base URL, requests to other origins get only
        /// known harmless fields, such as `Accept-Language`.
        public var additionalHeaders: HTTPHeaders = [:]
        /// The storage for cookies, by the rules of RFC 6265bis. `nil` means no cookies. To include subdomains, a cookie's domain needs at
        /// least two labels, and must not be like `co.uk`. Each host keeps 180 cookies, and is sent at most 8 KB.
        public var cookies: HTTPCookieStorage? {
            get { storage }
            set { storage = newValue }
        }
        // Stored under another name, because a public property cannot have a `package` wrapper.
        @HiddenFromReflection private var storage: HTTPCookieStorage?
        /// The maximum number of simultaneous requests to an origin (scheme, host and port), even over HTTP/2. Others wait, first come,
        /// first served. `nil` is no limit.
        public var maxRequestsPerHost: Int? = 6
        /// The maximum size of a response's body in bytes, in memory or in a file. `nil` is no limit. If never set, a body in memory may
        /// have 256 MB, and one in a file has no limit.
        public var maxResponseSize: Int? {
            get { maxSizes.inFile }
            set { maxSizes = (newValue, newValue) }
        }
        private(set) var maxSizes: (inMemory: Int?, inFile: Int?) = (256_000_000, nil)
        /// The longest time without activity, in seconds, unless the request sets a timeout. Activity is a call of
        /// ``Exchange/didSend(_:of:)``, the response's head, and each part of the body. Waiting in the queue does not count.
        public var timeoutInterval: TimeInterval = 60
        /// The longest time for a whole request, in seconds. Starts again after a redirect.
        public var timeoutIntervalForResource: TimeInterval = 604_800

        /// Creates settings without headers and cookies.
        public init() {}

        init(maxResponseSize: Int?) { maxSizes = (maxResponseSize, maxResponseSize) }
    }

    let settings: Settings
    /// `nil` sends each request at once.
    let limiter: RequestLimiter?
    /// `nil` leaves timeouts to the network stack.
    let timeoutMonitor: TimeoutMonitor?
    let cookies: CookieJar?
    /// Whether the transport sends and stores the cookies. Otherwise the network stack does, and they are only hidden.
    let handlesCookies: Bool
    /// Delivers an event: at once, or on another thread.
    let deliver: Executor
    let start: @Sendable (Exchange) -> any Disposable

    // MARK: - Creating a transport

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - settings: The transport's settings.
    ///   - start: Sends ``Exchange/request`` and returns a disposable that stops the transfer. The stack must follow no redirects, and keep
    ///     no cookies. Called on the subscriber's thread, or on the thread that completes another exchange. Should return soon.
    public init(_ settings: Settings = Settings(), start: @escaping @Sendable (Exchange) -> any Disposable) {
        let scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
        let cookies = settings.cookies.map { CookieJar(storage: $0) }
        self.init(settings, TimeoutMonitor(scheduler, keepsTimer: true), cookies: cookies, start: start)
    }

    /// Creates a transport that delivers events at once, on the thread of the exchange's calls.
    ///
    /// - Parameters:
    ///   - usesEphemeralCookies: Uses a private cookie storage in memory instead of `settings.cookies`.
    ///   - scheduler: The clock for timeouts, maybe with virtual time.
    package init(
        _ settings: Settings, usesEphemeralCookies: Bool = false, scheduler: any Scheduler,
        start: @escaping @Sendable (Exchange) -> any Disposable
    ) {
        let cookies = usesEphemeralCookies ? CookieJar() : settings.cookies.map { CookieJar(storage: $0) }
        self.init(settings, TimeoutMonitor(scheduler, keepsTimer: false), cookies: cookies, deliver: { $0() }, start: start)
    }

    init(
        _ settings: Settings, _ timeoutMonitor: TimeoutMonitor?, cookies: CookieJar?, handlesCookies: Bool = true,
        deliver: @escaping Executor = { Self.eventQueue.async(execute: $0) }, start: @escaping @Sendable (Exchange) -> any Disposable
    ) {
        (self.settings, self.timeoutMonitor, self.cookies, self.deliver, self.start) = (settings, timeoutMonitor, cookies, deliver, start)
        self.handlesCookies = handlesCookies
        limiter = settings.maxRequestsPerHost.map { RequestLimiter(limit: $0) }
    }

    private static let eventQueue = DispatchQueue(label: "APIProvider.events", attributes: .concurrent)

    // MARK: - Sending

    /// Sends `request`. Disposing stops the transfer.
    ///
    /// A successful response's body goes into memory, to a file, or to a stream's reader, as the endpoint says. `maxRequestsPerHost`,
    /// `timeoutIntervalForResource` and `maxResponseSize` do not apply to streams. The server waits while the reader is behind, if the
    /// transport's closure calls ``Exchange/onWritable(_:)``.
    ///
    /// Progress is reported on the thread of the closure's calls, one call at a time, and starts again after a redirect and when a request
    /// is resent.
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

    /// The request with the transport's headers.
    private func prepared(_ request: PreparedRequest) throws -> PreparedRequest {
        // A file may have changed since the request was made.
        try request.body?.check()
        let transportHeaders = transportHeaders(for: request)
        var request = request
        if !transportHeaders.isEmpty { request.addMissingHeaders(transportHeaders) }
        try request.check()
        return request
    }

    /// The transport's fields for `request`.
    private func transportHeaders(for request: PreparedRequest) -> HTTPHeaders {
        var headers = settings.additionalHeaders
        if !headers.isEmpty {
            // Default headers are for the provider's origin only. A redirect or a whole URL may lead elsewhere.
            let isOtherOrigin = request.hasLeftOrigin || request.baseURL.map { $0.origin != request.url.origin } ?? false
            if isOtherOrigin { headers = headers.withoutCredentials }
        }
        // A range of a compressed body could not be decompressed.
        if request.headers["Range"] != nil, headers["Accept-Encoding"] == nil { headers["Accept-Encoding"] = "identity" }
        return headers
    }

    /// The header fields that the transport would add to `request` now.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? {
        var headers = transportHeaders(for: request)
        for (name, _) in headers where request.headers[name] != nil { headers[name] = nil }
        if handlesCookies, headers["Cookie"] == nil, let cookie = cookies?.header(for: request) { headers["Cookie"] = cookie }
        return headers
    }
}
