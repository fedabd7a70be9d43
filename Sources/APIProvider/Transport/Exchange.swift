import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request on its way, and what has come of the response.
final class Exchange: @unchecked Sendable {  // What is no lock is touched on the session's serial delegate queue alone.
    /// Decoding runs where events come: not on the session's queue, of which there is one for all requests.
    private static let events = DispatchQueue(label: "APIProvider.events", attributes: .concurrent)

    /// What is called while the exchange is under way, and let go at its end.
    private struct Callbacks {
        let progress: (@Sendable (TransferProgress) -> Void)?
        let observer: Single<APIResponse>.SingleObserver
    }

    private let request: URLRequest
    private let callbacks: Locked<Callbacks?>
    private var data = Data()
    private var transferred = TransferProgress()
    /// What ended the exchange before the session did.
    private var failure: URLError?
    var isChallenged = false

    init(
        request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?, observer: @escaping Single<APIResponse>.SingleObserver
    ) {
        self.request = request
        callbacks = Locked(Callbacks(progress: progress, observer: observer))
    }

    func sent(_ count: Int64, of total: Int64) {
        transferred.bytesSent = count
        transferred.bytesToSend = total > 0 ? total : nil
        report()
    }

    /// False once the response is larger than `maximum`.
    func receive(_ chunk: Data, from task: URLSessionTask, maximum: Int?) -> Bool {
        guard failure == nil else { return false }
        if let maximum, data.count + chunk.count > maximum {
            let text = "the response is larger than the transport's maximumResponseSize of \(maximum) bytes"
            failure = URLError(.dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: text])
            data = Data()
            return false
        }
        data.append(chunk)
        transferred.bytesReceived = Int64(data.count)
        transferred.bytesToReceive = task.countOfBytesExpectedToReceive > 0 ? task.countOfBytesExpectedToReceive : nil
        report()
        return true
    }

    func complete(_ response: URLResponse?, _ error: (any Error)?) {
        guard let observer = callbacks.withLock({ $0.take() })?.observer else { return }
        let event = event(response, error)
        Self.events.async { observer(event) }
    }

    /// Cancels `task`, unless it has completed. From now on nothing is called.
    func cancel(_ task: URLSessionTask) {
        guard callbacks.withLock({ $0.take() }) != nil else { return }
        task.cancelFromAnywhere()
    }

    private func report() {
        callbacks.withLock { $0?.progress }?(transferred)
    }

    private func event(_ response: URLResponse?, _ error: (any Error)?) -> SingleEvent<APIResponse> {
        let response = response as? HTTPURLResponse
        switch (failure ?? error, response) {
        case (nil, let response?):
            return .success(APIResponse(request: request, response: response, data: data))
        case (let error as URLError, let response?) where isChallenged && error.code == .cancelled:
            // On Linux the response comes whole, then the challenge, and when that is rejected, this error.
            return .success(APIResponse(request: request, response: response, data: data))
        case (let error?, _):
            return .failure(APIError.transport(request, underlying: error))
        case (nil, nil):
            return .failure(APIError.transport(request, underlying: URLError(.badServerResponse)))
        }
    }
}
