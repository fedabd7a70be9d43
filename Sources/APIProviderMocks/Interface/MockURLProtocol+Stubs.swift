public import APIProvider
public import Foundation

// Answers for some requests. On `MockURLProtocol`, these members use the current task's scope, and on the class `current` that class's
// scope.
extension MockURLProtocol {
    // MARK: - Adding stubs

    /// Answers requests with this method and URL. Of several matching stubs, the newest with an answer left answers.
    ///
    /// ```swift
    /// MockURLProtocol.stub(.get, "/repos/*/*", respond: .fixture(Fixture.repository))
    /// MockURLProtocol.stub(
    ///     .post, "https://api.example.com/orders", body: .json(order), times: 1,
    ///     respond: .status(201))
    /// ```
    ///
    /// The URL is a path, for any host, or a whole URL. `*` is one segment of the path, and a final `/**` any number of segments. URLs are
    /// compared decoded. The case of the host and the scheme's default port do not matter. A final slash does. A query in the URL works
    /// like `query`.
    ///
    /// A URL that can match nothing is no error here: the report on an unanswered request names the mistake.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The path or URL, such as `"/search/repositories"`, `"https://api.github.com/user"` or `"/repos/*/*"`.
    ///   - query: Expected query items, in this order for one name. Other items do not matter. A `+` in the sent URL is a plus sign or a
    ///     space.
    ///   - headers: Expected fields. Other fields do not matter.
    ///   - body: The expected body.
    ///   - times: The number of requests to answer. `nil` means any number. A stub with 0 is used up.
    ///   - isOptional: Whether the stub may go unused. ``verify()`` and the trait `.mockNetwork` report other unused stubs.
    ///   - fileID: The stub's file, for reports.
    ///   - filePath: The file's path, for issues.
    ///   - line: The stub's line.
    ///   - response: The answer.
    @discardableResult
    public static func stub(
        _ method: HTTPMethod, _ url: String, query: QueryParameters? = nil, headers: HTTPHeaders? = nil, body: BodyMatcher? = nil,
        times: Int? = nil, isOptional: Bool = false,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                method, url, query: query, headers: headers, body: body, times: times, isOptional: isOptional,
                sourceLocation: .init(fileID: fileID, filePath: filePath, line: line), response: response))
    }

    /// Answers requests with the same method, path, query and body as `request`.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     SearchRequest(keyword: "swift"), respond: .fixture(Fixture.search))
    /// MockURLProtocol.stub(UserRequest(login: "nobody"), times: 1, respond: .status(404))
    /// ```
    ///
    /// The stub answers for any host, unless the endpoint has an absolute URL. If the provider's base URL has a path, such as
    /// `https://api.example.com/v3`, set the property ``baseURL`` before, for example in a suite's `init`. For one stub, pass the provider as
    /// `for:`, or a `baseURL`.
    ///
    /// JSON and forms are compared by their values, other bodies by their bytes. Other query items do not matter. An invalid request is no
    /// error here: the report on an unanswered request names the mistake.
    ///
    /// For a provider with an encoder, set ``encoder`` likewise. `for:` takes that from the provider, too.
    ///
    /// - Parameters:
    ///   - request: The request with the expected method, path, query and body.
    ///   - provider: The provider under test, for its base URL and encoder, without its middlewares.
    ///   - baseURL: The provider's base URL; by default that of `provider`, or else the property ``baseURL``.
    ///   - encoder: Encodes the body of `request`; by default that of `provider`, or else the property ``encoder``, or an encoder like a
    ///     provider's default.
    ///   - times: The number of requests to answer. `nil` means any number. A stub with 0 is used up.
    ///   - isOptional: Whether the stub may go unused.
    ///   - fileID: The stub's file, for reports.
    ///   - filePath: The file's path, for issues.
    ///   - line: The stub's line.
    ///   - response: The answer.
    @discardableResult
    public static func stub<Response>(
        _ request: some APIRequest<Response>, for provider: DefaultAPIProvider? = nil, baseURL: URL? = nil, encoder: JSONEncoder? = nil,
        times: Int? = nil, isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                request, baseURL: baseURL ?? provider?.settings.baseURL ?? self.baseURL,
                encoder: encoder ?? provider?.settings.encoder ?? self.encoder ?? JSONEncoder(), times: times, isOptional: isOptional,
                sourceLocation: .init(fileID: fileID, filePath: filePath, line: line), response: response))
    }

    /// Answers `request` with a value for the provider to decode:
    /// `MockURLProtocol.stub(.user("octocat"), respond: User(login: "octocat"))`.
    ///
    /// The status is 200. The body is unchanged `Data` or `String`, a file's content for a download, and for other types JSON, by `encoder`
    /// or else by ``encoder``.
    ///
    /// If the endpoint has a `map`, the server sends another value. Stub that value, with `.json` or a fixture.
    ///
    /// - Parameters:
    ///   - request: The request with the expected method, path, query and body.
    ///   - provider: The provider under test, for its base URL and encoder, without its middlewares.
    ///   - baseURL: The provider's base URL; by default that of `provider`, or else the property ``baseURL``.
    ///   - encoder: Encodes the body of `request` and `value`; by default that of `provider`, or else the property ``encoder``, or an
    ///     encoder like a provider's default.
    ///   - times: The number of requests to answer. `nil` means any number. A stub with 0 is used up.
    ///   - isOptional: Whether the stub may go unused.
    ///   - fileID: The stub's file, for reports.
    ///   - filePath: The file's path, for issues.
    ///   - line: The stub's line.
    ///   - value: The value for the app to decode.
    @discardableResult
    public static func stub<Response: Encodable>(
        _ request: some APIRequest<Response>, for provider: DefaultAPIProvider? = nil, baseURL: URL? = nil, encoder: JSONEncoder? = nil,
        times: Int? = nil, isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        respond value: Response
    ) -> Stub {
        stub(
            request, for: provider, baseURL: baseURL, encoder: encoder, times: times, isOptional: isOptional, fileID: fileID,
            filePath: filePath,
            line: line,
            respond: StubResponse(
                value, of: request.endpoint, encoder: encoder ?? provider?.settings.encoder ?? self.encoder ?? JSONEncoder()))
    }

    /// Answers requests by a condition.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     "a large upload", where: { $0.body.count > 1_000_000 }, respond: .status(413))
    /// ```
    ///
    /// - Parameters:
    ///   - description: The stub's name in a report: `The stub for a large upload was never used.`
    ///   - matches: Called on any thread, at most once for a request. Must not send or cancel
    ///     requests; ``StubResponse/handler(_:)`` may.
    ///   - times: The number of requests to answer. `nil` means any number.
    ///   - isOptional: Whether the stub may go unused.
    ///   - fileID: The stub's file, for reports.
    ///   - filePath: The file's path, for issues.
    ///   - line: The stub's line.
    ///   - response: The answer.
    @discardableResult
    public static func stub(
        _ description: String = "a condition", where matches: @escaping @Sendable (ReceivedRequest) -> Bool, times: Int? = nil,
        isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                summary: { "for \(description)" }, matchers: [.condition(Condition(description, matches))], times: times,
                isOptional: isOptional,
                sourceLocation: .init(fileID: fileID, filePath: filePath, line: line), response: response))
    }

    /// The provider's base URL, for later stubs of an `APIRequest` in this scope.
    ///
    /// ```swift
    /// MockURLProtocol.baseURL = URL(string: "https://api.example.com/v3")
    /// // This answers https://api.example.com/v3/users/octocat.
    /// MockURLProtocol.stub(.user("octocat"), respond: User(login: "octocat"))
    /// ```
    public static var baseURL: URL? {
        get { scope.contents.withLock(\.baseURL) }
        set { scope.contents.withLock { $0.baseURL = newValue } }
    }

    // MARK: - Received requests

    /// The requests to the mock, in order.
    public static var requests: [ReceivedRequest] { scope.contents.withLock(\.requests) }

    /// The requests without an answer.
    public static var unmatchedRequests: [ReceivedRequest] { requests.filter(\.isUnanswered) }

    // MARK: - Verifying

    /// Throws a report on a test's mistakes, unused stubs and unanswered requests.
    ///
    /// The report lists:
    ///
    /// - each request without an answer;
    /// - each mistake in the setup, such as a missing fixture, or a value that cannot be encoded;
    /// - each unused stub, unless optional;
    /// - each sequence with answers left;
    /// - each stub with another number of requests than ``Stub/expecting(_:)-(Int)``.
    ///
    /// If there are answers and no requests, the report says how to create the provider. After the end of its scope, this method always
    /// throws.
    ///
    /// Call this method in XCTest:
    ///
    /// ```swift
    /// override func tearDown() {
    ///     XCTAssertNoThrow(try MockURLProtocol.verify())  // XCTest shows this line
    ///     MockURLProtocol.reset()
    /// }
    /// ```
    public static func verify() throws {
        let problems = problems
        guard problems.isEmpty else { throw MockFailure(problems.map(\.text).joined(separator: "\n\n")) }
    }

    /// The problems for ``verify()``.
    package static var problems: [Problem] { scope.problems }

    /// The report on a test that set up `answer`, and sent no request.
    package static func noRequestReport(configuredAnswer answer: String?) -> String { scope.noRequestReport(configuredAnswer: answer) }

    /// Whether `error` is one of ``problems``, even after a session and a provider.
    package static func isProblem(_ error: any Error) -> Bool {
        MockFailure.id(of: error).map { id in scope.contents.withLock { $0.failures.contains(id) } } ?? false
    }
}

extension MockURLProtocol {
    /// The scope's requests in order, each with its answer, for a failed test's attachment; `nil` without requests.
    package static var requestsAsText: String? {
        let stubs = Dictionary(scope.contents.withLock { $0.stubs }.map { ($0.id, "\($0)") }, uniquingKeysWith: { first, _ in first })
        let texts = requests.map { request in
            let answer = request.source ?? request.stub.flatMap { stubs[$0] } ?? "an answer without a stub"
            return "\(request)\n→ \(request.isUnanswered ? "no answer" : answer)\n"
        }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }
}
