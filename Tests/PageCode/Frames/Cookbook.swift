import Testing

// What only Apple's systems have. Elsewhere, declarations with the signatures that Apple documents stand in for it.
#if canImport(UIKit) && !os(watchOS)
import UIKit
#else
@MainActor private class UIView {
    var frame = CGRect.zero
    var bounds: CGRect { frame }
    init(frame: CGRect) { self.frame = frame }
    convenience init() { self.init(frame: .zero) }
    required init?(coder: NSCoder) {}
    deinit {}
    func addSubview(_ view: UIView) {}
}

private final class UIImageView: UIView { var image: UIImage? }

private class UICollectionViewCell: UIView {
    let contentView = UIView()
    func prepareForReuse() {}
    deinit {}
}

nonisolated private final class UIImage: Sendable {
    init?(data: Data) {}
    func preparingForDisplay() -> UIImage? { self }
}
#endif

#if !canImport(Darwin)
nonisolated private final class NSItemProvider {
    func loadFileRepresentation(
        forTypeIdentifier: String, completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) {}
}

nonisolated extension URL {
    fileprivate func startAccessingSecurityScopedResource() -> Bool { true }
    fileprivate func stopAccessingSecurityScopedResource() {}
}
#endif

@Suite("GraphQL in the cookbook", .mockNetwork)
private struct GraphQLOfTheCookbook {
    private let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())
    private let me = GraphQL<Viewer>(operationName: "Me", query: "query Me { me { name } }", variables: ["id": 7])
    private let answer: JSONValue = ["data": ["me": ["name": "octocat"]]]

    @Test("A persisted query is a GET with its hash, and without its text")
    func persisted() async throws {
        MockURLProtocol.stub(
            .get, "/graphql",
            query: [
                "operationName": "Me", "variables": #"{"id":7}"#,
                "extensions": #"{"persistedQuery":{"sha256Hash":"abc","version":1}}"#,
            ], respond: .json(answer))
        #expect(try await provider.request(me.persisted("abc")).value.me.name == "octocat")
        #expect(MockURLProtocol.requests.first?.body.isEmpty == true)
    }

    @Test("A subscription gives the value of each event, and an error of the server ends it")
    func subscription() async throws {
        MockURLProtocol.stub(
            .post, "/graphql", body: .json(containing: ["operationName": "Me"]),
            respond: .events([
                ServerSentEvent(type: "next", data: "\(answer)"),
                ServerSentEvent(type: "ping", data: ""),
                ServerSentEvent(type: "next", data: #"{"errors":[{"message":"gone"}]}"#),
            ]))
        let names = Log<String>()
        await #expect(throws: GraphQLError.self) {
            try await me.subscribe(provider) { names.append($0.me.name) }.value
        }
        #expect(names.entries == ["octocat"])
    }

    @Test("Pages follow the cursor")
    func pages() async throws {
        MockURLProtocol.stub(
            .post, "/graphql", body: .json(containing: ["variables": ["after": nil]]),
            respond: .json(["data": ["titles": ["a"], "cursor": "1"]]))
        MockURLProtocol.stub(
            .post, "/graphql", body: .json(containing: ["variables": ["after": "1"]]),
            respond: .json(["data": ["titles": ["b"], "cursor": nil]]))
        #expect(try await posts(provider).all(\.titles, maxPages: 9).value == ["a", "b"])
    }

    @Test("A token that is rejected with the status 200 is refreshed")
    func unauthenticated() async throws {
        MockURLProtocol.stub(
            .post, "/graphql", headers: ["Authorization": "Bearer old"],
            respond: .json(["errors": [["message": "no", "extensions": ["code": "UNAUTHENTICATED"]]]]))
        MockURLProtocol.stub(.post, "/graphql", headers: ["Authorization": "Bearer new"], respond: .json(answer))
        let provider = DefaultAPIProvider(
            baseURL: api, transport: MockTransport(), middlewares: [authentication("old") { _ in .just("new") }])
        #expect(try await provider.request(me).value.me.name == "octocat")
    }

    @Test("Two providers of one configuration share their cookies")
    func cookies() async throws {
        MockURLProtocol.stub(.post, "/login", respond: .status(204, headers: ["Set-Cookie": "sid=1; Path=/; Secure"]))
        MockURLProtocol.stub(.get, "/me", headers: ["Cookie": "sid=1"], respond: .status(204))
        let configuration = MockURLProtocol.configuration
        let first = DefaultAPIProvider(baseURL: api, configuration: configuration)
        let second = DefaultAPIProvider(baseURL: api, configuration: configuration)
        try await first.request(Endpoint<Void>(.post, "/login")).value
        try await second.request(Endpoint<Void>(.get, "/me")).value
    }
}

@Test("In a ternary with a JSONValue, nil is JSON's null, and .none is no value", arguments: ["a"])
private func nilInATernary(text: String) {
    let null: JSONValue? = text.isEmpty ? JSONValue(text) : nil
    let absent: JSONValue? = text.isEmpty ? JSONValue(text) : .none
    #expect(null?.isNull == true)
    #expect(absent?.isNull == .none)
}

