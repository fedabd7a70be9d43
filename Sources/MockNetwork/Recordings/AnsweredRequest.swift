import APIProvider
package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that reached a scope, and its reply.
struct Traffic: Sendable {
    private let request: URLRequest
    private let reply: Reply
    private let started: Date

    init(_ request: URLRequest, _ recorded: RecordedRequest, _ reply: Reply, started: Date) {
        var request = request
        if !recorded.body.isEmpty { request.httpBody = recorded.body }  // A stream has been read to its end.
        (self.request, self.reply, self.started) = (request, reply, started)
    }

    fileprivate var entry: HAR.Entry {
        var result = reply.response(to: request)
        if case .failed(let error) = reply.end, error is MockFailure { result = .failure(NoAnswerFromTheMock()) }
        return HAR.Entry(request, result, started: started, milliseconds: reply.delay * 1000, redacting: .secrets)
    }
}

/// A recording shows the name of an error's type.
private struct NoAnswerFromTheMock: Error {}

extension MockURLProtocol {
    /// The requests of the scope and their replies as a HAR 1.2 file without secrets. `nil` if no request has come.
    package static var traffic: Data? {
        let traffic = scope.state.withLock(\.traffic)
        guard !traffic.isEmpty else { return nil }
        return RecordingFile.file(of: traffic.compactMap { try? RecordingFile.encoded($0.entry) })
    }
}
