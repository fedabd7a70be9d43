import APIProvider
import Foundation
import MockNetwork
import MockNetworkTesting
import Testing

// Each comment with a number says how many issues are to be reported at its line, and what about.

struct Get: APIRequest {
    typealias Response = String
    var baseURL = URL(string: "https://api.example.com") ?? URL(fileURLWithPath: "/")
    var path: RequestPath = ""
    var method: HTTPMethod = .get
    var query: QueryParameters = [:]
    var headers: HTTPHeaders = [:]

    /// Sends it by a session, and swallows the error.
    func send() async { _ = try? await DefaultAPIProvider(configuration: MockURLProtocol.configuration).request(self).value }
}

@Suite(.mockNetwork)
struct Everything {
    @Test func requestWithoutAnAnswer() async {  // 1: GET https://api.example.com/swallowed?token=…
        await Get(path: "/swallowed", query: ["token": "s3cret"]).send()
    }

    @Test func unusedStub() async {
        MockURLProtocol.stub(.get, "/used", respond: .status(200))
        MockURLProtocol.stub(.get, "/unused", respond: .status(200))  // 1: The stub GET /unused
        MockURLProtocol.stub(.get, "/optional", isOptional: true, respond: .status(200))
        await Get(path: "/used").send()
    }

    @Test func stubThatCanMatchNothing() {
        MockURLProtocol.stub(.get, "user", respond: .status(200))  // 1: The stub GET user
    }

    @Test(arguments: ["a", "b", "c"]) func parameterised(name: String) async {  // 1: GET https://api.example.com/b
        MockURLProtocol.stub(.get, "/a", isOptional: name != "a", respond: .status(200))
        MockURLProtocol.stub(.get, "/c", respond: .status(200))  // 2: The stub GET /c
        await Get(path: "/\(name)").send()
    }

    @Test func exhausted() async {  // 1: GET https://api.example.com/sequence
        MockURLProtocol.stub(.get, "/sequence", respond: .sequence([.status(200), .status(200)]))
        for _ in 0..<3 { await Get(path: "/sequence").send() }
    }

    @Test func usedUp() async {  // 2: GET https://api.example.com/once
        MockURLProtocol.stub(.get, "/once", times: 1, respond: .status(200))
        for _ in 0..<3 { await Get(path: "/once").send() }
    }

    @Test func scopesWithinReportNothing() async {
        await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, "/unused", respond: .status(200))
            await Get(path: "/swallowed").send()
        }
    }

    @Test func thrown() async throws {  // 1: GET https://api.example.com/thrown
        _ = try await DefaultAPIProvider(transport: MockTransport()).request(Get(path: "/thrown")).value
    }

    struct Within {
        @Test func unusedStub() {
            MockURLProtocol.stub(.get, "/within", respond: .status(200))  // 1: The stub GET /within
        }

        @Test func nothing() {}
    }
}

@Suite struct Elsewhere {
    @Test(.mockNetwork) func withTheTrait() {
        MockURLProtocol.stub(.get, "/alone", respond: .status(200))  // 1: The stub GET /alone
    }

    /// Prints stubs to paste, which `run` compiles.
    @Test(arguments: [
        Get(path: "/plain"), Get(path: "/a b/ü*\"\\(x)", method: .post), Get(method: "PROPFIND", headers: ["Accept": "application/json"]),
        Get(path: "/q", query: ["q": "\"a\"\n\\(b)\u{0}\u{301}", "label": ["x", "y"], "empty": "", "é\"": "k", "token": "s3cret"]),
    ]) func pastes(request: Get) async {
        await MockURLProtocol.withScope {
            do {
                _ = try await DefaultAPIProvider(transport: MockTransport()).request(request).value
            } catch {
                print("\(error)")
            }
        }
    }
}
