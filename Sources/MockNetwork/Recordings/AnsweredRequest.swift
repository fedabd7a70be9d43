import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that reached a scope, with its whole body, and its answer.
struct AnsweredRequest: Sendable {
    private let request: URLRequest
    private let answer: Answer
    private let started: Date

    init(_ request: URLRequest, _ answer: Answer, started: Date) {
        (self.request, self.answer, self.started) = (request, answer, started)
    }

    var entry: HAR.Entry {
        var result = answer.result(of: request)
        if case .failure(let error as APIError) = result, error.underlying is MockFailure { result = .failure(NoAnswerFromTheMock()) }
        return HAR.Entry(request, result, started: started, milliseconds: answer.duration * 1000, redacting: .standard)
    }
}

/// A recording shows the name of an error's type.
private struct NoAnswerFromTheMock: Error {}
