import APIProvider
import Foundation
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("Secret segments of paths")
struct SecretSegmentTests {
    private let log = Log<String>()

    /// All that is shown of a request with a secret in its path, to a server that sends `header` and `body`.
    private func shown(_ path: RequestPath, header: String = "", body: String) async throws -> String {
        let sent = Log<URLRequest>()
        let answer = ClosureTransport { request in
            sent.append(request)
            return .just(APIResponse(to: request, status: 404, headers: ["X-Echo": header, "Location": header], data: Data(body.utf8)))
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: answer, middlewares: [LoggingMiddleware(.bodies, log: log.append)])
        let error = try await #require(throws: APIError.self) { try await provider.request(Endpoint<EmptyResponse>(.get, path)).value }
        return ([error.description, "\(path)"] + log.entries + sent.entries.map { $0.curlCommand() }).joined(separator: "\n")
    }

    @Test("A secret is left out of headers and bodies as well, with what stands beside it and alone")
    func everywhere() async throws {
        for echo in ["chat:pl4nted-1", "https://api.example.com/botchat:pl4nted-1/x", "/botchat%3Apl4nted-1", "a chat:pl4nted-1, b"] {
            let text = try await shown("/bot\(secret: "chat:pl4nted-1")/x", header: echo, body: #"{"echo":"\#(echo)"}"#)
            #expect(!text.contains("pl4nted"), "\(text)")
        }
    }

    @Test("A short secret is left out of paths alone", arguments: ["q7", "Z", "é7", "true7", "/q7", "-q7-", "..y7"])
    func short(secret: String) async throws {
        let body = #"{"q7":"Z","b":"é7 true7","c":"-q7-","d":"..y7"}"#
        let text = try await shown("users/\(secret: secret)/x", header: secret, body: body)
        #expect(text.contains("users/…/x") && text.contains("https://api.example.com/users/…/x") && !text.contains("/…/…"), "\(text)")
        #expect(text.contains(body), "\(text)")
        #expect("\(RequestPath("\(secret: secret)/x"))" == "…/x")
    }

    @Test("An empty secret makes the request invalid, and hides nothing")
    func empty() async throws {
        let text = try await #require(throws: APIError.self) {
            try await DefaultAPIProvider(baseURL: example, transport: ClosureTransport { _ in .never() })
                .request(Endpoint<EmptyResponse>(.get, "/bot/\(secret: "")/x")).value
        }
        #expect("\(text)" == "The request was not sent: a value interpolated into the path after \"/bot/\" is empty.")
        #expect(try await shown("/b/x", body: "b x").contains("https://api.example.com/b/x"))
    }

    @Test("Thousands of secrets are not looked for one by one", .longComputing)
    func cost() throws {
        let text = String(repeating: #"{"name":"ReactorKit","url":"https://api.example.com/repos/devxoul/ReactorKit"},"#, count: 200)
        func seconds() -> Double {
            cpuSeconds { for _ in 0..<5 { _ = Redactor(for: .report).text(text) } }
        }
        _ = RequestPath("/\(secret: "0-pl4nted-secret")")
        let before = (0..<3).map { _ in seconds() }.min() ?? 0
        for number in 0..<5_000 { _ = RequestPath("/\(secret: "\(number)-pl4nted-secret")") }
        let after = (0..<3).map { _ in seconds() }.min() ?? 0
        #expect(after < before * 8)
        #expect(Redactor(for: .report).text("a 4999-pl4nted-secret b") == "a … b")
    }

    @Test("A secret of six letters is left out of text, also where several begin alike")
    func lengths() {
        for secret in ["pl4nt6", "pl4nt6.a", "(pl4nt6.a"] { _ = RequestPath("/\(secret: secret)") }
        #expect(Redactor(for: .report).text("a pl4nt6 (pl4nt6.a b pl4nt6x") == "a … … b pl4nt6x")
    }

    @Test("The oldest of ten thousand secrets are forgotten, each in its turn")
    func forgetting() async {
        await #expect(processExitsWith: .success) {
            for number in 0..<10_002 { _ = RequestPath("/\(secret: "pl4nted\(number)")") }
            #expect(Redactor(for: .report).text("pl4nted0 pl4nted1 pl4nted2 pl4nted10001") == "pl4nted0 pl4nted1 … …")
        }
    }
}