@Test("Dates are read with and without a fraction", arguments: ["2026-11-21T09:30:00.250Z", "2026-11-21T09:30:00Z"])
private func fractions(text: String) throws {
    let decoder = JSONDecoder()
    keepMilliseconds(JSONEncoder(), decoder)
    let date = try decoder.decode([Date].self, from: Data("[\"\(text)\"]".utf8))[0]
    #expect(abs(date.timeIntervalSince1970 - 1_795_253_400) < (text.contains(".") ? 0.26 : 0.001))
    #expect((date.timeIntervalSince1970 > 1_795_253_400.2) == text.contains("."))
}

@Test("A text that is no date is an error with its place")
private func noDate() throws {
    let decoder = JSONDecoder()
    keepMilliseconds(JSONEncoder(), decoder)
    let dates = Data(#"["2026-11-21T09:30:00Z", "soon"]"#.utf8)
    let error = #expect(throws: DecodingError.self) { try decoder.decode([Date].self, from: dates) }
    let place: [Int?]? = if case .dataCorrupted(let context)? = error { context.codingPath.map(\.intValue) } else { nil }
    #expect(place == [1])
}

@Test("A refused refresh token asks for a sign-in", .mockNetwork, tenMinutes)
private func refusedRefresh() async throws {
    MockURLProtocol.stub(.get, "/items", respond: .status(401))
    MockURLProtocol.stub(.post, "/token", respond: .json(["error": "invalid_grant"], statusCode: 400))
    let account = Account(
        baseURL: api, configuration: MockURLProtocol.configuration,
        session: Session(accessToken: "old", refreshToken: "1", expires: .distantFuture), keep: { _ in })
    await #expect(throws: SignInError.needed) { try await account.provider.request(Endpoint<[String]>(.get, "/items")).value }
}

@Test("Only a large body is compressed, and says so", .mockNetwork, arguments: [(2_000, "gzip"), (10, nil)] as [(Int, String?)])
private func compressed(count: Int, encoding: String?) async throws {
    MockURLProtocol.stub(.post, "/note", respond: .status(204))
    let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport(), middlewares: [CompressedBodies()])
    let body = HTTPBody.data(Data(count: count), contentType: "text/plain")
    try await provider.request(Endpoint<Void>(.post, "/note", body: body)).value
    #expect(MockURLProtocol.requests.first?.headers["Content-Encoding"] == encoding)
}

@Test("A cookie is sent until the sign-out", .mockNetwork, tenMinutes)
private func theCookieIsSentUntilTheSignOut() async throws {
    let cookie = "sid=1; Path=/; Secure; HttpOnly"
    MockURLProtocol.stub(
        .post, "/login", respond: .status(204, headers: ["Set-Cookie": cookie]))
    MockURLProtocol.stub(.get, "/me", respond: .status(401))
    MockURLProtocol.stub(
        .get, "/me", headers: ["Cookie": "sid=1"],
        respond: .json(["name": "octocat"]))
    let configuration = MockURLProtocol.configuration
    let provider = DefaultAPIProvider(baseURL: api, configuration: configuration)
    let me = Endpoint<[String: String]>(.get, "/me")

    try await provider.request(Endpoint<Void>(.post, "/login", body: .form(["name": "octocat", "password": "secret"]))).value
    #expect(try await provider.request(me).value == ["name": "octocat"])
    removeCookies(of: configuration)
    await #expect(throws: APIError.self) {
        try await provider.request(me).value
    }
}

@MainActor
private func eventually(_ condition: () -> Bool) async {
    let end = Date() + 60
    while !condition(), Date() < end { await Task.yield() }
}

