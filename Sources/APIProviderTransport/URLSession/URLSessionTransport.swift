public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sends requests with a private `URLSession`, in the same way on Apple's systems and on Linux.
///
/// A redirect is a response, for the provider to follow. When a server asks for a user name and a password, the 401 is the response.
///
/// The configuration's `timeoutIntervalForRequest` limits the wait for more data. `timeoutIntervalForResource` limits each request as a
/// whole, and starts again after a redirect. <doc:BadNetworks> lists the error for each kind of failure.
///
/// Events come on a background queue. A request in flight ends even if you release the transport.
public final class URLSessionTransport: Transport {
    private let exchanges: ExchangeTransport
    private let hasProtocolClass: Bool
    /// The reason for sending no requests, if any.
    private let refusal: String?
    private let multipartDirectory: URL?
    /// The cookies sent by the session, or by the transport instead.
    private let cookies: CookieJar?

    /// Creates a transport with a private session and a copy of `configuration`.
    ///
    /// The transport sets `httpAdditionalHeaders` on each request itself. If the provider has a base URL, a request to another origin gets
    /// only harmless ones, such as `Accept-Language`. A redirect to another origin drops the others, too.
    ///
    /// The transport does not use `urlCache`, on any platform. To cache responses, add `CacheMiddleware` from the module APIProviderCache.
    ///
    /// A body in memory may have 256 MB, and one in a file or a stream has no limit. A larger one fails at once with
    /// `URLError.dataLengthExceedsMaximum`. For another limit, see ``init(configuration:maxResponseSize:)``.
    ///
    /// - Parameter configuration: The session's configuration. With a background configuration, each request fails with
    ///   ``APIError/invalidRequest(reason:underlying:)``, because your app may not be running at the end of a background transfer. So
    ///   does each request on Linux with a proxy in `connectionProxyDictionary`, because Foundation would send it past the proxy.
    public convenience init(configuration: URLSessionConfiguration) { self.init(configuration: configuration, delegateSession: nil) }

    /// Creates a transport like ``init(configuration:)``, with a limit for the size of responses.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration.
    ///   - maxResponseSize: The maximum size of a response's body in bytes, in memory or in a file: a limit for answers counts for
    ///     downloads, too, so give those a provider of their own. A larger one fails at once with `URLError.dataLengthExceedsMaximum`.
    ///     `nil` is no limit.
    public convenience init(configuration: URLSessionConfiguration, maxResponseSize: Int?) {
        self.init(configuration: configuration, .init(maxResponseSize: maxResponseSize), delegateSession: nil)
    }

    /// Creates a transport with the configuration of `session`: protocol classes, timeouts, headers and cookies, but not the cache.
    ///
    /// Requests run in the transport's own session. On Apple's systems, the delegate of `session` still decides about server trust and
    /// client certificates, and gets metrics and notice of waiting for a connection, with the transport's session and task. The transport
    /// holds a `session` with a delegate. To release the delegate before the transport, invalidate `session`.
    ///
    /// A body in memory may have 256 MB, and one in a file or a stream has no limit. A larger one fails at once with
    /// `URLError.dataLengthExceedsMaximum`. For another limit, see ``init(session:maxResponseSize:)``.
    ///
    /// - Parameter session: The session with the configuration.
    public convenience init(session: URLSession) { self.init(session: session, .init()) }

    /// Creates a transport like ``init(session:)``, with a limit for the size of responses.
    ///
    /// - Parameters:
    ///   - session: The session with the configuration.
    ///   - maxResponseSize: The maximum size of a response's body: see ``init(configuration:maxResponseSize:)``.
    public convenience init(session: URLSession, maxResponseSize: Int?) {
        self.init(session: session, .init(maxResponseSize: maxResponseSize))
    }

    private convenience init(session: URLSession, _ settings: ExchangeTransport.Settings) {
        let delegateSession = session.delegate == nil ? nil : session
        self.init(configuration: session.configuration, settings, delegateSession: delegateSession)
    }

