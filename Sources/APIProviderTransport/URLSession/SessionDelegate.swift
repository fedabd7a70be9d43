import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Passes a session's callbacks to the task's exchange.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    /// A task's exchange and state.
    private struct Record {
        let exchange: Exchange
        let onCompletion: (@Sendable () -> Void)?
        /// Whether the task is paused until the reader catches up.
        var isPaused = false
        var isChallenged = false
        var head: Head
        /// Whether the server closed the connection, and the request is not resent.
        var connectionWasLost = false
        /// Whether the task was told to cancel.
        var isCancelled = false
        #if canImport(FoundationNetworking)
        /// The session's libcurl queue, suspended until the cancelled task completes.
        var curlQueue: DispatchQueue?
        #endif
        /// The task's `countOfBytesSent` when the body was rewound.
        var bytesSentBeforeResend: Int64 = 0
    }

    /// The state of a response's head.
    private enum Head {
        /// The next head may be a proxy's response to CONNECT.
        case awaitedFromProxy
        /// Maybe the proxy's head, or the server's if no second head comes.
        case deferred(URLResponse)
        case awaited
        case received

        var isReceived: Bool { if case .received = self { true } else { false } }
    }

    private let records = Locked<[ObjectIdentifier: Record]>([:])
    /// Whether a custom `URLProtocol` handles requests, without a connection.
    private let hasProtocolClass: Bool
    /// The caller's session and not its delegate, so that invalidating the session still releases the delegate.
    private let delegateSession: URLSession?

    init(hasProtocolClass: Bool, delegateSession: URLSession?) {
        (self.hasProtocolClass, self.delegateSession) = (hasProtocolClass, delegateSession)
    }

    /// - Parameters:
    ///   - mayHaveTunnel: Whether the first head may be a proxy's.
    ///   - onCompletion: Called when the task completes, before the exchange does.
    func add(_ exchange: Exchange, for task: URLSessionTask, mayHaveTunnel: Bool, onCompletion: (@Sendable () -> Void)?) {
        let record = Record(exchange: exchange, onCompletion: onCompletion, head: mayHaveTunnel ? .awaitedFromProxy : .awaited)
        records.withLock { $0[ObjectIdentifier(task)] = record }
    }

    /// Calls `change` with the task's record, under the lock, and returns the result.
    private func withRecord<Result>(of task: URLSessionTask, _ change: (inout Record?) -> Result) -> Result {
        records.withLock { change(&$0[ObjectIdentifier(task)]) }
    }

    private func exchange(of task: URLSessionTask) -> Exchange? { withRecord(of: task) { $0?.exchange } }

    /// Cancels `task`, unless already cancelled or ended.
    ///
    /// Foundation on Linux puts the cancellation on the task's queue. A second `cancel()` blocks that queue, and crashes if the task
    /// completes first (Swift 6.3.1). Always call this method instead of `cancel()`.
    func cancel(_ task: URLSessionTask, of session: URLSession) {
        let isFirst = withRecord(of: task) { record in
            guard record?.isCancelled == false else { return false }
            record?.isCancelled = true
            return true
        }
        guard isFirst else { return }
        #if canImport(FoundationNetworking)
        Self.cancellationQueue.async { [self] in
            // A server that sends without a pause would keep the queue busy, and `cancel()` would wait for seconds.
            let curlQueue = hasProtocolClass ? nil : session.curlQueue
            let isRunning = withRecord(of: task) { record in
                guard record != nil else { return false }
                record?.curlQueue = curlQueue
                curlQueue?.suspend()
                return true
            }
            // `cancel()` waits for the sessions' shared queue, so a call there never returns (Swift 6.3.1).
            if isRunning { task.cancel() }
        }
        #else
        task.cancel()
        #endif
    }

    #if canImport(FoundationNetworking)
    /// The process's cancellations, so that at most one thread waits for them.
    private static let cancellationQueue = DispatchQueue(label: "APIProvider.cancels", qos: .userInitiated)
    #endif

    // MARK: - Redirects and challenges

    /// Never follows a redirect: the 3xx is the response, for the provider to follow.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        #if canImport(FoundationNetworking)
        // Calling the completion handler of a cancelled task crashes (Swift 6.3.1).
        withRecord(of: task) { if $0?.isCancelled == false { completionHandler(nil) } }
        #else
        completionHandler(nil)
        #endif
    }

    /// Declines password challenges, so the 401 is the response. The caller's session delegate, or else the system, evaluates certificates.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.isForPassword else {
            #if !canImport(FoundationNetworking)
            if delegateSession?.delegate?.urlSession?(session, didReceive: challenge, completionHandler: completionHandler) != nil {
                return
            }
            let taskDelegate = delegateSession?.taskDelegate
            if taskDelegate?.urlSession?(session, task: task, didReceive: challenge, completionHandler: completionHandler) != nil { return }
            #endif
            return completionHandler(.performDefaultHandling, nil)
        }
        withRecord(of: task) { $0?.isChallenged = true }
        #if canImport(FoundationNetworking)
        // With any other disposition than `.rejectProtectionSpace`, the task never completes (Swift 6.3.1,
        // swiftlang/swift-corelibs-foundation#5456). That disposition calls `cancel()`, which would block this queue.
        cancel(task, of: session)
        #else
        completionHandler(challenge.protectionSpace.isProxy() ? .performDefaultHandling : .useCredential, nil)
        #endif
    }

    // MARK: - The request's body

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        recordSent(totalBytesSent, of: task)
    }

    private func recordSent(_ count: Int64, of task: URLSessionTask) {
        guard let record = withRecord(of: task, { $0 }) else { return }
        record.exchange.didSend(max(count - record.bytesSentBeforeResend, 0), of: record.exchange.bodyCount)
    }

    #if canImport(FoundationNetworking)
    /// Called when the server closes a reused connection and libcurl sends the request again (RFC 9112, section 9.3.1). Without this
    /// method, libcurl would send only the unread rest of the body, and wait forever (Swift 6.3.1).
    func urlSession(_ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping (InputStream?) -> Void) {
        let stream = task.originalRequest?.httpBodyStream
        if let exchange = exchange(of: task), exchange.request.isIdempotent, let body = stream as? BodyStream {
            let sent = task.countOfBytesSent
            withRecord(of: task) { $0?.bytesSentBeforeResend = sent }
            body.rewind()
            return completionHandler(body)
        }
        withRecord(of: task) { $0?.connectionWasLost = true }
        // For some bodies, libcurl never reads the new stream, and the request would hang.
        cancel(task, of: session)
        // If the original body is not a stream, passing one crashes Foundation. Otherwise, pass a stream that fails at the first read.
        completionHandler(stream == nil ? nil : BodyStream(RequestBody([.file(URL(fileURLWithPath: "/dev/null/none"), count: 1)])))
    }
    #endif

    // MARK: - The response

    /// On Linux, a session ignores `.cancel`. So this always allows the response, and cancels the task explicitly.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        let isDeferred = withRecord(of: dataTask) { record in
            guard case .awaitedFromProxy? = record?.head else { return false }
            record?.head = response.mayBeConnectResponse ? .deferred(response) : .awaited
            return response.mayBeConnectResponse
        }
        // A deferred head is activity, too.
        if isDeferred { return recordSent(dataTask.countOfBytesSent, of: dataTask) }
        if !receive(response, of: dataTask) { cancel(dataTask, of: session) }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let record = withRecord(of: dataTask, { $0 }) else { return }
        let exchange = record.exchange
        switch record.head {
        case .received: break
        case .deferred(let head):
            // No proxy was asked: the only head is the server's.
            if !receive(head, of: dataTask) { return cancel(dataTask, of: session) }
        case .awaitedFromProxy, .awaited:
            // On Linux, libcurl may see the end of a head where Foundation sees none (Swift 6.3.1).
            exchange.complete(with: URLError(.cannotParseResponse))
            return cancel(dataTask, of: session)
        }
        guard exchange.receive(data) else { return cancel(dataTask, of: session) }
        if !exchange.isWritable { pause(dataTask, of: session, until: exchange) }
    }

    /// Pauses the task until the stream's reader has read most of the buffered bytes, or leaves.
    private func pause(_ task: URLSessionTask, of session: URLSession, until exchange: Exchange) {
        let setPaused: @Sendable (Bool) -> Bool? = { [self] isPaused in
            withRecord(of: task) { record in
                defer { record?.isPaused = isPaused }
                return record?.isPaused
            }
        }
        guard setPaused(true) == false else { return }
        let resume = session.pause(task)
        exchange.onWritable {
            _ = setPaused(false)
            resume()
        }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let record = withRecord(of: task, { $0.take() }) else { return }
        // On Linux, the complete 401 response arrives before the challenge. Cancelling the task then reports `.cancelled` (Swift 6.3.1).
        let isWhole =
            error == nil || record.isChallenged && task.response is HTTPURLResponse && (error as? URLError)?.code == .cancelled
        // On Linux, the head of a redirect without a Location comes only here, and the body never (Swift 6.3.1).
        if isWhole, !record.head.isReceived, let response = task.response as? HTTPURLResponse, response.statusCode >= 200 {
            _ = receive(response, record)
        }
        #if canImport(FoundationNetworking)
        record.curlQueue?.resume()
        #endif
        record.onCompletion?()
        let error = isWhole ? nil : error.map { explain($0, of: task) }
        record.exchange.complete(with: record.connectionWasLost ? URLError(.networkConnectionLost) : error)
    }

    /// The reason why `task` ended with `error`.
    private func explain(_ error: any Error, of task: URLSessionTask) -> any Error {
        let failure = task.bodyError ?? error.unpackedFromSession.mappingLibcurlMessage(with: task.response)
        // If bytes were sent before a connection failed, a reused connection broke. The server may have received the request.
        let hasFailedOnNewConnection = (failure as? URLError)?.requestWasNotSent == true && task.countOfBytesSent > 0
        return hasFailedOnNewConnection ? URLError(.networkConnectionLost) : failure
    }

    /// Returns false if the exchange accepts no body for this response.
    private func receive(_ response: URLResponse, of task: URLSessionTask) -> Bool {
        if !hasProtocolClass, let response = response as? HTTPURLResponse, response.statusCode < 200 {
            // An informational response is activity, but not the response, unless from a custom `URLProtocol`.
            recordSent(task.countOfBytesSent, of: task)
            return true
        }
        let record = withRecord(of: task) { record in
            defer { record?.head = .received }
            return record
        }
        guard let record, let response = response as? HTTPURLResponse else { return true }
        return receive(response, record)
    }

    /// - Parameter record: The task's record before this head.
    private func receive(_ response: HTTPURLResponse, _ record: Record) -> Bool {
        // A custom `URLProtocol` takes the whole body, and no session reports that.
        if !record.head.isReceived, hasProtocolClass { record.exchange.didSendBody() }
        return record.exchange.receive(response)
    }

    #if !canImport(FoundationNetworking)
    func urlSession(_ session: URLSession, taskIsWaitingForConnectivity task: URLSessionTask) {
        delegateSession?.taskDelegate?.urlSession?(session, taskIsWaitingForConnectivity: task)
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        exchange(of: task)?.collect(metrics)
        delegateSession?.taskDelegate?.urlSession?(session, task: task, didFinishCollecting: metrics)
    }
    #endif
}

#if !canImport(FoundationNetworking)
extension URLSession {
    fileprivate var taskDelegate: (any URLSessionTaskDelegate)? { delegate as? any URLSessionTaskDelegate }
}
#endif

extension URLSessionTask {
    /// The error from reading the body during the transfer.
    fileprivate var bodyError: (any Error)? {
        #if canImport(FoundationNetworking)
        return originalRequest?.httpBodyStream?.streamError
        #else
        return nil
        #endif
    }
}
