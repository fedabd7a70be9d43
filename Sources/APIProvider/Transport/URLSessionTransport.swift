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
    private let exchanges: ExchangeTransport

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
        var settings = ExchangeTransport.Settings()
        settings.additionalHeaders = HTTPHeaders(configuration.httpAdditionalHeaders ?? [:])
        settings.maximumResponseSize = maximumResponseSize
        settings.timeoutInterval = configuration.timeoutIntervalForRequest
        settings.timeoutIntervalForResource = configuration.timeoutIntervalForResource
        let isForNetwork = !configuration.hasOwnProtocols
        settings.connectionsPerHost = isForNetwork ? configuration.connectionsPerHost : nil

        let configuration = configuration.ownCopy()
        configuration.httpAdditionalHeaders = nil
        settings.cookies = configuration.takeCookies()
        let queue = OperationQueue.ofDelegate()
        let delegate = SessionDelegate(isForNetwork: isForNetwork, lender: lender)
        let own = OwnSession(URLSession(configuration: configuration, delegate: delegate, delegateQueue: queue))
        exchanges = ExchangeTransport(
            settings, timer: queue.map { TransferTimer(scheduler: scheduler, queue: $0) }, keepsCookies: false
        ) { exchange in
            let task = own.session.dataTask(with: exchange.request.adapted())
            delegate.add(exchange, for: task)
            task.resume()
            return Disposables.create { task.cancelFromAnywhere() }
        }
    }

    /// Sends `request` and follows redirects. Disposing cancels the task.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Called on a background queue, one call at a time. After a redirect it starts again.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        exchanges.send(request, progress: progress)
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
        exchanges.download(request, to: destination, progress: progress)
    }
}

/// A session that takes no more requests when nothing holds it: neither the transport nor a single of it.
private final class OwnSession: Sendable {
    let session: URLSession

    init(_ session: URLSession) { self.session = session }

    deinit { session.finishTasksAndInvalidate() }
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
