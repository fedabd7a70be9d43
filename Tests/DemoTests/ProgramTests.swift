#if os(macOS) || os(Linux)
import Fixtures
import Foundation
import MockNetwork
import TestSupport
import Testing

@Suite("github-demo over the network", tenMinutes)
struct ProgramTests {
    @Test("A live search sends the token to the server, shows it nowhere, and tells of the request", arguments: [true, false])
    func live(isArgument: Bool) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: fixture(.search)) }
        let url = "\(server.url)/api/v3"
        let program =
            isArgument
            ? Program("search", "swift & 한글", "--live", "--base-url", url, "--verbose", "--token", "ghp_secret", "--page", "2")
            : Program("search", "swift & 한글", "--base-url", url, "--verbose", "--page=2", environment: ["GITHUB_TOKEN": "ghp_secret\n"])
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
        let body = "[ ]"
        let server = try LoopbackServer { _, connection in connection.respond(body: body) }
        let outcome = try await Program("starred", "octocat", "--base-url", "\(server.url)", "--json").run()
        #expect(outcome.output == body + "\n")
        #expect(outcome.error.isEmpty)
    }

    @Test("A recording that cannot be written is an error, after the answer")
    func unwritableRecording() async throws {
        let outcome = try await Program("search", "x", "--record", "/nowhere/session.har").run()
        #expect(outcome.output.hasPrefix("REPOSITORY "))
        #expect(outcome.error == "github-demo: the file cannot be written to /nowhere/session.har: its folder does not exist.\n")
        #expect(outcome.status == 1)
    }

    @Test("Signing in sends no token of the API, and prints none", arguments: [["--json"], ["--verbose"]])
    func login(option: [String]) async throws {
        let server = try LoopbackServer { _, connection in connection.respond(body: fixture(.oauth)) }
        let environment = ["GITHUB_CLIENT_ID": "id", "GITHUB_CLIENT_SECRET": "s3cret", "GITHUB_TOKEN": "ghp_secret"]
        let outcome = try await Program("login", "--code", "c0de", "--base-url", "\(server.url)", option[0], environment: environment).run()
        #expect(outcome.status == 0)
        #expect(outcome.output.contains("public_repo,read:user"))
        for secret in ["gho_", "s3cret", "ghp_secret", "c0de"] { #expect(!(outcome.output + outcome.error).contains(secret)) }
        let request = try #require(server.requests.first)
        #expect(request.headers["authorization"] == nil)
        #expect(String(decoding: request.body, as: UTF8.self) == "client_id=id&client_secret=s3cret&code=c0de")
    }

    @Test("An error is one sentence on standard error and the status 1, also with --json", arguments: ["--json", "--page=1"])
    func error(option: String) async throws {
        let server = try LoopbackServer { _, connection in
            connection.respond("422 No", body: #"{"message":"Validation Failed","errors":[{"field":"q","code":"missing"}]}"#)
        }
        let outcome = try await Program("search", "", "--base-url", "\(server.url)", option).run()
        #expect(outcome.output.isEmpty)
        #expect(outcome.error == "github-demo: GitHub refuses with 422: Validation Failed (q: missing).\n")
        #expect(outcome.status == 1)
    }

    @Test("What was recorded over the network is replayed without it, and holds no token")
    func recording() async throws {
        let folder = TemporaryFolder()
        let file = folder.url("session.har")
        let server = try LoopbackServer { _, connection in connection.respond(body: fixture(.search)) }
        let url = "\(server.url)"
        let live = try await Program("search", "swift", "--base-url", url, "--record", file.path, "--token", "ghp_secret").run()
        #expect(live.status == 0)
        #expect(try !String(contentsOf: file, encoding: .utf8).contains("ghp_secret"))

        let replayed = try await Program("search", "swift", "--base-url", url, "--replay", file.path).run()
        #expect(replayed.output == live.output.replacingOccurrences(of: "From 127.0.0.1.", with: "From session.har, without the network."))
        #expect(replayed.error.isEmpty)

        let other = try await Program("search", "kotlin", "--base-url", url, "--replay", file.path).run()
        #expect(other.output.isEmpty)
        let reason = "It was recorded with other arguments or another --base-url"
        #expect(other.error == "github-demo: session.har has no answer to this command. \(reason).\n")
        #expect(other.status == 1)
        #expect(server.requests.count == 1)
    }

    private func fixture(_ type: MockURLProtocol.MockDTOType) -> String {
        let types = MockURLProtocol.MockDTOType.self
        let url = types.bundle.url(forResource: "\(type.fileName).json", withExtension: nil, subdirectory: types.subdirectory)
        return url.flatMap { try? String(contentsOf: $0, encoding: .utf8) } ?? ""
    }
}
#endif
