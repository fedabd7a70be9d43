import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Hands what the session tells to the exchange that it is about.
final class SessionDelegate: NSObject, URLSessionDataDelegate, Sendable {
    private let exchanges = Locked<[Int: SessionExchange]>([:])
    private let maximumResponseSize: Int?
    /// The session of the caller, rather than its delegate: who invalidates that session has its delegate released, as ever.
    private let lender: URLSession?

    init(maximumResponseSize: Int?, lender: URLSession?) {
        self.maximumResponseSize = maximumResponseSize
        self.lender = lender
    }

    func add(_ exchange: SessionExchange, for task: URLSessionTask) {
        exchanges.withLock { $0[task.taskIdentifier] = exchange }
    }

    private func exchange(of task: URLSessionTask) -> SessionExchange? {
        exchanges.withLock { $0[task.taskIdentifier] }
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
        exchange(of: task)?.isChallenged = true
        completionHandler(challenge.answerWithoutPassword, nil)
    }

    func urlSession(
        _ session: URLSession, task: URLSessionTask, didSendBodyData bytesSent: Int64, totalBytesSent: Int64,
        totalBytesExpectedToSend: Int64
    ) {
        exchange(of: task)?.exchange.sent(totalBytesSent, of: totalBytesExpectedToSend)
    }

    /// Linux goes on whatever it is answered, so that the task is cancelled by itself.
    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        completionHandler(.allow)
        guard let exchange = exchange(of: dataTask), !exchange.receive(response) else { return }
        dataTask.cancel()
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        guard let exchange = exchange(of: dataTask)?.exchange else { return }
        if !exchange.receive(data, maximum: maximumResponseSize) { dataTask.cancel() }
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        exchanges.withLock { $0.removeValue(forKey: task.taskIdentifier) }?.complete(task.response, error?.uncarried.withAppleCode)
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
