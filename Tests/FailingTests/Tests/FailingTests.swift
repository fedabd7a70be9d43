import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import Testing

// Each comment with a number says how many issues are to be reported at its line, and what about.

private func provider(_ transport: any Transport) -> DefaultAPIProvider {
    DefaultAPIProvider(baseURL: URL(string: "https://api.example.com"), transport: transport)
}

/// Sends a request by a session, and swallows the error.
private func send(_ path: RequestPath, query: QueryParameters = [:]) async {
    let session = URLSessionTransport(configuration: MockURLProtocol.configuration)
    _ = try? await provider(session).request(Endpoint<Data>(.get, path, query: query)).value
}

@Suite(.mockNetwork)
struct Everything {
    @Test func requestWithoutAnAnswer() async {  // 1: GET https://api.example.com/swallowed?token=…
        await send("/swallowed", query: ["token": "s3cret"])
    }

    @Test func unusedStub() async {
        MockURLProtocol.stub(.get, "/used", respond: .status(200))
        MockURLProtocol.stub(.get, "/unused", respond: .status(200))  // 1: The stub GET /unused
        MockURLProtocol.stub(.get, "/optional", isOptional: true, respond: .status(200))
        await send("/used")
    }

    @Test(arguments: ["a", "b", "c"]) func parameterized(name: String) async {  // 1: GET https://api.example.com/b
        MockURLProtocol.stub(.get, "/a", isOptional: name != "a", respond: .status(200))
        MockURLProtocol.stub(.get, "/c", respond: .status(200))  // 2: The stub GET /c
        await send("/\(name)")
    }

    @Test func exhausted() async {  // 1: GET https://api.example.com/sequence
        MockURLProtocol.stub(.get, "/sequence", respond: .sequence([.status(200), .status(200)]))
        for _ in 0..<3 { await send("/sequence") }
    }

    @Test func scopesWithinReportNothing() async {
        await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, "/unused", respond: .status(200))
            await send("/swallowed")
        }
    }

    @Test func passes() async {
        MockURLProtocol.stub(.get, "/passes", respond: .status(200))
        await send("/passes")
    }

    @Test func expectation() async {
        MockURLProtocol.stub(.post, "/expectation", respond: .handler { try .json($0.json([String: String].self)) })
        let request = Endpoint<[String: String]>(.post, "/expectation", body: .json(["password": "s3cret", "name": "octocat"]))
        let answer = try? await provider(MockTransport()).request(request).value
        #expect(answer == nil)
    }

    @Test func notReached() async {  // 1: The fixture "none" was set up
        struct None: MockDTO {
            var fileName: String { "none" }
            static var bundle: Bundle { .main }
        }
        MockURLProtocol.responseWithDTO(type: None())
    }

    @Test func thrown() async throws {  // 1: GET https://api.example.com/thrown
        _ = try await provider(MockTransport()).request(Endpoint<Data>(.get, "/thrown")).value
    }

    @Test func missingFixture() async {
        struct None: MockDTO {
            var fileName: String { "none" }
            static var bundle: Bundle { .main }
        }
        MockURLProtocol.stub(.get, "/fixture", respond: .fixture(None()))  // 1: There is no fixture "none.json"
        for _ in 0..<2 { await send("/fixture") }
    }

    @Test func endedScope() async {  // 1: This request's scope, "endedScope()", has ended
        let transport = MockURLProtocol.withScope { URLSessionTransport(configuration: MockURLProtocol.configuration) }
        _ = try? await provider(transport).request(Endpoint<Data>(.get, "/ended")).value
    }

    @Test func requirement() async throws {
        MockURLProtocol.stub(.get, "/require", respond: .handler { request in .status(try #require(Int(request.path))) })
        _ = try await provider(MockTransport()).request(Endpoint<Data>(.get, "/require")).value
    }

    struct Within {
        @Test func unusedStub() {
            MockURLProtocol.stub(.get, "/within", respond: .status(200))  // 1: The stub GET /within
        }
    }
}

@Suite struct Elsewhere {
    @Test(.mockNetwork) func withTheTrait() {
        MockURLProtocol.stub(.get, "/alone", respond: .status(200))  // 1: The stub GET /alone
    }
}

/// Tests that meet, so that they run at the same time.
private actor Meeting {
    private let count: Int
    private var waiting: [CheckedContinuation<Void, Never>] = []

    init(of count: Int) { self.count = count }

    func wait() async {
        guard waiting.count + 1 < count else {
            waiting.forEach { $0.resume() }
            return waiting = []
        }
        await withCheckedContinuation { waiting.append($0) }
    }
}

private let (beginning, afterCallback, end) = (Meeting(of: 3), Meeting(of: 3), Meeting(of: 3))

/// Runs in parallel. What fails in a callback is an issue of an unknown test, once. The handler fails after the callback: Swift Testing
/// reports an issue outside every test twice while an issue-handling trait handles another test's issue.
@Suite(.mockNetwork) struct Parallel {
    @Test func inACallback() async {
        MockURLProtocol.stub(.get, "/callback", respond: .status(200))
        await beginning.wait()
        let transport = URLSessionTransport(configuration: MockURLProtocol.configuration)
        await withCheckedContinuation { continuation in
            _ = provider(transport).request(Endpoint<Data>(.get, "/callback")).subscribe { event in
                #expect("\(event)" == "in a callback")
                continuation.resume()
            }
        }
        await afterCallback.wait()
        await end.wait()
    }

    @Test func inAHandler() async {
        MockURLProtocol.stub(
            .get, "/handler",
            body: .matching { body in
                #expect(!body.isEmpty)
                return true
            },
            respond: .handler { request in
                #expect(request.path == "in a handler")
                return .status(200)
            })
        MockURLProtocol.stub(
            "other requests",
            where: { request in
                #expect(request.path == "in a closure")
                return false
            }, isOptional: true, respond: .status(200))
        await beginning.wait()
        await afterCallback.wait()
        await send("/handler")
        await end.wait()
    }

    @Test func passes() async {
        MockURLProtocol.stub(.get, "/parallel", respond: .status(200))
        await beginning.wait()
        await afterCallback.wait()
        await send("/parallel")
        await end.wait()
    }
}
