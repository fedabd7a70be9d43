import Foundation
import MockServer
import Testing

@Suite struct ProcessTests {
    /// Many rules are about bytes on a connection, and all are about clients in other languages.
    @Test("Clients in Python use the program", .enabled(if: Program.python != nil)) func clientsInPythonUseTheProgram() async throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let (status, text) = try await Program(url: Program.python).run(
            ["-W", "error", tests.appendingPathComponent("Python/test_server.py").path], ["MOCK_SERVER": Program.named("mock-server").path])
        #expect(status == 0, "\(text)")
    }

    /// The demo is there in the folder of the root's build.
    @Test(
        "A program in Swift gets what the test has stubbed, and the test sees its requests",
        .enabled(if: FileManager.default.isExecutableFile(atPath: Program.named("github-demo").path)))
    func aProgramInSwiftGetsWhatTheTest() async throws {
        try await MockServer.run(for: "https://api.github.com") { server in
            server.mock.stub(.get, "https://api.github.com/users/octocat", respond: .status(404))
            let (status, text) = try await Program(url: Program.named("github-demo")).run(
                ["user", "octocat", "--base-url", server.url.absoluteString], [:])
            #expect(status == 1, "\(text)")
            #expect(server.mock.requests.map(\.path) == ["/users/octocat"])
        }
    }
}

/// A program that runs to its end.
private struct Program {
    let url: URL?

    func run(_ arguments: [String], _ environment: [String: String]) async throws -> (status: Int32, text: String) {
        let (process, output) = (Process(), Pipe())
        (process.executableURL, process.arguments) = (url, arguments)
        process.environment = ProcessInfo.processInfo.environment.merging(environment) { $1 }
        (process.standardOutput, process.standardError) = (output, output)
        try process.run()
        return try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
                        process.waitUntilExit()
                        return (process.terminationStatus, text)
                    })
            }
        }
    }

    static var python: URL? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { URL(fileURLWithPath: "\($0)/python3") }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// A program of the build. They are beside the test bundle.
    static func named(_ name: String) -> URL {
        final class Tests {}
        let tests = Bundle(for: Tests.self).bundleURL
        return (tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests).appendingPathComponent(name)
    }
}
