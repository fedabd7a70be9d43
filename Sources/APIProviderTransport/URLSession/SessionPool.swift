import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A transport's sessions, invalidated after the transport and the last single.
final class SessionPool: Sendable {
    private let session: URLSession
    private let delegate: SessionDelegate
    private let hasProtocolClass: Bool
    /// Describes a task to its protocol class; `nil` without such a class.
    private let describeTask: (@Sendable (PreparedRequest) -> String)?
    #if canImport(FoundationNetworking)
    private let idleSessions: IdleSessionPool
    #else
    private let streamSession = Locked<URLSession?>(nil)
    #endif

    /// - Parameters:
    ///   - hasProtocolClass: Whether a custom `URLProtocol` handles requests, without a connection.
    ///   - delegateSession: The session with the delegate for certificates.
    ///   - delegateQueue: The delegate's queue; `nil` is the session's own.
    init(_ configuration: URLSessionConfiguration, hasProtocolClass: Bool, delegateSession: URLSession?, delegateQueue: OperationQueue?) {
        delegate = SessionDelegate(hasProtocolClass: hasProtocolClass, delegateSession: delegateSession)
        self.hasProtocolClass = hasProtocolClass
        describeTask = hasProtocolClass ? configuration.taskDescribingClass?.describeTask : nil
        session = URLSession(configuration: configuration, delegate: delegate, delegateQueue: delegateQueue)
        #if canImport(FoundationNetworking)
        idleSessions = IdleSessionPool(limit: configuration.httpMaximumConnectionsPerHost)
        #endif
    }

    deinit {
        session.finishTasksAndInvalidate()
        #if canImport(FoundationNetworking)
        idleSessions.invalidate()
        #else
        streamSession.withLock { $0.take() }?.finishTasksAndInvalidate()
        #endif
    }

    // MARK: - Starting a task

    /// Sends the exchange's request, and returns a disposable to stop the task.
    func start(_ exchange: Exchange) -> any Disposable {
        let request = exchange.request
        let session = session(for: request)
        var onCompletion: (@Sendable () -> Void)?
        #if canImport(FoundationNetworking)
        if session !== self.session && request.mustNotShareConnection {
            onCompletion = { [idleSessions] in idleSessions.add(session) }
        }
        defer { if session !== self.session && onCompletion == nil { session.finishTasksAndInvalidate() } }
        #endif
        let task: URLSessionTask
        do {
            task = try session.task(for: request, hasProtocolClass: hasProtocolClass)
        } catch {
            onCompletion?()
            exchange.complete(with: error)
            return Disposables.create()
        }
        if hasProtocolClass, !request.secrets.isEmpty { task.requestSecrets = request.secrets }
        if let describeTask { task.taskDescription = describeTask(request) }
        delegate.add(exchange, for: task, mayHaveTunnel: !hasProtocolClass && request.mayHaveTunnel, onCompletion: onCompletion)
        task.resume()
        return RunningTask(task: task, session: session, delegate: delegate)
    }

    private struct RunningTask: Disposable {
        let task: URLSessionTask
        let session: URLSession
        let delegate: SessionDelegate

        func dispose() { delegate.cancel(task, of: session) }
    }

    private func session(for request: PreparedRequest) -> URLSession {
        guard !hasProtocolClass else { return session }
        #if canImport(FoundationNetworking)
        if request.bodyDestination.isStream {
            // Only a whole session can be paused.
            let callbacks = StreamCallbackQueue()
            let session = URLSession(configuration: session.configuration.forStreams(), delegate: delegate, delegateQueue: callbacks)
            callbacks.attach(to: session)
            return session
        }
        func makeSession() -> URLSession {
            URLSession(configuration: session.configuration, delegate: delegate, delegateQueue: session.delegateQueue)
        }
        if request.mustNotShareConnection { return idleSessions.takeSession(orMake: makeSession) ?? session }
        // On a new connection, the request is sent only once.
        return request.mayBeResentByLibcurl ? makeSession() : session
        #else
        guard request.bodyDestination.isStream else { return session }
        return streamSession.withLock { streamSession in
            let session =
                streamSession ?? URLSession(configuration: session.configuration.forStreams(), delegate: delegate, delegateQueue: nil)
            streamSession = session
            return session
        }
        #endif
    }
}
