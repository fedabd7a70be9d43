package import APIProvider
package import Foundation
package import MiniRx

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The answer to one request as it is played: after the delay comes the head, then each step, then what the feed sends.
package struct Playback: Sendable {
    /// In seconds.
    var delay: TimeInterval = 0
    /// `nil` for a failure, or if it has been delivered.
    package var head: HTTPURLResponse?
    var steps: ArraySlice<StubResponse.Step> = []
    var feed: StreamFeed?
    /// Produces the answer asynchronously, in place of the other properties, and delivers it on any thread. Dispose the result to cancel.
    var deferredAnswer: (@Sendable (_ deliver: @escaping @Sendable (Playback) -> Void) -> any Disposable)?

    // MARK: - Creating an answer

    /// A request without an answer ends by its timeout, or when it is cancelled.
    package static let never = Playback(delay: .infinity)

    package static func failure(_ error: any Error) -> Playback { Playback(steps: [.failure(error)]) }

    package init(head: HTTPURLResponse, steps: [StubResponse.Step] = []) { (self.head, self.steps) = (head, steps[...]) }

    /// A response whose body comes from `feed`.
    package init(head: HTTPURLResponse, feed: StreamFeed) { (self.head, self.feed) = (head, feed) }

    /// An answer that comes later. The closure delivers it on any thread. Disposing its result cancels that.
    package init(deferredAnswer: @escaping @Sendable (_ deliver: @escaping @Sendable (Playback) -> Void) -> any Disposable) {
        self.deferredAnswer = deferredAnswer
    }

    init(
        delay: TimeInterval = 0, head: HTTPURLResponse? = nil, steps: ArraySlice<StubResponse.Step> = [], feed: StreamFeed? = nil
    ) {
        (self.delay, self.head, self.steps, self.feed) = (delay, head, steps, feed)
    }

    /// Returns a response to `request`, without a body if HTTP allows none.
    static func response(
        _ head: HTTPURLResponse, _ steps: [StubResponse.Step], feed: StreamFeed? = nil, to request: ReceivedRequest
    ) -> Playback {
        let hasBody = request.method != .head && head.statusCode != 204 && head.statusCode != 304
        guard !hasBody else { return Playback(head: head, steps: steps[...], feed: feed) }
        feed?.requestDidEnd()
        return Playback(head: head)
    }

    // MARK: - Its parts

    /// The pieces of the body. Empty if there is no body.
    package var chunks: [Data] { steps.compactMap { if case .data(let chunk) = $0 { chunk } else { nil } } }

    /// The error by which it ends.
    package var failure: (any Error)? {
        for step in steps { if case .failure(let error) = step { return error } }
        return nil
    }

    /// The mistake in the setup of the test that is the answer.
    var mistake: MockFailure? {
        for case .failure(let error as MockFailure) in steps where error.isSetupMistake { return error }
        return nil
    }

    // MARK: - Other answers made of it

    /// The steps after the one at `index`, and the feed.
    func suffix(after index: Int) -> Playback { Playback(steps: steps[(index + 1)...], feed: feed) }

    /// Tells the feed that its request has ended.
    func endFeed() { feed?.requestDidEnd() }

    func droppingDelay() -> Playback { Playback(head: head, steps: steps, feed: feed) }

    /// The same answer with its body in `count` pieces of about the same size, but in no more pieces than it has bytes.
    func chunked(into count: Int) -> Playback {
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
    package func timingOut(after timeout: TimeInterval) -> Playback {
        guard timeout > 0 else { return self }
        if delay > timeout { return Playback(delay: timeout, steps: [.failure(URLError(.timedOut))], feed: feed) }
        var silence: TimeInterval = 0
        for (index, step) in zip(steps.indices, steps) {
            guard case .wait(let interval) = step else {
                silence = 0
                continue
            }
            let rest = DispatchTimeInterval(seconds: timeout - silence)
            silence += max(0, interval.seconds)
            // Sums of decimal fractions are not exact.
            guard silence > timeout + 1e-9 else { continue }
            return Playback(delay: delay, head: head, steps: steps[..<index] + [.wait(rest), .failure(URLError(.timedOut))], feed: feed)
        }
        return self
    }
}

// MARK: - Before and after an answer

/// A request with its whole body, and its answer.
package struct AnsweredRequest: Sendable {
    package let request: PreparedRequest
    package var answer: Playback
    package let started: Date
}

/// Makes the answer to a request.
struct ResponseFactory: Sendable {
    /// Whether it calls the user's code, which may take long and send requests.
    var runsUserCode = false
    /// The context in which the user's code was written.
    var context: TaskLocalContext?
    let respond: @Sendable (ReceivedRequest) throws -> Playback

    /// Returns the answer, which is a failure if it cannot be made.
    func callAsFunction(_ request: ReceivedRequest) -> Playback {
        do { return try respond(request) } catch { return .failure(error) }
    }

    func map(_ change: @escaping @Sendable (inout Playback) -> Void) -> ResponseFactory {
        ResponseFactory(runsUserCode: runsUserCode, context: context) {
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