    /// - Parameters:
    ///   - multipartDirectory: The directory for a temporary file with a body's parts; `nil` to stream them.
    ///   - hasProtocolClass: Whether a custom `URLProtocol` handles requests, without a connection; `nil` to ask the configuration.
    ///   - scheduler: The clock for timeouts on Linux, where a session's timeouts are not exact.
    init(
        configuration: URLSessionConfiguration, _ settings: ExchangeTransport.Settings = .init(), delegateSession: URLSession?,
        multipartDirectory: URL? = URLSession.multipartDirectory, hasProtocolClass: Bool? = nil,
        scheduler: any Scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
    ) {
        var settings = settings
        settings.additionalHeaders = HTTPHeaders((configuration.httpAdditionalHeaders ?? [:]).map { (key: "\($0)", value: "\($1)") })
        let hasProtocolClass = hasProtocolClass ?? configuration.hasProtocolClass
        refusal = configuration.refusal(hasProtocolClass: hasProtocolClass)
        // A second session with the identifier would take the first one's transfers.
        let configuration = configuration.identifier == nil ? configuration : .ephemeral
        self.hasProtocolClass = hasProtocolClass
        self.multipartDirectory = multipartDirectory

        #if canImport(FoundationNetworking)
        // The session's idle timeout also runs while a request waits for a connection, and session timers are not exact (Swift 6.3.1). So
        // the transport has a separate queue and timers.
        settings.timeoutInterval = configuration.timeoutIntervalForRequest
        settings.timeoutIntervalForResource = configuration.timeoutIntervalForResource
        settings.maxRequestsPerHost = hasProtocolClass ? nil : configuration.httpMaximumConnectionsPerHost
        let delegateQueue = CallbackQueue()
        let timeoutMonitor = TimeoutMonitor(scheduler, execute: { delegateQueue.addOperation($0) }, keepsTimer: true)
        #else
        settings.maxRequestsPerHost = nil
        let (delegateQueue, timeoutMonitor): (OperationQueue?, TimeoutMonitor?) = (nil, nil)
        #endif
        cookies = configuration.cookies
        let pool = SessionPool(
            configuration.forTransport(), hasProtocolClass: hasProtocolClass, delegateSession: delegateSession, delegateQueue: delegateQueue
        )
        let handlesCookies = configuration.transportHandlesCookies
        exchanges = ExchangeTransport(settings, timeoutMonitor, cookies: cookies, handlesCookies: handlesCookies) { pool.start($0) }
    }

    // MARK: - Sending

    /// Sends `request`. Disposing cancels the task.
    ///
    /// ### Downloads
    ///
    /// A successful response's body goes to a hidden file beside the destination, so memory stays flat. On Linux, some 100 to 160 MB of a
    /// large file may wait in Foundation. The file replaces the destination when the endpoint creates the value: see
    /// ``Endpoint/init(_:_:query:headers:body:timeoutInterval:downloadingTo:)``. With a file that cannot be written, the single fails at
    /// once with ``APIError/transport(_:underlying:)`` and a `CocoaError`.
    ///
    /// ### Streams
    ///
    /// A streamed response succeeds with the head. The server waits while the reader is behind. `timeoutIntervalForResource` and the
    /// maximum size do not apply.
    ///
    /// ### Progress
    ///
    /// Progress is reported on a background queue, one call at a time, and restarts after a redirect and when a request is resent.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> {
        do {
            if let refusal { throw APIError.invalid(refusal) }
            try request.checkScheme()
            try request.checkBody()
        } catch {
            return .error(error)
        }
        guard !hasProtocolClass, let multipartDirectory, let body = request.body, body.file == nil, body.hasFiles else {
            return exchanges.send(request)
        }
        return .uploading(request, body, from: multipartDirectory) { [exchanges] in exchanges.send($0) }
    }
}

extension URLSessionTransport {
    /// The cookies for `request` now, and the missing headers of the session's configuration.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? {
        let added = exchanges.addedHeaders(for: request)
        #if canImport(FoundationNetworking)
        return added
        #else
        // A session may send stored cookies in place of the request's own, so both count.
        var (all, plain) = (added ?? [:], request)
        plain.headers["Cookie"] = nil
        guard let stored = cookies?.header(for: plain) else { return added }
        all["Cookie"] = [all["Cookie"] ?? request.headers["Cookie"], stored].compactMap { $0 }.joined(separator: "; ")
        return all
        #endif
    }
}
