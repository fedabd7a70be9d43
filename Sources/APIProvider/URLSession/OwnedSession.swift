import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The sessions of a transport. They take no more requests when nothing holds them: neither the transport nor a single of it.
final class OwnedSession: Sendable {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let isForNetwork: Bool
    #if !canImport(FoundationNetworking)
    private let streams = Locked<URLSession?>(nil)
    #endif

    /// - Parameters:
    ///   - isForNetwork: Whether no protocol class of the app answers.
    ///   - callersSession: The one whose delegate judges certificates.
    ///   - callbacks: Where the delegate is called; `nil` is a queue of the session's own.
    init(_ configuration: URLSessionConfiguration, isForNetwork: Bool, callersSession: URLSession?, callbacks: CallbackQueue?) {
        delegate = SessionDelegate(isForNetwork: isForNetwork, callersSession: callersSession)
        self.isForNetwork = isForNetwork
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: callbacks)
    }

    deinit {
        session.finishTasksAndInvalidate()
        #if !canImport(FoundationNetworking)
        streams.withLock { $0.take() }?.finishTasksAndInvalidate()
        #endif
    }

    /// Sends the request of `exchange`, and returns what stops it.
    func start(_ exchange: Exchange) -> any Disposable {
        let request = exchange.request
        let session = session(for: request)
        let task: URLSessionTask
        do {
            task = try session.task(for: request, isForNetwork: isForNetwork)
        } catch {
            exchange.complete(with: error)
            return Disposables.create()
        }
        delegate.add(exchange, for: task)
        task.resume()
        #if canImport(FoundationNetworking)
        if session !== self.session { session.finishTasksAndInvalidate() }
        #endif
        return Disposables.create { [delegate] in delegate.cancel(task, of: session) }
    }

    private func session(for request: PreparedRequest) -> URLSession {
        guard isForNetwork else { return session }
        #if canImport(FoundationNetworking)
        if request.isStreamed {
            // Only a whole session can be held back.
            let callbacks = StreamCallbackQueue()
            let session = URLSession(configuration: session.configuration.forStreams(), delegate: delegate, delegateQueue: callbacks)
            callbacks.hold(session)
            return session
        }
        guard request.wouldBeSentAgain else { return session }
        // It gets a new connection, on which it is sent once.
        return URLSession(configuration: session.configuration, delegate: delegate, delegateQueue: session.delegateQueue)
        #else
        guard request.isStreamed else { return session }
        return streams.withLock { streams in
            let session = streams ?? URLSession(configuration: session.configuration.forStreams(), delegate: delegate, delegateQueue: nil)
            streams = session
            return session
        }
        #endif
    }
}
