public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Sends requests with a `URLSession` of its own, in the same way on Apple's systems and on Linux.
///
/// The transport follows up to 20 redirects. A 301 or 302 turns `POST` into `GET`, and a 303 turns every method but `HEAD` into `GET`. A 307
/// or 308 keeps the method and the body. When scheme, host or port changes, only headers go along that say what the client takes and what the
/// body is, such as `Accept`. A redirect from `https` to `http` is not followed; the 3xx is then the response. When a server asks for a user
/// name and a password, the 401 is the response.
///
/// `timeoutIntervalForRequest` of the configuration limits how long nothing may come. `timeoutIntervalForResource` limits each request as a
/// whole, and starts again after a redirect. <doc:BadNetworks> lists what you get for each kind of failure.
///
/// Events come on a background queue. A request in flight ends even if you let the transport go.
public final class URLSessionTransport: Transport {
    private let exchanges: ExchangeTransport
    private let isForNetwork: Bool
    private let isForBackground: Bool
    private let partsFolder: URL?

    /// Creates a transport whose session has a copy of `configuration`.
    ///
    /// The transport sets `httpAdditionalHeaders` on each request itself, so that a redirect to another origin can drop them. It does not
    /// use `urlCache`, on any platform. To cache responses, add the module ResponseCache and its `CacheMiddleware`.
    ///
    /// - Parameters:
    ///   - configuration: The session's configuration. With a background configuration, each request fails with
    ///     ``APIError/invalidRequest(reason:underlying:)``, because a transfer in the background ends when your app may not be running.
    ///   - maximumResponseSize: The most bytes that a response's body may have, in memory or in a file. A larger one fails at once with
    ///     `URLError.dataLengthExceedsMaximum`. `nil` is no limit.
    public convenience init(configuration: URLSessionConfiguration, maximumResponseSize: Int? = nil) {
        self.init(configuration: configuration, maximumResponseSize: maximumResponseSize, callersSession: nil)
    }

    /// Creates a transport with the configuration of `session`: its protocol classes, timeouts, headers and cookies, but not its cache.
    ///
    /// The requests run in a session of the transport's own. On Apple's systems, the delegate of `session` is still asked about server
    /// trust and client certificates, and told of metrics; it gets the transport's own session and task. The transport holds `session`
    /// while that has a delegate. To let the delegate go earlier, invalidate `session`.
    ///
    /// - Parameters:
    ///   - session: The session whose configuration is used.
    ///   - maximumResponseSize: As in ``init(configuration:maximumResponseSize:)``.
    public convenience init(session: URLSession, maximumResponseSize: Int? = nil) {
        let callersSession = session.delegate == nil ? nil : session
        self.init(configuration: session.configuration, maximumResponseSize: maximumResponseSize, callersSession: callersSession)
    }

    /// - Parameters:
    ///   - partsFolder: Where a body with files is put together, because a session reads a single file alone; `nil` if it reads each of them.
    ///   - isForNetwork: Whether no protocol class of the app answers; `nil` if the configuration says so.
    ///   - scheduler: The clock of timeouts on Linux, where those of a session are not exact.
    package init(
        configuration: URLSessionConfiguration, maximumResponseSize: Int? = nil, callersSession: URLSession?,
        partsFolder: URL? = URLSession.folderForParts, isForNetwork: Bool? = nil,
        scheduler: any Scheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
    ) {
        var settings = ExchangeTransport.Settings()
        settings.additionalHeaders = HTTPHeaders((configuration.httpAdditionalHeaders ?? [:]).map { (key: "\($0)", value: "\($1)") })
        settings.maximumResponseSize = maximumResponseSize
        isForBackground = configuration.identifier != nil
        // A second session with the identifier would take the transfers of the first.
        let configuration = isForBackground ? .ephemeral : configuration
        let isForNetwork = isForNetwork ?? !configuration.hasProtocolsOfTheApp
        self.isForNetwork = isForNetwork
        self.partsFolder = partsFolder

        #if canImport(FoundationNetworking)
        // A session takes requests that wait for a connection for silent ones, and its timers are not exact (Swift 6.3.1).
        settings.timeoutInterval = configuration.timeoutIntervalForRequest
        settings.timeoutIntervalForResource = configuration.timeoutIntervalForResource
        settings.connectionsPerHost = isForNetwork ? configuration.httpMaximumConnectionsPerHost : nil
        let callbacks = CallbackQueue()
        let clock = Watchdog.Clock(scheduler: scheduler, executor: ClosureExecutor { callbacks.addOperation($0) })
        let cookies = configuration.cookies
        #else
        settings.connectionsPerHost = nil
        let (callbacks, clock, cookies): (CallbackQueue?, Watchdog.Clock?, Cookies?) = (nil, nil, nil)
        #endif
        let session = OwnedSession(
            configuration.forTransport(), isForNetwork: isForNetwork, callersSession: callersSession, callbacks: callbacks)
        exchanges = ExchangeTransport(settings, clock: clock, cookies: cookies) { session.start($0) }
    }

    /// Sends `request` and follows redirects. Disposing cancels the task.
    ///
    /// `progress` is called on a background queue, one call at a time. It starts again after a redirect, and when a request is sent again.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        withBody(of: request) { [exchanges] in exchanges.send($0, progress: progress) }
    }

    /// Sends `request`, follows redirects, and writes the body of the last response to `destination` as it comes.
    ///
    /// The body goes to a hidden file in the same folder, which takes the destination's place at the end, so memory stays flat. On failure,
    /// and when you dispose the single, the hidden file is removed. A process that is killed leaves it there; its name ends in `.download`.
    /// If the file cannot be written, the single fails at once with ``APIError/transport(_:underlying:)`` and a `CocoaError`.
    /// The folder must exist. An old file is replaced and its mode kept, a link to a file is followed, and anything else that stands there is
    /// not replaced. `progress` is called as in ``send(_:progress:)``.
    public func download(
        _ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        withBody(of: request) { [exchanges] in exchanges.download($0, to: destination, progress: progress) }
    }

    /// Sends `request`, follows redirects, and succeeds when the head of the last response has come: see ``Transport/stream(_:progress:)``.
    ///
    /// The server is held back while the reader is behind. `timeoutIntervalForResource` and the maximum size do not count. `progress` is called
    /// as in ``send(_:progress:)``.
    public func stream(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        withBody(of: request) { [exchanges] in exchanges.stream($0, progress: progress) }
    }

    private func withBody(
        of request: URLRequest, _ send: @escaping @Sendable (URLRequest) -> Single<APIResponse>
    ) -> Single<APIResponse> {
        do {
            guard !isForBackground else {
                throw APIError.invalid(
                    "its configuration is for the background, where a transport cannot wait for the response; use .default, and a "
                        + "URLSession for transfers in the background"
                )
            }
            // A protocol class would not see a body that is read while it is sent.
            guard isForNetwork else { return send(try request.withBodyInMemory()) }
            if request.has(.mayHaveBody), let method = request.httpMethod, ["GET", "HEAD"].contains(method) {
                throw APIError.invalid(
                    "URLSession sends no body with \(method); if the server wants one, use a transport that does, such as AsyncHTTPClientTransport"
                )
            }
            guard let partsFolder, let pieces = (request.httpBodyStream as? BodyStream)?.pieces, pieces.onlyFile == nil else {
                return send(request)
            }
            return .uploading(request, pieces, from: partsFolder, send)
        } catch {
            return .error(error)
        }
    }
}
