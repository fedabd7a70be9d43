import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The session of a transport. It takes no more requests when nothing holds it: neither the transport nor a single of it.
final class OwnedSession: Sendable {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let isForNetwork: Bool

    /// - Parameters:
    ///   - isForNetwork: Whether no protocol class of the app answers.
    ///   - callersSession: The one whose delegate judges certificates.
    ///   - callbacks: Where the delegate is called; `nil` is a queue of the session's own.
    init(_ configuration: URLSessionConfiguration, isForNetwork: Bool, callersSession: URLSession?, callbacks: CallbackQueue?) {
        delegate = SessionDelegate(isForNetwork: isForNetwork, callersSession: callersSession)
        self.isForNetwork = isForNetwork
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: callbacks)
    }

    deinit { session.finishTasksAndInvalidate() }

    /// Sends the request of `exchange`, and returns what stops it.
    func start(_ exchange: Exchange) -> any Disposable {
        let request = exchange.request
        #if canImport(FoundationNetworking)
        let needsNewConnection = isForNetwork && request.wouldBeSentAgain
        let session =
            needsNewConnection
            ? URLSession(configuration: session.configuration, delegate: delegate, delegateQueue: session.delegateQueue) : session
        defer { if needsNewConnection { session.finishTasksAndInvalidate() } }
        #endif
        let task = session.task(for: request, isForNetwork: isForNetwork)
        delegate.add(exchange, for: task)
        task.resume()
        return Disposables.create { task.cancelFromAnywhere() }
    }
}
