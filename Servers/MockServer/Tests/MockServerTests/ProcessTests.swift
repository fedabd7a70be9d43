#if os(macOS) || os(Linux)
import Foundation
import MockServer
import Testing

@Suite struct ProcessTests {
    /// Many rules are about bytes on a connection, and all are about clients in other languages.
    @Test("Clients in Python use the program", .enabled(if: Program.found("python3") != nil))
    func clientsInPythonUseTheProgram() async throws {
        try await check("python3", ["-W", "error", "Python/test_server.py"])
    }

    @Test("Clients in Node use the program", .enabled(if: Program.found("node") != nil))
    func clientsInNodeUseTheProgram() async throws {
        try await check("node", ["--test", "Node/test_server.mjs"])
    }

    @Test("Clients in Java use the program", .enabled(if: Program.found("java") != nil))
    func clientsInJavaUseTheProgram() async throws {
        try await check("java", ["Java/Clients.java"])
    }

    /// - Parameter arguments: The last is a path in the folder of the tests.
    private func check(_ program: String, _ arguments: [String]) async throws {
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        let file = tests.appendingPathComponent(try #require(arguments.last)).path
        let (status, text) = try await Program(url: Program.found(program)).run(
            arguments.dropLast() + [file], ["MOCK_SERVER": Program.named("mock-server").path])
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

    /// A program in the search path.
    static func found(_ name: String) -> URL? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { URL(fileURLWithPath: "\($0)/\(name)") }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// A program of the build. They are beside the test bundle.
    static func named(_ name: String) -> URL {
        final class Tests {}
        let tests = Bundle(for: Tests.self).bundleURL
        return (tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests).appendingPathComponent(name)
    }
}
#endif
