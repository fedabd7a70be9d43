import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One request on its way, and what has come of the response.
final class Exchange: @unchecked Sendable {  // The variables are touched on the session's serial delegate queue alone.
    /// Decoding runs where events come: not on the session's queue, of which there is one for all requests.
    private static let events = DispatchQueue(label: "APIProvider.events", attributes: .concurrent)

    private let request: URLRequest
    private let progress: (@Sendable (TransferProgress) -> Void)?
    private let observer: Single<APIResponse>.SingleObserver
    private let isComplete = Locked(false)
    private var data = Data()
    private var transferred = TransferProgress()
    /// What ended the exchange before the session did.
    private var failure: URLError?
    var isChallenged = false

    init(
        request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?, observer: @escaping Single<APIResponse>.SingleObserver
    ) {
        self.request = request
        self.progress = progress
        self.observer = observer
    }

    func sent(_ count: Int64, of total: Int64) {
        transferred.bytesSent = count
        transferred.bytesToSend = total > 0 ? total : nil
        progress?(transferred)
    }

    /// False once the response is larger than `maximum`.
    func receive(_ chunk: Data, from task: URLSessionTask, maximum: Int?) -> Bool {
        guard failure == nil else { return false }
        if let maximum, data.count + chunk.count > maximum {
            failure = URLError(.dataLengthExceedsMaximum)
            data = Data()
            return false
        }
        data.append(chunk)
        transferred.bytesReceived = Int64(data.count)
        transferred.bytesToReceive = task.countOfBytesExpectedToReceive > 0 ? task.countOfBytesExpectedToReceive : nil
        progress?(transferred)
        return true
    }

    func complete(_ response: URLResponse?, _ error: (any Error)?) {
        isComplete.withLock { $0 = true }
        let event = event(response, error)
        Self.events.async { [observer] in observer(event) }
    }

    /// Cancels `task`, unless it has completed.
    func cancel(_ task: URLSessionTask) {
        guard !isComplete.withLock({ $0 }) else { return }
        task.cancelFromAnywhere()
    }

    private func event(_ response: URLResponse?, _ error: (any Error)?) -> SingleEvent<APIResponse> {
        let response = response as? HTTPURLResponse
        switch (failure ?? error, response) {
        case (nil, let response?):
            return .success(APIResponse(request: request, response: response, data: data))
        case (_?, let response?) where isChallenged && failure == nil:
            // On Linux the response comes whole, then the challenge, and when that is rejected, an error.
            return .success(APIResponse(request: request, response: response, data: data))
        case (let error?, _):
            return .failure(APIError.transport(request, underlying: error))
        case (nil, nil):
            return .failure(APIError.transport(request, underlying: URLError(.badServerResponse)))
        }
    }
}
