public import APIProvider
public import Foundation

// An answer for some requests. The statics act on the scope of the current task; called on the class that `current` returned, on that scope.
extension MockURLProtocol {
    /// Answers the requests of this method and URL. Of several stubs that match, the newest one that is not used up answers.
    ///
    /// ```swift
    /// MockURLProtocol.stub(.get, "/repos/*/*", respond: .fixture(Fixture.repository))
    /// MockURLProtocol.stub(.post, "https://api.example.com/orders", body: .json(order), times: 1, respond: .status(201))
    /// ```
    ///
    /// The URL is a path, for any host, or a whole URL. It is compared by what it means: escapes are read, and neither the case of the host nor
    /// a port that is the scheme's own counts; a slash at the end does. `*` stands for one segment of the path. Items of a query are asked for
    /// as those of `query` are. A URL that can match nothing fails no call: the report of the request without an answer says what is wrong.
    ///
    /// - Parameters:
    ///   - method: The method.
    ///   - url: `"/search/repositories"`, `"https://api.github.com/user"` or `"/repos/*/*"`.
    ///   - query: Items that the query must have, among others and in whatever order; several of one name in this order.
    ///   - headers: Fields that the request must have, among others.
    ///   - body: What the body must be.
    ///   - times: How many requests it answers; `nil` is any number. With 0, one that comes fails as with a stub that is used up.
    ///   - isOptional: Whether it may go unused. ``verify()`` and the trait `.mockNetwork` report other stubs that were never used.
    ///   - fileID: Where the stub is, for reports.
    ///   - filePath: Where the stub is, for reports.
    ///   - line: Where the stub is, for reports.
    ///   - column: Where the stub is, for reports.
    ///   - response: What is answered.
    @discardableResult
    public static func stub(
        _ method: HTTPMethod, _ url: String, query: QueryParameters? = nil, headers: HTTPHeaders? = nil, body: BodyMatcher? = nil,
        times: Int? = nil, isOptional: Bool = false,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column, respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                method, url, query: query, headers: headers, body: body, times: times, isOptional: isOptional,
                place: .init(fileID: fileID, filePath: filePath, line: line, column: column), response: response))
    }

    /// Answers the requests of this URL, whatever their method. The parameters are those of
    /// ``stub(_:_:query:headers:body:times:isOptional:fileID:filePath:line:column:respond:)``.
    @discardableResult
    public static func stub(
        _ url: String, query: QueryParameters? = nil, headers: HTTPHeaders? = nil, body: BodyMatcher? = nil, times: Int? = nil,
        isOptional: Bool = false,
        fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column, respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                nil, url, query: query, headers: headers, body: body, times: times, isOptional: isOptional,
                place: .init(fileID: fileID, filePath: filePath, line: line, column: column), response: response))
    }

    /// Answers the requests that `request` sends: those with its method, path, query and body.
    ///
    /// ```swift
    /// MockURLProtocol.stub(SearchRequest(keyword: "swift"), respond: .fixture(Fixture.search))
    /// MockURLProtocol.stub(UserRequest(login: "nobody"), times: 1, respond: .status(404))
    /// ```
    ///
    /// It is for any host, unless the path of the endpoint is a URL or you give a `baseURL`. Give one if it has a path of its own, such as
    /// `https://api.example.com/v3`.
    ///
    /// Bodies of JSON and forms are compared by what they mean, and others by their bytes. The items of the query may have others beside them.
    /// A request that cannot be sent fails no call: the reports say what is wrong with it.
    ///
    /// - Parameters:
    ///   - request: Says which requests are answered.
    ///   - baseURL: The base URL of the provider.
    ///   - encoder: Encodes the body of the request as the provider does.
    ///   - times: How many requests it answers; `nil` is any number. With 0, one that comes fails as with a stub that is used up.
    ///   - isOptional: Whether it may go unused.
    ///   - fileID: Where the stub is, for reports.
    ///   - filePath: Where the stub is, for reports.
    ///   - line: Where the stub is, for reports.
    ///   - column: Where the stub is, for reports.
    ///   - response: What is answered.
    @discardableResult
    public static func stub<Response>(
        _ request: some APIRequest<Response>, baseURL: URL? = nil, encoder: JSONEncoder = JSONEncoder(), times: Int? = nil,
        isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column,
        respond response: StubResponse
    ) -> Stub {
        scope.add(
            Stub(
                request, baseURL: baseURL, encoder: encoder, times: times, isOptional: isOptional,
                place: .init(fileID: fileID, filePath: filePath, line: line, column: column), response: response))
    }

    /// Answers the requests that `request` sends with a value: `MockURLProtocol.stub(.user("octocat"), respond: User(login: "octocat"))`.
    ///
    /// The value comes with status 200, as the endpoint reads it: `Data` and `String` as they are, the content of a file for a download, and
    /// all else as JSON by `encoder`. The parameters are those of
    /// ``stub(_:baseURL:encoder:times:isOptional:fileID:filePath:line:column:respond:)-(_,_,_,_,_,_,_,_,_,StubResponse)``.
    @discardableResult
    public static func stub<Response: Encodable>(
        _ request: some APIRequest<Response>, baseURL: URL? = nil, encoder: JSONEncoder = JSONEncoder(), times: Int? = nil,
        isOptional: Bool = false, fileID: String = #fileID, filePath: String = #filePath, line: Int = #line, column: Int = #column,
        respond value: Response
    ) -> Stub {
        stub(
            request, baseURL: baseURL, encoder: encoder, times: times, isOptional: isOptional, fileID: fileID, filePath: filePath,
            line: line,
            column: column, respond: StubResponse(value, of: request.endpoint, encoder: encoder))
    }

    /// The requests that have come, in order.
    public static var requests: [RecordedRequest] { scope.state.withLock(\.requests) }

    /// Those of ``requests`` for which there was no answer.
    public static var unmatchedRequests: [RecordedRequest] { scope.state.withLock(\.unanswered).map(\.request) }

    /// The stubs that have answered no request, but for those that are optional.
    public static var unusedStubs: [Stub] {
        let (stubs, uses) = scope.state.withLock { ($0.stubs, $0.uses) }
        return zip(stubs, uses).filter { $1 == 0 && !$0.isOptional && $0.times > 0 }.map(\.0)
    }

    /// Throws a report of every request without an answer, of every stub that was never used, unless it is optional, and of answers that were
    /// set up for no request at all. It is for XCTest:
    ///
    /// ```swift
    /// override func tearDown() {
    ///     XCTAssertNoThrow(try MockURLProtocol.verify())  // XCTest shows this line
    ///     MockURLProtocol.reset()
    /// }
    /// ```
    public static func verify() throws {
        let problems = unansweredReports + unusedStubs.map(\.unusedReport) + [unreachedReport].compactMap { $0 }
        guard problems.isEmpty else { throw MockFailure(problems.joined(separator: "\n\n")) }
    }

    /// Why there was no answer, for each of ``unmatchedRequests``.
    package static var unansweredReports: [String] { scope.state.withLock(\.unanswered).map(\.report) }

    /// That answers were set up and no request came; `nil` otherwise.
    package static var unreachedReport: String? {
        let (setUp, count) = scope.state.withLock { ($0.setUp, $0.requests.count) }
        guard let setUp, count == 0 else { return nil }
        return """
            \(setUp) was set up, and no request came to the mock. A provider or a session that is not made of it goes to the network:
            write DefaultAPIProvider(baseURL: …, configuration: MockURLProtocol.configuration), within the test.
            """
    }

    /// Whether `error` says what one of ``unansweredReports`` says, on its way through a session and a provider.
    package static func hasReported(_ error: any Error) -> Bool {
        unansweredReports.contains(((error as? APIError)?.underlying ?? error).localizedDescription)
    }
}

extension Stub {
    /// That it was never used, and if it could not be, why.
    package var unusedReport: String { "The stub \(self) was never used\(problem.map { ": \($0)." } ?? ".")" }
}
