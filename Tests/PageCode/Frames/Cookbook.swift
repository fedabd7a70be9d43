import Testing

// What only Apple's systems have. Elsewhere, declarations with the signatures that Apple documents stand in for it.
#if canImport(SwiftUI)
import SwiftUI
#else
@MainActor private protocol View {
    associatedtype Body
    var body: Body { get }
}

private struct ProgressView: View {
    init(value: Double?) {}
    var body: Never { fatalError("A stand-in is not shown.") }
}
#endif

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

@MainActor
@Test("The async model of a chat shows the words, and no error", .mockNetwork, tenMinutes)
private func asyncChat() async {
    MockURLProtocol.stub(
        Completion(prompt: "Hi"),
        respond: .sequence([
            .events([#"{"text":"Hello"}"#, #"{"text":" there"}"#, "[DONE]"].map { ServerSentEvent(data: $0) }), .status(404),
        ]))
    let model = AsyncChatModel(provider: DefaultAPIProvider(baseURL: api, transport: MockTransport()))
    await model.ask("Hi")
    #expect(model.text == "Hello there")
    #expect(model.message == nil)
    await model.ask("Hi")
    #expect(model.message != nil)
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
