public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests by a `URLSession` of its own, in the same way on Apple's systems and on Linux.
///
/// It follows redirects itself: at most 20; 301 and 302 turn `POST`, and 303 every method but `HEAD`, into `GET`; 307 and 308 keep method
/// and body; headers with secrets, by ``Redaction/secrets``, are dropped when scheme, host or port changes; `https` is never left for
/// `http`. What cannot be followed is itself the response, as is what would send a body that is a stream once more. A challenge for a user
/// name and a password gets none: the 401 is the response. Events come on a background queue.
///
/// The configuration's `timeoutIntervalForRequest` is for silence, and its `timeoutIntervalForResource` for each request as a whole, anew
/// after a redirect.
/// <doc:BadNetworks> shows what comes of each kind of failure.
///
/// A request that is in flight ends though the transport is let go.
public final class URLSessionTransport: Transport {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let additionalHeaders: HTTPHeaders
    private let cookies: HTTPCookieStorage?
    private let isForNetwork: Bool
    private let limits: TimeLimits
    private let timer: ExchangeTimer?
    private let connections: ConnectionQueue?

    /// A transport with a session of `configuration`, which is copied.
    ///
    /// Its `httpAdditionalHeaders` are set on each request by the transport, so that they too are dropped on the way to another origin.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration. One for the background is not for this: it has its own identifier, and no handlers.
    ///   - maximumResponseSize: How many bytes a response's body may have, in memory or in a file. One that passes it fails at once with
    ///     `URLError.dataLengthExceedsMaximum`. `nil` is no limit.
    public convenience init(configuration: URLSessionConfiguration, maximumResponseSize: Int? = nil) {
        self.init(configuration: configuration, maximumResponseSize: maximumResponseSize, lender: nil)
    }

    /// A transport with the configuration of `session`: its protocol classes, timeouts, headers and cookies. The requests run in a session
    /// of the transport's own, because only a session's own delegate sees the data on Linux.
    ///
    /// The delegate of `session` is still asked about server trust and client certificates, and told of metrics, where the platform has
    /// them; Linux has not. It is called with the transport's own session and task. The transport holds `session` while that has a
    /// delegate: to let the delegate go earlier, invalidate `session`.
    ///
    /// - Parameters:
    ///   - session: Lends its configuration.
    ///   - maximumResponseSize: As in ``init(configuration:maximumResponseSize:)``.
    public convenience init(session: URLSession, maximumResponseSize: Int? = nil) {
        let lender = session.delegate == nil ? nil : session
        self.init(configuration: session.configuration, maximumResponseSize: maximumResponseSize, lender: lender)
    }

    /// - Parameter scheduler: The clock of timeouts on Linux, where those of a session are not exact.
    package init(
        configuration: URLSessionConfiguration, maximumResponseSize: Int? = nil, lender: URLSession?,
        scheduler: any Scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
    ) {
        limits = TimeLimits(of: configuration)
        isForNetwork = !configuration.hasOwnProtocols
        connections = isForNetwork ? configuration.connectionQueue() : nil
        let configuration = configuration.ownCopy()
        additionalHeaders = HTTPHeaders(configuration.httpAdditionalHeaders ?? [:])
        configuration.httpAdditionalHeaders = nil
        cookies = configuration.takeCookies()
        delegate = SessionDelegate(maximumResponseSize: maximumResponseSize, lender: lender)
        let queue = OperationQueue.ofDelegate()
        timer = queue.map { ExchangeTimer(scheduler: scheduler, queue: $0) }
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends `request` and follows redirects. Disposing cancels the task.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Called on a background queue, one call at a time. After a redirect it starts again.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        start(request, to: nil, progress)
    }

    /// Sends `request`, follows redirects, and writes the body of the last response to `destination` as it comes, so that memory stays flat.
    ///
    /// It is written to a hidden file in the destination's folder, which takes the destination's place at the end. On failure, and when the
    /// single is disposed, that file is removed. A process that is killed leaves it there; its name ends in `.download`. A destination that
    /// cannot be written is ``APIError/transport(_:underlying:)`` with a `CocoaError`, and the response is not waited for.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - destination: The file to write. Its folder must exist. An old file is replaced and its mode kept, a link to a file is followed, and
    ///     anything else that stands there is not replaced.
    ///   - progress: Called on a background queue, one call at a time. After a redirect it starts again.
    public func download(
        _ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        start(request, to: destination, progress)
    }

    private func start(
        _ request: URLRequest, to destination: URL?, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        do {
            return .following(try withAdditionalHeaders(request)) { self.exchange($0, to: destination, progress) }
        } catch {
            return .error(error)
        }
    }

    private func withAdditionalHeaders(_ request: URLRequest) throws -> URLRequest {
        var request = request
        for (name, value) in additionalHeaders where request.value(forHTTPHeaderField: name) == nil {
            try HTTPHeaders.check(name, value)
            request.setValue(value, forHTTPHeaderField: name)
        }
        try request.check()
        return request
    }

    private func exchange(
        _ request: URLRequest, to destination: URL?, _ progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        let host = connections == nil ? "" : request.url?.origin ?? ""
        return Single.create { [self] observer in
            let exchange = SessionExchange(
                Exchange(
                    request: request, destination: destination, progress: progress, limits: limits.of(request), timer: timer,
                    observer: observer),
                isForNetwork: isForNetwork, connections: connections, host: host)
            // A session whose transport is let go makes no more tasks, and traps: a request that waits for a connection holds on to it.
            exchange.begin { [self] in
                let task = session.dataTask(with: request.adapted(cookies: cookies))
                delegate.add(exchange, for: task)
                task.resume()
                return task
            }
            return Disposables.create { exchange.cancel() }
        }
    }
}

extension URLSessionTransport: CustomReflectable {
    /// Shows nothing, also in a `dump`: the configuration of a session has headers and cookies.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

extension HTTPHeaders {
    fileprivate init(_ fields: [AnyHashable: Any]) {
        self.init()
        for (name, value) in fields { self["\(name)"] = "\(value)" }
    }
}
