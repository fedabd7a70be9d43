import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Hands what the session tells to the exchange that it is about.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private struct Sending {
        let exchange: Exchange
        var isChallenged = false
        var hasHead = false
        var isLost = false
        /// How many bytes of the body had gone when it was sent again.
        var sentBefore: Int64 = 0
    }

    private let sendings = Locked<[Int: Sending]>([:])
    /// Whether no protocol class of the app answers.
    private let isForNetwork: Bool
    /// The session of the caller, rather than its delegate: who invalidates that session has its delegate released, as ever.
    private let lender: URLSession?

    init(isForNetwork: Bool, lender: URLSession?) {
        self.isForNetwork = isForNetwork
        self.lender = lender
    }

    func add(_ exchange: Exchange, for task: URLSessionTask) {
        sendings.withLock { $0[task.taskIdentifier] = Sending(exchange: exchange) }
    }

    private func exchange(of task: URLSessionTask) -> Exchange? {
        sendings.withLock { $0[task.taskIdentifier]?.exchange }
    }

    /// Redirects are the transport's: the 3xx itself is the response.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) {
        completionHandler(nil)
    }

    /// A password that is asked for is not given, so that the 401 is the response; a server's certificate is for the lender's delegate to
    /// judge, or else for the system.
    func urlSession(
        _ session: URLSession, task: URLSessionTask, didReceive challenge: URLAuthenticationChallenge,
        completionHandler: @escaping @Sendable (URLSession.AuthChallengeDisposition, URLCredential?) -> Void
    ) {
        guard challenge.isForPassword else {
            #if !canImport(FoundationNetworking)
            if lender?.delegate?.urlSession?(session, didReceive: challenge, completionHandler: completionHandler) != nil { return }
            let judge = lender?.taskDelegate
            if judge?.urlSession?(session, task: task, didReceive: challenge, completionHandler: completionHandler) != nil { return }
            #endif
            return completionHandler(.performDefaultHandling, nil)
        }
        sendings.withLock { $0[task.taskIdentifier]?.isChallenged = true }
        completionHandler(challenge.answerWithoutPassword, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        guard let sending = sendings.withLock({ $0[task.taskIdentifier] }) else { return }
        sending.exchange.sent(max(totalBytesSent - sending.sentBefore, 0), of: sending.exchange.bodyLength)
    }

    #if canImport(FoundationNetworking)
    /// A server has closed a connection that was kept open, under a request, and libcurl sends that once more (RFC 9112, section 9.3.1). Without
    /// this, it would send only what it has not yet read of the body, and wait for ever.
    func urlSession(_ session: URLSession, task: URLSessionTask, needNewBodyStream completionHandler: @escaping (InputStream?) -> Void) {
        let stream = task.originalRequest?.httpBodyStream
        if let exchange = exchange(of: task), exchange.canBeSentAgain, RetryPolicy.default.allowsRepeating(exchange.request),
            let body = stream as? BodyStream
        {
            let sent = task.countOfBytesSent
            sendings.withLock { $0[task.taskIdentifier]?.sentBefore = sent }
            body.rewind()
            return completionHandler(body)
        }
        sendings.withLock { $0[task.taskIdentifier]?.isLost = true }
        // Not every body is read again: then the request would wait for its answer.
        task.cancelFromAnywhere()
        // Where the body is no stream, one ends the process.
        completionHandler(stream == nil ? nil : BodyStream.broken)
    }
    #endif

    /// Linux goes on whatever it is answered, so that the task is cancelled by itself.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        let exchange = sendings.withLock { sendings in
            sendings[dataTask.taskIdentifier]?.hasHead = true
            return sendings[dataTask.taskIdentifier]?.exchange
        }
        if let exchange, !hand(response, to: exchange) { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(of: dataTask), !exchange.receive(data) else { return }
        dataTask.cancel()
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        guard let sending = sendings.withLock({ $0.removeValue(forKey: task.taskIdentifier) }) else { return }
        // On Linux the head of a redirect without a Location comes only here, and its body never.
        if !sending.hasHead, let response = task.response { _ = hand(response, to: sending.exchange) }
        // On Linux the response to a challenge comes whole, then the challenge, and when that is rejected, this error.
        let isWhole = sending.isChallenged && task.response is HTTPURLResponse && (error as? URLError)?.code == .cancelled
        let failure = isWhole ? nil : error.map { task.originalRequest?.bodyFailure ?? $0.uncarried.withAppleCode }
        // It was sent by a connection that was kept open, and then no new one could be made: that is not as if nothing had been sent.
        let isLost = sending.isLost || failure?.saysThatNothingWasSent == true && task.countOfBytesSent > 0
        sending.exchange.complete(with: isLost ? URLError(.networkConnectionLost) : failure)
    }

    /// False when the body of this response cannot be taken.
    private func hand(_ response: URLResponse, to exchange: Exchange) -> Bool {
        guard let response = response as? HTTPURLResponse else { return true }
        if !isForNetwork { exchange.receiveFromProtocol() }
        return exchange.receive(response, sharesConnection: response.mayBeOfHTTP2)
    }

    #if !canImport(FoundationNetworking)
    func urlSession(_ session: URLSession, task: URLSessionTask, didFinishCollecting metrics: URLSessionTaskMetrics) {
        lender?.taskDelegate?.urlSession?(session, task: task, didFinishCollecting: metrics)
    }
    #endif
}

#if !canImport(FoundationNetworking)
extension URLSession {
    fileprivate var taskDelegate: (any URLSessionTaskDelegate)? { delegate as? any URLSessionTaskDelegate }
}
#endif
