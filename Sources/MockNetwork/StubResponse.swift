public import APIProvider
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What a stub answers with: a status, headers and a body, or an error.
///
/// ```swift
/// MockURLProtocol.stub(.get, "/user", respond: .json(["login": "octocat"]))
/// MockURLProtocol.stub(.post, "/orders", respond: .sequence([.status(503), .status(201)]))
/// MockURLProtocol.stub("/slow", respond: .status(200).delayed(by: 2))
/// ```
///
/// Answers to `HEAD`, and those with status 204 or 304, come without their body.
public struct StubResponse: Sendable {
    /// One answer, as far as it is known before a request has come.
    struct Answer: Sendable {
        enum Kind: Sendable {
            case response(status: Int, headers: [String: String], body: Data)
            case failure(any Error)
            case handler(@Sendable (RecordedRequest) throws -> StubResponse)
            case never
        }

        let kind: Kind
        var delay: TimeInterval = 0
        var chunkCount: Int?
        /// What comes in the place of the end.
        var error: (any Error)?
    }

    private(set) var answers: [Answer]
    private let repeatsLast: Bool

    private init(_ answers: [Answer], repeatsLast: Bool = true) {
        self.answers = answers
        self.repeatsLast = repeatsLast
    }

    private init(_ kind: Answer.Kind) { self.init([Answer(kind: kind)]) }

    private init(status: Int, headers: HTTPHeaders, type: String? = nil, body: () throws -> Data = { Data() }) {
        var fields = headers
        if let type, headers["Content-Type"] == nil { fields["Content-Type"] = type }
        do {
            let fields = fields.reduce(into: [:]) { $0[$1.name] = $1.value }
            self.init(.response(status: status, headers: fields, body: try body()))
        } catch {
            self.init(.failure(error))
        }
    }

    /// The answer to the request that comes after `count` others; `nil` past the end of a sequence.
    func answer(after count: Int) -> Answer? {
        answers.indices.contains(count) ? answers[count] : repeatsLast ? answers.last : nil
    }

    private func changing(_ change: (inout Answer) -> Void) -> StubResponse {
        var copy = self
        for index in answers.indices { change(&copy.answers[index]) }
        return copy
    }
}

// One answer.
extension StubResponse {
    /// The content of a fixture, which is read at once. One that is missing fails each request, with its name and the names of what is there.
    ///
    /// The Content-Type of a `.json` file is `application/json`, unless `headers` has one.
    public static func fixture(_ dto: some MockDTO, status: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(status: status, headers: headers, type: dto.isJSON ? "application/json" : nil) { try dto.load() }
    }

    /// `value` as JSON, with sorted keys and the Content-Type `application/json`, unless `headers` has one. A value that cannot be encoded
    /// fails each request.
    ///
    /// A `String` becomes a JSON string: for text that is JSON already, see ``json(text:status:headers:)``.
    public static func json(_ value: some Encodable, status: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        json(value, status: status, headers: headers, encoder: .sorting)
    }

    static func json(
        _ value: some Encodable, status: Int = 200, headers: HTTPHeaders = [:], encoder: JSONEncoder
    ) -> StubResponse {
        StubResponse(status: status, headers: headers, type: "application/json") { try encoder.encode(value) }
    }

    /// The bytes of a file. One that cannot be read fails each request.
    static func content(of file: URL) -> StubResponse {
        StubResponse(status: 200, headers: [:]) { try Data(contentsOf: file) }
    }

    /// `text`, which is JSON, or is meant not to be, as it stands; with the Content-Type `application/json`, unless `headers` has one.
    ///
    /// ```swift
    /// MockURLProtocol.stub(.get, "/user", respond: .json(text: #"{"login": "octocat", "id": 1}"#))
    /// ```
    public static func json(text: String, status: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(status: status, headers: headers, type: "application/json") { Data(text.utf8) }
    }

    /// These bytes. No header is added.
    public static func data(_ data: Data, status: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(status: status, headers: headers) { data }
    }

    /// A status without a body.
    public static func status(_ code: Int, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(status: code, headers: headers)
    }

    /// No response, but this error: `.failure(URLError(.notConnectedToInternet))`.
    ///
    /// `DefaultAPIProvider` tells it as it is. Other code that uses a `URLSession` gets an `NSError` on Apple's systems, with the domain, the
    /// code and the description of an error of your own.
    public static func failure(_ error: any Error) -> StubResponse { StubResponse(.failure(error)) }

    /// A redirect: `status` with the header Location.
    ///
    /// `URLSessionTransport` and ``MockTransport`` follow it, and ask the stubs again. In other code that uses `URLSession` the redirect
    /// itself is the response: a protocol class cannot have it followed on Linux.
    public static func redirect(to location: String, status: Int = 302) -> StubResponse {
        .status(status, headers: ["Location": location])
    }

    /// What `respond` makes of each request. What it throws is the error of the request.
    ///
    /// It runs in the scope whose request it answers, on a background queue or, by ``MockTransport``, where the request is subscribed to. It may
    /// stub, reset and send requests. Of a sequence that it returns, the first answer counts.
    public static func handler(_ respond: @escaping @Sendable (RecordedRequest) throws -> StubResponse) -> StubResponse {
        StubResponse(.handler(respond))
    }

    /// No answer ever comes. The request ends when it is cancelled, or when its `timeoutInterval` has passed: 60 seconds if it sets none.
    public static var never: StubResponse { StubResponse(.never) }
}

// Several answers.
extension StubResponse {
    /// Each of `responses` once, in order, also when the requests come at once. Past the end requests fail, though an older stub matches too;
    /// with `times` as many as there are responses, they go on to older stubs.
    ///
    /// A sequence within it stands for its responses.
    public static func sequence(_ responses: [StubResponse]) -> StubResponse {
        StubResponse(responses.flatMap(\.answers), repeatsLast: false)
    }

    /// Each of `responses` once, in order, and then the last one again and again.
    public static func repeatingLast(_ responses: [StubResponse]) -> StubResponse {
        StubResponse(responses.flatMap(\.answers))
    }
}

// How it comes.
extension StubResponse {
    /// The same, so much later. Of a sequence, each answer is.
    ///
    /// Other requests do not wait, and a request that is cancelled meanwhile ends at once. A delay that is longer than the request's
    /// `timeoutInterval` ends in `URLError.timedOut`.
    public func delayed(by seconds: TimeInterval) -> StubResponse {
        changing { $0.delay += seconds }
    }

    /// The same, with its body in `count` pieces of about the same size, each of which comes by itself where there is a delegate.
    /// A `URLSession` of Apple's may join some of them.
    public func chunked(into count: Int) -> StubResponse {
        changing { $0.chunkCount = count }
    }

    /// The head and the body arrive, then `error`.
    public func failing(with error: any Error) -> StubResponse {
        changing { $0.error = error }
    }
}

extension JSONEncoder {
    /// Makes the same bytes each time.
    static var sorting: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        return encoder
    }
}
