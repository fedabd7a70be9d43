import APIProvider
public import Dispatch
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A stub's answer: a status, headers and a body, or an error.
///
/// ```swift
/// MockURLProtocol.stub(.get, "/user", respond: .json(["login": "octocat"]))
/// MockURLProtocol.stub(
///     .post, "/orders", respond: .sequence([.status(503), .status(201)]))
/// MockURLProtocol.stub(.get, "/slow", respond: .status(200).delayed(by: .seconds(2)))
/// ```
///
/// Answers to `HEAD`, and answers with status 204 or 304, have no body.
public struct StubResponse: Sendable {
    /// A step in the body, for ``stream(_:statusCode:headers:)``.
    public enum Step: Sendable {
        /// Part of the body.
        case data(Data)
        /// A pause.
        case wait(DispatchTimeInterval)
        /// The connection breaks, and nothing follows.
        case failure(any Error)

        /// Part of the body: `text` in UTF-8.
        public static func chunk(_ text: String) -> Step { .data(Data(text.utf8)) }

        var isWait: Bool { if case .wait = self { true } else { false } }
    }

    /// One answer for each request, in order.
    let factories: [ResponseFactory]
    let repeatsLast: Bool

    init(_ factories: [ResponseFactory], repeatsLast: Bool = true) {
        self.factories = factories
        self.repeatsLast = repeatsLast
    }

    init(_ respond: @escaping @Sendable (ReceivedRequest) throws -> Answer) { self.init([ResponseFactory(respond: respond)]) }

    /// Creates a response with a body in steps.
    ///
    /// - Parameters:
    ///   - statusCode: The status.
    ///   - headers: The header fields.
    ///   - type: The `Content-Type`, unless `headers` has one.
    ///   - steps: The body. If this closure throws, each request fails.
    ///   - feed: Sends the rest of the body.
    ///   - hasLength: Whether to add a `Content-Length`, unless `headers` has one.
    init(
        statusCode: Int, headers: HTTPHeaders = [:], type: String? = nil, feed: StreamFeed? = nil, hasLength: Bool = true,
        steps: () throws -> [Step] = { [] }
    ) {
        var headers = headers
        if let type, headers["Content-Type"] == nil { headers["Content-Type"] = type }
        let steps = Result { try steps() }.mapError { $0 as? MockFailure ?? MockFailure(encoding: $0) }
        // A 204 has no length (RFC 9110, section 8.6).
        let mayHaveLength = hasLength && statusCode != 204 && headers["Content-Length"] == nil && headers["Transfer-Encoding"] == nil
        if case .success(let steps) = steps, mayHaveLength {
            let count = steps.reduce(0) { if case .data(let data) = $1 { $0 + data.count } else { $0 } }
            if count > 0 { headers["Content-Length"] = "\(count)" }
        }
        let fields = headers.dictionary
        self.init { request in
            let (head, steps) = (try HTTPURLResponse.mock(statusCode, headers: fields, for: request.url), try steps.get())
            try feed?.claim()
            return .response(head, steps, feed: feed, to: request)
        }
    }

    static func steps(of body: Data) -> [Step] { body.isEmpty ? [] : [.data(body)] }

    /// The factory after `count` requests; `nil` after a sequence's end.
    func factory(after count: Int) -> ResponseFactory? {
        factories.indices.contains(count) ? factories[count] : repeatsLast ? factories.last : nil
    }

    /// The number of answers in a sequence; `nil` if the last answer repeats.
    var sequenceLength: Int? { repeatsLast ? nil : factories.count }

    func changing(_ change: @escaping @Sendable (inout Answer) -> Void) -> StubResponse {
        StubResponse(factories.map { $0.map(change) }, repeatsLast: repeatsLast)
    }
}
