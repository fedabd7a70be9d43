public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A transport that sends with a network stack of your own.
///
/// Your closure sends one request and tells what comes. The transport does all else as ``URLSessionTransport`` does: it follows redirects,
/// keeps cookies, ends what takes too long, queues requests by host, limits the size of a response, reports progress, writes files, and is
/// silent after a dispose.
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
public struct ExchangeTransport: Transport {
    /// What an ``ExchangeTransport`` does for its network stack.
    public struct Settings: Sendable {
        /// Header fields that each request gets unless it has one of the same name.
        public var additionalHeaders: HTTPHeaders = [:]
        /// Where cookies come from and go, by the rules of RFC 6265bis; `nil` is nowhere. A cookie for more hosts than one needs a domain
        /// with two labels, and not one like `co.uk`. A host keeps 180 cookies, and gets at most 8 KB of them.
        public var cookies: HTTPCookieStorage?
        /// The most requests that a host gets at once. Others wait, first come, first served. With HTTP/2 they share a connection, and none
        /// waits. `nil` is no limit.
        public var connectionsPerHost: Int? = 6
        /// The most bytes that a response's body may have. `nil` is no limit.
        public var maximumResponseSize: Int?
        /// How many seconds may pass without a byte, unless the request has its own timeout. Waiting in the queue does not count.
        public var timeoutInterval: TimeInterval = 60
        /// How many seconds a request may take as a whole. The time starts again after a redirect.
        public var timeoutIntervalForResource: TimeInterval = 604_800

        /// Creates settings without headers, cookies or a limit of size.
        public init() {}
    }

    private let settings: Settings
    private let limits: TimeLimits
    private let timer: TransferTimer?
    private let connections: ConnectionQueue?
    private let cookies: Cookies?
    private let start: @Sendable (Exchange) -> any Disposable

    /// Creates a transport.
    ///
    /// - Parameters:
    ///   - settings: What the transport does for the network stack.
    ///   - start: Sends ``Exchange/request`` and returns what stops it. The stack must follow no redirects, and keep no cookies. It is called
    ///     on the subscriber's thread, or on one on which another exchange completes.
    public init(_ settings: Settings = Settings(), start: @escaping @Sendable (Exchange) -> any Disposable) {
        self.init(settings, scheduler: ConcurrentDispatchQueueScheduler(qos: .userInitiated), start: start)
    }

    /// - Parameter scheduler: The clock of timeouts.
    package init(_ settings: Settings, scheduler: any Scheduler, start: @escaping @Sendable (Exchange) -> any Disposable) {
        self.init(
            settings, timer: TransferTimer(scheduler: scheduler, queue: .ofTimer()), cookies: settings.cookies.map { Cookies(storage: $0) },
            start: start)
    }

    /// - Parameters:
    ///   - timer: Ends exchanges in which nothing happens; `nil` leaves that to the network stack.
    ///   - cookies: What is done with cookies; `nil` leaves that to the network stack.
    init(_ settings: Settings, timer: TransferTimer?, cookies: Cookies?, start: @escaping @Sendable (Exchange) -> any Disposable) {
        (self.settings, self.timer, self.cookies, self.start) = (settings, timer, cookies, start)
        limits = TimeLimits(silence: settings.timeoutInterval, whole: settings.timeoutIntervalForResource)
        connections = settings.connectionsPerHost.map(ConnectionQueue.init(connectionsPerHost:))
    }

    /// Sends `request` and follows redirects. Disposing stops the transfer.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Called on a background queue, one call at a time. It starts again after a redirect, and when a request is sent again.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        follow(request, to: nil, progress)
    }

    /// Sends `request`, follows redirects, and writes the body of the last response to `destination` as it comes: see
    /// ``URLSessionTransport/download(_:to:progress:)``.
    public func download(
        _ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        follow(request, to: destination, progress)
    }

    private func follow(
        _ request: URLRequest, to destination: URL?, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        do {
            // A file may have changed since the request was made.
            try (request.httpBodyStream as? BodyStream)?.check()
            return .following(try withAdditionalHeaders(request)) { self.exchange($0, to: destination, progress) }
        } catch {
            return .error(error)
        }
    }

    private func withAdditionalHeaders(_ request: URLRequest) throws -> URLRequest {
        var request = request
        for (name, value) in settings.additionalHeaders where request.value(forHTTPHeaderField: name) == nil {
            try HTTPHeaders.check(name, value)
            request.setValue(value, forHTTPHeaderField: name)
        }
        try request.check()
        return request
    }

    private func exchange(
        _ request: URLRequest, to destination: URL?, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        Single.create { [self] observer in
            let transfer = Transfer(
                request: request, destination: destination, maximum: settings.maximumResponseSize, progress: progress,
                limits: limits.of(request), timer: timer, observer: observer)
            let exchange = Exchange(request, transfer: transfer, connections: connections, cookies: cookies)
            exchange.begin(start)
            return Disposables.create { exchange.cancel() }
        }
    }
}

extension ExchangeTransport: CustomReflectable {
    /// Shows nothing, also in a `dump`: the settings have headers and cookies.
    public var customMirror: Mirror { Mirror(self, children: []) }
}
