import APIProvider
import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The answer to one request, step by step. It ends after its last step, or with a failure.
struct Answer: Sendable {
    enum Step: Sendable {
        /// In seconds. A number that is not above 0 is no wait.
        case wait(TimeInterval)
        case head(HTTPURLResponse)
        case chunk(Data)
        case failure(any Error)
        /// What the test sends, until it ends. No step follows.
        case feed(StreamFeed)
    }

    let steps: [Step]

    /// A request that gets no answer ends by its timeout, or when it is cancelled.
    static let never = Answer(steps: [.wait(.infinity)])

    static func failure(_ error: any Error) -> Answer { Answer(steps: [.failure(error)]) }

    init(steps: some Sequence<Step>) { self.steps = Array(steps) }

    /// Creates a response to `request`, without a body where HTTP allows none.
    init(_ head: HTTPURLResponse, _ body: Data, to request: RecordedRequest) {
        self.init(head, body.isEmpty ? [] : [.chunk(body)], to: request)
    }

    /// Creates a response to `request` whose body comes in `steps`.
    init(_ head: HTTPURLResponse, _ steps: [Step], to request: RecordedRequest) {
        let hasBody = request.method != .head && head.statusCode != 204 && head.statusCode != 304
        self.steps = [.head(head)] + (hasBody ? steps : [])
    }
}

extension Answer {
    /// The pieces of the body. None if it is empty.
    var chunks: [Data] { steps.compactMap { if case .chunk(let chunk) = $0 { chunk } else { nil } } }

    /// What sends its body by hand.
    var feed: StreamFeed? { if case .feed(let feed) = steps.last { feed } else { nil } }
}

// Changes.
extension Answer {
    func delayed(by seconds: TimeInterval) -> Answer {
        if case .wait(let first)? = steps.first { return Answer(steps: [.wait(first + seconds)] + steps.dropFirst()) }
        return Answer(steps: [.wait(seconds)] + steps)
    }

    /// The same answer with its body in `count` pieces of about the same size, or one piece for each byte if there are fewer.
    func chunked(into count: Int) -> Answer {
        let body = Data(chunks.joined())
        let count = max(1, min(count, body.count))
        let bounds = (0...count).map { body.count * $0 / count }
        var pieces = zip(bounds, bounds.dropFirst()).map { Step.chunk(Data(body[$0..<$1])) }
        return Answer(
            steps: steps.flatMap { step in
                guard case .chunk = step else { return [step] }
                defer { pieces = [] }
                return pieces
            })
    }

    func failing(with error: any Error) -> Answer { Answer(steps: steps + [.failure(error)]) }

    /// The answer to a request that fails when nothing comes for `timeout` seconds.
    func within(_ timeout: TimeInterval) -> Answer {
        let late = steps.firstIndex { if case .wait(let seconds) = $0 { seconds > timeout } else { false } }
        guard timeout > 0, let late else { return self }
        return Answer(steps: steps[..<late] + [.wait(timeout), .failure(URLError(.timedOut))])
    }
}

/// Makes the answer to a request.
struct AnswerMaker: Sendable {
    /// Whether it calls the user's code, which may take long and send requests.
    var callsUser = false
    let make: @Sendable (RecordedRequest) throws -> Answer

    /// Returns the answer, which is a failure if it cannot be made.
    func callAsFunction(_ request: RecordedRequest) -> Answer {
        do { return try make(request) } catch { return .failure(error) }
    }

    func map(_ change: @escaping @Sendable (Answer) -> Answer) -> AnswerMaker {
        AnswerMaker(callsUser: callsUser) { change(self($0)) }
    }
}

extension HTTPURLResponse {
    static func mock(_ status: Int, headers: [String: String]?, for url: URL) throws -> HTTPURLResponse {
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers) else {
            throw MockFailure("There is no HTTP response with the status \(status).")
        }
        return response
    }
}
