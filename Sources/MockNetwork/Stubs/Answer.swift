package import APIProvider
package import Foundation
package import MiniRx

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The answer to one request: after the delay comes the head, then each step, then what the feed sends.
package struct Answer: Sendable {
    /// In seconds.
    var delay: TimeInterval = 0
    /// `nil` for a failure, or if it has been delivered.
    package var head: HTTPURLResponse?
    var steps: ArraySlice<StubResponse.Step> = []
    var feed: StreamFeed?
    /// Makes the whole answer, and delivers it on any thread. Disposing its result cancels that.
    var later: (@Sendable (_ deliver: @escaping @Sendable (Answer) -> Void) -> any Disposable)?

    /// A request without an answer ends by its timeout, or when it is cancelled.
    package static let never = Answer(delay: .infinity)

    package static func failure(_ error: any Error) -> Answer { Answer(steps: [.failure(error)]) }

    package init(head: HTTPURLResponse, steps: [StubResponse.Step] = []) { (self.head, self.steps) = (head, steps[...]) }

    /// A response whose body comes from `feed`.
    package init(head: HTTPURLResponse, feed: StreamFeed) { (self.head, self.feed) = (head, feed) }

    /// An answer that `later` makes, and delivers on any thread. Disposing its result cancels that.
    package init(later: @escaping @Sendable (_ deliver: @escaping @Sendable (Answer) -> Void) -> any Disposable) { self.later = later }

    init(
        delay: TimeInterval = 0, head: HTTPURLResponse? = nil, steps: ArraySlice<StubResponse.Step> = [], feed: StreamFeed? = nil
    ) {
        (self.delay, self.head, self.steps, self.feed) = (delay, head, steps, feed)
    }

    /// The error by which it ends.
    package var failure: (any Error)? {
        for step in steps { if case .failure(let error) = step { return error } }
        return nil
    }

    /// Returns a response to `request`, without a body if HTTP allows none.
    static func response(
        _ head: HTTPURLResponse, _ steps: [StubResponse.Step], feed: StreamFeed? = nil, to request: ReceivedRequest
    ) -> Answer {
        let hasBody = request.method != .head && head.statusCode != 204 && head.statusCode != 304
        guard !hasBody else { return Answer(head: head, steps: steps[...], feed: feed) }
        feed?.readerDidLeave()
        return Answer(head: head)
    }

    /// The pieces of the body. Empty if there is no body.
    package var chunks: [Data] { steps.compactMap { if case .data(let chunk) = $0 { chunk } else { nil } } }

    /// The mistake in what the test has set up that is the answer.
    var mistake: MockFailure? {
        for case .failure(let error as MockFailure) in steps where !error.isReported { return error }
        return nil
    }

    /// The rest of the answer after the step at `index`.
    func rest(after index: Int) -> Answer { Answer(steps: steps[(index + 1)...], feed: feed) }

    /// Tells the feed that its body will not be delivered.
    func abandon() { feed?.readerDidLeave() }

    var withoutDelay: Answer { Answer(head: head, steps: steps, feed: feed) }

    /// The same answer with its body in `count` pieces of about the same size, but in no more pieces than it has bytes.
    func chunked(into count: Int) -> Answer {
        let body = Data(chunks.joined())
        let count = max(1, min(count, body.count))
        let bounds = (0...count).map { body.count * $0 / count }
        var pieces = zip(bounds, bounds.dropFirst()).map { StubResponse.Step.data(Data(body[$0..<$1])) }
        var answer = self
        answer.steps =
            steps.flatMap { step in
                guard case .data = step else { return [step] }
                defer { pieces = [] }
                return pieces
            }[...]
        return answer
    }

    /// The answer to a request that fails if nothing arrives for `timeout` seconds.
    package func within(_ timeout: TimeInterval) -> Answer {
        let late = steps.firstIndex { if case .wait(let interval) = $0 { interval.seconds > timeout } else { false } }
        if timeout > 0, delay > timeout { return Answer(delay: timeout, steps: [.failure(URLError(.timedOut))], feed: feed) }
        guard timeout > 0, let late else { return self }
        return Answer(
            delay: delay, head: head,
            steps: steps[..<late] + [.wait(DispatchTimeInterval(seconds: timeout)), .failure(URLError(.timedOut))], feed: feed)
    }
}

/// A request with its whole body, and its answer.
package struct Traffic: Sendable {
    package let request: PreparedRequest
    package var answer: Answer
    package let started: Date
}

/// Makes the answer to a request.
struct Responder: Sendable {
    /// Whether it calls the user's code, which may take long and send requests.
    var runsUserCode = false
    /// The task that has written the user's code.
    var task: TestTask?
    let respond: @Sendable (ReceivedRequest) throws -> Answer

    /// Returns the answer, which is a failure if it cannot be made.
    func callAsFunction(_ request: ReceivedRequest) -> Answer {
        do { return try respond(request) } catch { return .failure(error) }
    }

    func map(_ change: @escaping @Sendable (inout Answer) -> Void) -> Responder {
        Responder(runsUserCode: runsUserCode, task: task) {
            var answer = self($0)
            change(&answer)
            return answer
        }
    }
}

extension HTTPURLResponse {
    package static func mock(_ status: Int, headers: [String: String]?, for url: URL) throws -> HTTPURLResponse {
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers) else {
            throw MockFailure("\(status) is not a valid HTTP status code.")
        }
        return response
    }
}