@MainActor
@Test("An answer comes word by word", .mockNetwork, tenMinutes)
private func anAnswerComesWordByWord() async throws {
    let events = [#"{"text":"Hello"}"#, #"{"text":" there"}"#, "[DONE]"]
    MockURLProtocol.stub(
        Completion(prompt: "Hi"),
        respond: .events(
            events.map { ServerSentEvent(data: $0) }, every: .milliseconds(100)))
    let scheduler = TestScheduler()
    let model = ChatModel(
        provider: DefaultAPIProvider(
            baseURL: api, transport: MockTransport(scheduler: scheduler)))

    model.ask("Hi")
    for text in ["Hello", "Hello there"] {
        scheduler.advance(by: .milliseconds(100))
        await eventually { model.text == text }
        #expect(model.text == text)
        #expect(model.isWriting)
    }
    scheduler.advance(by: .milliseconds(100))
    await eventually { !model.isWriting }
    #expect(!model.isWriting)
    #expect(model.message == nil)
}

@Test("Pages follow a relative URL", .mockNetwork, tenMinutes)
private func pagesFollowARelativeURL() async throws {
    MockURLProtocol.stub(
        .get, "/v1/items",
        respond: .json(Listing(items: ["a"], next: "items?page=2")))
    MockURLProtocol.stub(
        .get, "/v1/items?page=2", respond: .json(Listing(items: ["b"], next: nil)))
    let provider = DefaultAPIProvider(
        baseURL: URL(string: "https://api.example.com/v1"),
        transport: MockTransport())
    let items = try await listing(provider).all(\.items, maxPages: 9).value
    #expect(items == ["a", "b"])
}

nonisolated private struct Viewer: Decodable {
    struct User: Decodable { let name: String }
    let me: User
}

@Test("A stub answers one operation", .mockNetwork, tenMinutes)
private func theStubAnswersOneOperation() async throws {
    MockURLProtocol.stub(
        .post, "/graphql", body: .json(containing: ["operationName": "Me"]),
        respond: .json(["data": ["me": ["name": "octocat"]]]))
    MockURLProtocol.stub(
        .post, "/graphql", body: .json(containing: ["variables": ["id": 7]]),
        respond: .json(["errors": [["message": "no such user"]]]))
    let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())

    let me = GraphQL<Viewer>(operationName: "Me", query: "query Me { me { name } }")
    #expect(try await provider.request(me).value.me.name == "octocat")
    let other = GraphQL<Viewer>(
        operationName: "User",
        query: "query User($id: Int!) { me: user(id: $id) { name } }",
        variables: ["id": 7])
    await #expect(throws: GraphQLError.self) {
        try await provider.request(other).value
    }
}

nonisolated private struct Posts: Decodable {
    let titles: [String]
    let cursor: String?
}

nonisolated private func posts(_ provider: some APIProvider) -> Pages<Posts> {
    @Sendable func page(after cursor: String?) -> Endpoint<Posts> {
        let query = "query Posts($after: String) { titles(after: $after) cursor }"
        let variables: JSONValue = ["after": JSONValue(cursor)]
        return GraphQL(operationName: "Posts", query: query, variables: variables)
            .endpoint
    }
    return provider.pages(page(after: nil)) { last, _ in
        last.cursor.map { page(after: $0) }
    }
}

@Test("Keys in snake_case are read", .mockNetwork, tenMinutes)
private func invoice() async throws {
    MockURLProtocol.stub(
        .get, "/invoices/1",
        respond: .json(["due_date": "2026-11-21T09:30:00Z", "is_paid": false]))
    let provider = invoices(MockURLProtocol.configuration)
    let invoice =
        try await provider
        .request(Endpoint<Invoice>(.get, "/invoices/1")).value
    #expect(invoice.dueDate == Date(timeIntervalSince1970: 1_795_253_400))
}

@Test("Each millisecond of a date stays")
private func eachMillisecondStays() throws {
    let (encoder, decoder) = (JSONEncoder(), JSONDecoder())
    keepMilliseconds(encoder, decoder)
    let sent = (0..<1000).map { Date(timeIntervalSince1970: Double($0) / 1000) }
    let got = try decoder.decode([Date].self, from: encoder.encode(sent))
    #expect(zip(sent, got).allSatisfy { abs($0.timeIntervalSince($1)) < 0.0001 })
}

@Test("A lost download goes on", .mockNetwork, tenMinutes)
private func aLostDownloadGoesOn() async throws {
    let data = Data("a long video".utf8)
    let video = StubResponse.ranges(of: data, eTag: "\"v1\"")
    let lost = URLError(.networkConnectionLost)
    MockURLProtocol.stub(
        .get, "/videos/1",
        respond: .sequence([video.breakingOff(with: lost, after: 6), video]))
    let provider = DefaultAPIProvider(
        baseURL: URL(string: "https://api.example.com"),
        configuration: MockURLProtocol.configuration)
    let file = FileManager.default.temporaryDirectory
        .appendingPathComponent(UUID().uuidString)
    defer { try? FileManager.default.removeItem(at: file) }
    let request = Endpoint(.get, "/videos/1", downloadingTo: file).resuming()

    await #expect(throws: APIError.self) {
        try await provider.request(request).value
    }
    _ = try await provider.request(request).value

    #expect(try Data(contentsOf: file) == data)
    let ranges = MockURLProtocol.requests.map { $0.headers["Range"] }
    #expect(ranges == [nil, "bytes=6-"])
}

@Test("A fixture is found by its name", .mockNetwork, tenMinutes)
private func aFixtureByItsName() async throws {
    MockURLProtocol.stub(.get, "/search/repositories", respond: .file("Search"))
    let provider = DefaultAPIProvider(baseURL: api, transport: MockTransport())
    let search = Endpoint<Data>(.get, "/search/repositories")
    #expect(try await provider.request(search).value.isEmpty == false)
}

nonisolated extension GraphQL {
    fileprivate func subscribe(
        _ provider: some APIProvider,
        each: @escaping @Sendable (Value) async -> Void
    ) -> Single<Void> {
        let events = Endpoint<ServerSentEvents>(
            .post, "/graphql", body: .json(body))
        return provider.request(events).flatMap { events in
            events.forEach { event in
                guard event.type == "next" else { return }
                await each(try event.decode(Answer.self).value())
            }
        }
    }
}
