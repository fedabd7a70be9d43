import APIProvider
package import Foundation
package import MiniRx

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// The answer to one request, as played: the delay, the head, each step, and then the feed.
package struct Answer: Sendable {
    /// In seconds.
    var delay: TimeInterval = 0
    /// `nil` for a failure, or after its delivery.
    var head: HTTPURLResponse?
    var steps: ArraySlice<StubResponse.Step> = []
    var feed: StreamFeed?
    /// Set for a later answer; the rest is then unused. The closure delivers the answer on any thread. Dispose the result to cancel.
    var deferredAnswer: (@Sendable (_ deliver: @escaping @Sendable (Answer) -> Void) -> any Disposable)?

    // MARK: - Creating an answer

    /// Without an answer, a request ends with a timeout or a cancellation.
    package static let never = Answer(delay: .infinity)

    package static func failure(_ error: any Error) -> Answer { Answer(steps: [.failure(error)]) }

    package init(head: HTTPURLResponse, steps: [StubResponse.Step] = []) { (self.head, self.steps) = (head, steps[...]) }

    /// Creates a response with a body from `feed`.
    package init(head: HTTPURLResponse, feed: StreamFeed) { (self.head, self.feed) = (head, feed) }

    /// Creates a later answer, delivered by the closure on any thread. Disposing the closure's result cancels the answer.
    package init(deferredAnswer: @escaping @Sendable (_ deliver: @escaping @Sendable (Answer) -> Void) -> any Disposable) {
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
    ) -> Answer {
        let hasBody = request.method != .head && head.statusCode != 204 && head.statusCode != 304
        guard !hasBody else { return Answer(head: head, steps: steps[...], feed: feed) }
        feed?.requestDidEnd()
        return Answer(head: head)
    }

    // MARK: - The parts

    /// The body's pieces; empty without a body.
    var chunks: [Data] { steps.compactMap { if case .data(let chunk) = $0 { chunk } else { nil } } }

    /// The final error.
    var failure: (any Error)? {
        for step in steps { if case .failure(let error) = step { return error } }
        return nil
    }

    /// The failure for a mistake in the test's setup, if any.
    var setupMistake: MockFailure? {
        for case .failure(let error as MockFailure) in steps where error.isSetupMistake { return error }
        return nil
    }

    // MARK: - Changed answers

    /// The steps after `index`, and the feed.
    func suffix(after index: Int) -> Answer { Answer(steps: steps[(index + 1)...], feed: feed) }

    /// Tells the feed that the request has ended.
    func endFeed() { feed?.requestDidEnd() }

    func droppingDelay() -> Answer { Answer(head: head, steps: steps, feed: feed) }

    /// The same answer with the body in `count` pieces of about the same size, at most one for each byte. A wait stays between the same
    /// bytes, and divides a piece.
    func chunked(into count: Int) -> Answer {
        let body = Data(chunks.joined())
        let count = max(1, min(count, body.count))
        // The other steps, by place in the body.
        var (others, position): ([Int: [StubResponse.Step]], Int) = ([:], 0)
        for step in steps {
            if case .data(let chunk) = step { position += chunk.count } else { others[position, default: []].append(step) }
        }
        var (answer, start) = (self, 0)
        answer.steps = []
        for end in Set((0...count).map { body.count * $0 / count }).union(others.keys).sorted() {
            if end > start { answer.steps.append(.data(Data(body[start..<end]))) }
            answer.steps += others[end] ?? []
            start = end
        }
        return answer
    }

    /// Ends the answer with `error` after `count` bytes of the body, or after the whole.
    mutating func breakOff(with error: any Error, after count: Int?) {
        if let count {
            var rest = count
            steps = ArraySlice(
                steps.map { step in
                    guard case .data(let chunk) = step else { return step }
                    defer { rest -= min(rest, chunk.count) }
                    return .data(chunk.prefix(rest))
                })
        }
        steps.append(.failure(error))
    }

    /// The same answer with the whole body in one piece, after all waits.
    func joined() -> Answer {
        let body = StubResponse.steps(of: Data(chunks.joined()))
        var answer = self
        answer.steps = steps.filter(\.isWait) + body + (failure.map { [.failure($0)] } ?? [])
        return answer
    }

    /// The same answer, but with a timeout after `timeout` seconds of silence.
    func timingOut(after timeout: TimeInterval) -> Answer {
        guard timeout > 0 else { return self }
        if delay > timeout { return Answer(delay: timeout, steps: [.failure(URLError(.timedOut))], feed: feed) }
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
            return Answer(delay: delay, head: head, steps: steps[..<index] + [.wait(rest), .failure(URLError(.timedOut))], feed: feed)
        }
        return self
    }
}

// MARK: - Making an answer

/// Makes the answer to a request.
struct ResponseFactory: Sendable {
    /// Whether the factory calls the user's code. That may take long and send requests.
    var runsUserCode = false
    /// The user code's context.
    var context: TaskLocalContext?
    let respond: @Sendable (ReceivedRequest) throws -> Answer

    /// Returns the answer, or a failure.
    func callAsFunction(_ request: ReceivedRequest) -> Answer {
        do { return try respond(request) } catch { return .failure(error) }
    }

    func map(_ change: @escaping @Sendable (inout Answer) -> Void) -> ResponseFactory {
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

// MARK: - Failures of the mock

/// The mock's reason for not answering, for the author of the test.
package struct MockFailure: LocalizedError, CustomNSError, CustomStringConvertible {
    package let description: String
    /// Whether the request's scope reports this failure as a mistake in the test's setup.
    let isSetupMistake: Bool
    /// Identifies this failure, even after a session. All failures of one ended scope share a number.
    let id: Int

    private static let lastID = Locked(0)

    package init(_ description: String, isSetupMistake: Bool = true) {
        let id = Self.lastID.withLock { id in
            id += 1
            return id
        }
        self.init(description, isSetupMistake: isSetupMistake, id: id)
    }

    init(_ description: String, isSetupMistake: Bool, id: Int) {
        (self.description, self.isSetupMistake, self.id) = (description, isSetupMistake, id)
    }

    /// - Parameter error: The error from encoding a stub's value.
    init(encoding error: any Error) { self.init("The stub has no answer, because its value cannot be encoded: \(error.explanation)") }

    /// The number of a mock's failure, even inside a session's or a provider's error; `nil` for other errors.
    static func id(of error: any Error) -> Int? {
        (((error as? APIError)?.underlying ?? error) as NSError).userInfo[idKey] as? Int
    }

    private static let idKey = "APIProviderMocks.id"

    package var errorDescription: String? { description }

    /// On Linux, Foundation looks for the description only here.
    package var errorUserInfo: [String: Any] {
        [NSLocalizedDescriptionKey: description, Self.idKey: id]
    }

    package static var errorDomain: String { "APIProviderMocks" }
}
