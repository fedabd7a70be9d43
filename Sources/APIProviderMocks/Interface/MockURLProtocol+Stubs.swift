public import APIProvider
public import Foundation

// Answers for some requests. Called on `MockURLProtocol`, these members use the scope of the current task. Called on the class that
// `current` returned, they use the scope of that class.
extension MockURLProtocol {
    // MARK: - Adding stubs

    /// Answers requests with this method and URL. If several stubs match, the newest that is not used up answers.
    ///
    /// ```swift
    /// MockURLProtocol.stub(.get, "/repos/*/*", respond: .fixture(Fixture.repository))
    /// MockURLProtocol.stub(
    ///     .post, "https://api.example.com/orders", body: .json(order), times: 1,
    ///     respond: .status(201))
    /// ```
    ///
    /// The URL is a path, for any host, or a whole URL. `*` stands for one segment of the path, and `/**` at its end for any further
    /// segments, or none. Escapes are decoded before the URL is compared. The case of the host and the scheme's default port do not matter.
    /// A slash at the end of the path does. A query in the URL works like `query`.
    ///
    /// A URL that can match nothing is not an error here. The report of the request that finds no answer says what is wrong.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: The path or URL, such as `"/search/repositories"`, `"https://api.github.com/user"` or `"/repos/*/*"`.
    ///   - query: Items that the query must have. Items of the same name must be in this order. There may be other items.
    ///   - headers: Fields that the request must have. There may be other fields.
    ///   - body: The body that the request must have.
    ///   - times: The number of requests that the stub answers. `nil` means any number. With 0, it answers none, as if it were used up.
    ///   - isOptional: Whether the stub may go unused. Other stubs that are never used are reported by ``verify()`` and by the trait
    ///     `.mockNetwork`.
    ///   - fileID: The file of the stub, as reports show it.
    ///   - filePath: The path of that file, for issues.
    ///   - line: The line of the stub.
    ///   - column: The column of the stub.
    ///   - response: The answer.
    @discardableResult
    public static func stub(
        _ method: HTTPMethod, _ url: String, query: QueryParameters? = nil, headers: HTTPHeaders? = nil, body: BodyMatcher? = nil,
        times: Int? = nil, isOptional: Bool = false,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column, respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                method, url, query: query, headers: headers, body: body, times: times, isOptional: isOptional,
                sourceLocation: .init(fileID: fileID, filePath: filePath, line: line, column: column), response: response))
    }

    /// Answers requests with the same method, path, query and body as `request`.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     SearchRequest(keyword: "swift"), respond: .fixture(Fixture.search))
    /// MockURLProtocol.stub(UserRequest(login: "nobody"), times: 1, respond: .status(404))
    /// ```
    ///
    /// The stub answers for any host, unless the endpoint's path is a URL, or you give it a base URL: that of the provider under test with
    /// `for: provider`, or the parameter `baseURL`, or the property ``baseURL`` for all stubs that follow. Give it one if the base URL of
    /// your provider has a path, such as `https://api.example.com/v3`.
    ///
    /// JSON and forms are compared by their meaning, other bodies by their bytes. The query of a request may have other items, too. A
    /// request that cannot be sent is not an error here. The report of the request that finds no answer says what is wrong.
    ///
    /// If the provider has an encoder of its own, `for: provider` uses it, too, so that bodies are encoded in the same way. Or set ``encoder``
    /// for all stubs that follow.
    ///
    /// - Parameters:
    ///   - request: The request whose method, path, query and body are expected.
    ///   - provider: The provider under test, whose base URL and encoder are used. Its middlewares are not.
    ///   - baseURL: The base URL of the provider under test. By default, that of `provider`, or else the property ``baseURL``.
    ///   - encoder: Encodes the body of `request`. By default, that of `provider`, or else the property ``encoder``, or an encoder like the
    ///     default of a provider.
    ///   - times: The number of requests that the stub answers. `nil` means any number. With 0, it answers none, as if it were used up.
    ///   - isOptional: Whether the stub may go unused.
    ///   - fileID: The file of the stub, as reports show it.
    ///   - filePath: The path of that file, for issues.
    ///   - line: The line of the stub.
    ///   - column: The column of the stub.
    ///   - response: The answer.
    @discardableResult
    public static func stub<Response>(
        _ request: some APIRequest<Response>, for provider: DefaultAPIProvider? = nil, baseURL: URL? = nil, encoder: JSONEncoder? = nil,
        times: Int? = nil, isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column,
        respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                request, baseURL: baseURL ?? provider?.settings.baseURL ?? self.baseURL,
                encoder: encoder ?? provider?.settings.encoder ?? self.encoder ?? JSONEncoder(), times: times, isOptional: isOptional,
                sourceLocation: .init(fileID: fileID, filePath: filePath, line: line, column: column), response: response))
    }

    /// Answers `request` with a value that the provider decodes: `MockURLProtocol.stub(.user("octocat"), respond: User(login: "octocat"))`.
    ///
    /// The status is 200, and the body is what the endpoint reads: `Data` and `String` unchanged, the content of the file for a download,
    /// and JSON by `encoder`, or else by ``encoder``, for everything else.
    ///
    /// If the endpoint has a `map`, the server sends something else than the value. Then stub what it sends, with `.json` or a fixture.
    ///
    /// - Parameters:
    ///   - request: The request whose method, path, query and body are expected.
    ///   - provider: The provider under test, whose base URL and encoder are used. Its middlewares are not.
    ///   - baseURL: The base URL of the provider under test. By default, that of `provider`, or else the property ``baseURL``.
    ///   - encoder: Encodes the body of `request` and `value`. By default, that of `provider`, or else the property ``encoder``, or an
    ///     encoder like the default of a provider.
    ///   - times: The number of requests that the stub answers. `nil` means any number. With 0, it answers none, as if it were used up.
    ///   - isOptional: Whether the stub may go unused.
    ///   - fileID: The file of the stub, as reports show it.
    ///   - filePath: The path of that file, for issues.
    ///   - line: The line of the stub.
    ///   - column: The column of the stub.
    ///   - value: The value that the app decodes.
    @discardableResult
    public static func stub<Response: Encodable>(
        _ request: some APIRequest<Response>, for provider: DefaultAPIProvider? = nil, baseURL: URL? = nil, encoder: JSONEncoder? = nil,
        times: Int? = nil, isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line,
        column: Int = #column,
        respond value: Response
    ) -> Stub {
        stub(
            request, for: provider, baseURL: baseURL, encoder: encoder, times: times, isOptional: isOptional, fileID: fileID,
            filePath: filePath,
            line: line, column: column,
            respond: StubResponse(
                value, of: request.endpoint, encoder: encoder ?? provider?.settings.encoder ?? self.encoder ?? JSONEncoder()))
    }

    /// Answers the requests for which `matches` returns `true`.
    ///
    /// ```swift
    /// MockURLProtocol.stub(
    ///     "a large upload", where: { $0.body.count > 1_000_000 }, respond: .status(413))
    /// ```
    ///
    /// - Parameters:
    ///   - description: What the stub is for, in the words of a report: `The stub for a large upload was never used.`
    ///   - matches: Called on any thread, at most once for a request. It must not send requests; ``StubResponse/handler(_:)``
    ///     may.
    ///   - times: The number of requests that the stub answers. `nil` means any number.
    ///   - isOptional: Whether the stub may go unused.
    ///   - fileID: The file of the stub, as reports show it.
    ///   - filePath: The path of that file, for issues.
    ///   - line: The line of the stub.
    ///   - column: The column of the stub.
    ///   - response: The answer.
    @discardableResult
    public static func stub(
        _ description: String = "a condition", where matches: @escaping @Sendable (ReceivedRequest) -> Bool, times: Int? = nil,
        isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column,
        respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                summary: { "for \(description)" }, matchers: [.condition(Condition(description, matches))], times: times,
                isOptional: isOptional,
                sourceLocation: .init(fileID: fileID, filePath: filePath, line: line, column: column), response: response))
    }

    /// The base URL of the provider under test. It applies to stubs of an `APIRequest` that are added to this scope later.
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

    /// The requests that have reached the mock, in order.
    public static var requests: [ReceivedRequest] { scope.contents.withLock(\.requests) }

    /// The requests that found no answer.
    public static var unmatchedRequests: [ReceivedRequest] { requests.filter(\.isUnanswered) }

    // MARK: - Verifying

    /// Throws a report if the test has not used the mock as it should.
    ///
    /// The report lists:
    ///
    /// - each request without an answer;
    /// - each mistake in what the test has set up, such as a fixture that is not there, or a value that cannot be encoded;
    /// - each stub that is not optional and was never used;
    /// - each sequence that was not used up;
    /// - each stub that has answered another number of requests than ``Stub/expecting(_:)-(Int)`` says.
    ///
    /// If answers were set up and no request came, the report says how to create the provider.
    ///
    /// Call it in XCTest:
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

    /// What ``verify()`` reports.
    package static var problems: [Problem] { scope.problems }

    /// The report that no request came, though there is `answer`.
    package static func noRequestReport(configuredAnswer answer: String?) -> String { scope.noRequestReport(configuredAnswer: answer) }

    /// Whether `error` is one of ``problems``, maybe after it has passed through a session and a provider.
    package static func isProblem(_ error: any Error) -> Bool {
        MockFailure.id(of: error).map { id in scope.contents.withLock { $0.failures.contains(id) } } ?? false
    }
}

extension MockURLProtocol {
    /// The requests of the scope in their order, each with the stub that has answered it, for the attachment of a failed test; `nil` if no
    /// request has come.
    package static var requestsAsText: String? {
        let stubs = Dictionary(scope.contents.withLock { $0.stubs }.map { ($0.id, "\($0)") }, uniquingKeysWith: { first, _ in first })
        let texts = requests.map { request in
            let answer = request.isUnanswered ? "no answer" : request.stub.flatMap { stubs[$0] } ?? "an answer without a stub"
            return "\(request)\n→ \(answer)\n"
        }
        return texts.isEmpty ? nil : texts.joined(separator: "\n")
    }
}
