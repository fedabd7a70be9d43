#if os(macOS) || os(Linux)
import Fixtures
import Foundation
import APIProviderMocks
import TestSupport
import Testing

@Suite("github-demo over the network", tenMinutes)
struct ProgramTests {
    @Test("A live search sends the token, shows it nowhere, and logs the request", arguments: [true, false])
    func live(isArgument: Bool) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: fixture(.search)) }
        let url = "\(server.url)/api/v3"
        let token = isArgument ? ["--live", "--token", "ghp_secret"] : []
        let program = Demo(
            ["search", "swift & 한글", "--base-url", url, "--verbose", "--page", "2"] + token,
            environment: isArgument ? [:] : ["GITHUB_TOKEN": "ghp_secret\n"])
        let outcome = try await program.run()
        #expect(outcome.status == 0)
        #expect(outcome.output.hasPrefix("REPOSITORY "))
        #expect(outcome.output.hasSuffix("\n8 of 8 repositories for \"swift & 한글\". From 127.0.0.1.\n"))
        #expect(outcome.error.hasPrefix("GET \(url)/search/repositories?q=…&page=…&per_page=…: 200 OK, "))
        #expect(outcome.error.split(separator: "\n").count == 1)
        #expect(!(outcome.output + outcome.error).contains("ghp_secret"))
        let request = try #require(server.requests.first)
        #expect(request.target == "/api/v3/search/repositories?q=swift%20%26%20%ED%95%9C%EA%B8%80&page=2&per_page=30")
        #expect(request.headers["authorization"] == "Bearer ghp_secret")
        #expect(request.headers["user-agent"]?.hasPrefix("github-demo ") == true)
    }

    @Test("--json prints what the server sent, and nothing else")
    func json() async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: "[ ]") }
        let outcome = try await Demo(["starred", "octocat", "--base-url", "\(server.url)", "--json"]).run()
        #expect(outcome.output == "[ ]\n")
        #expect(outcome.error.isEmpty)
    }

    @Test("Signing in sends no token of the API, and prints none", arguments: ["--json", "--verbose"])
    func login(option: String) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: fixture(.oauth)) }
        let outcome = try await Demo(
            ["login", "--code", "c0de", "--base-url", "\(server.url)", option],
            environment: ["GITHUB_CLIENT_ID": "id", "GITHUB_CLIENT_SECRET": "s3cret", "GITHUB_TOKEN": "ghp_secret"]
        ).run()
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("public_repo,read:user"))
        for secret in ["gho_", "s3cret", "ghp_secret", "c0de"] { #expect(!(outcome.output + outcome.error).contains(secret)) }
        let request = try #require(server.requests.first)
        #expect(request.headers["authorization"] == nil)
        #expect(String(decoding: request.body, as: UTF8.self) == "client_id=id&client_secret=s3cret&code=c0de")
    }

    @Test(
        "An error is a sentence for people on standard error and the status 1, and a verbose one has the developer's sentence before it",
        arguments: ["--json", "--page=1", "--verbose"])
    func error(option: String) async throws {
        let body = #"{"message":"No such search","errors":[{"resource":"Search","field":"q","code":"missing"}]}"#
        let server = try LoopbackServer { _, connection in connection.respond("422 No", body: body) }
        let outcome = try await Demo(["search", "", "--base-url", "\(server.url)", option]).run()
        #expect(outcome.output.isEmpty)
        let lines = outcome.error.split(separator: "\n")
        #expect(lines.last == "github-demo: No such search.")
        #expect(lines.count == (option == "--verbose" ? 3 : 1))
        if lines.count == 3 {
            #expect(lines[1].hasPrefix("GET \(server.url)/search/repositories?"))
            #expect(lines[1].contains("failed: 422 Unprocessable Content: \"No such search.\""))
        }
        #expect(outcome.status == 1)
    }

    @Test("--verbose prints the error of a connection once, before the sentence for people")
    func refused() async throws {
        let outcome = try await Demo(["user", "--base-url", "\(LoopbackServer.refusingURL())", "--verbose"]).run()
        let lines = outcome.error.split(separator: "\n")
        #expect(lines.count == 2 && lines[0].contains("failed: no connection could be made"), "\(outcome.error)")
        #expect(lines.last == "github-demo: The server could not be reached. Check the connection, and try again.")
    }

    @Test("A sample says what it is, and does not claim to answer", arguments: ["search", "user", "starred"])
    func sample(command: String) async throws {
        let outcome = try await Demo([command, "zzzzqqq"]).run()
        #expect(outcome.status == 0 && !outcome.output.contains("zzzzqqq"))
        #expect(outcome.output.contains("json), the same for every request. Use --live to ask GitHub.\n"), "\(outcome.output)")
    }

    private func fixture(_ type: MockURLProtocol.MockDTOType) -> String {
        let types = MockURLProtocol.MockDTOType.self
        let url = types.bundle.url(forResource: "\(type.fileName).json", withExtension: nil, subdirectory: types.subdirectory)
        return url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
    }
}
#endif
