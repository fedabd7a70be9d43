import APIProvider
import APIProviderMocks
import Foundation
import MiniRx

private let folder = "Documentation/Guide.docc/Pictures"

/// The report of a request that no stub answers, as the error of a request says it.
func unansweredReport() async -> Picture {
    let report = await MockURLProtocol.withScope("stars a repository") {
        let file: StaticString = "AppTests/StarTests.swift"
        MockURLProtocol.stub(.get, "/user", fileID: "\(file)", line: 11, respond: .status(200))
        MockURLProtocol.stub(.put, "/user/starred/apple/swift", fileID: "\(file)", line: 12, respond: .status(204))
        let provider = DefaultAPIProvider(baseURL: URL(string: "https://api.github.com"), transport: MockTransport())
        do {
            try await provider.request(Endpoint<Void>(.put, "/user/starred/apple/swift-nio")).value
            return "It was answered."
        } catch {
            return ((error as? APIError)?.underlying).map { "\($0)" } ?? "\(error)"
        }
    }
    return terminal("\(folder)/report", title: "A test that fails", output: report) { line in
        if line.contains(" expected ") { return .green }
        if line.contains(" got ") { return .error }
        return .text
    }
}

#if os(macOS) || os(Linux)  // Nothing else runs programs.
/// What the example prints, which stands beside this program.
func demo() throws -> Picture {
    let arguments = ["search", "ReactorKit"]
    let process = Process()
    let output = Pipe()
    process.executableURL = URL(fileURLWithPath: CommandLine.arguments[0]).deletingLastPathComponent().appendingPathComponent("github-demo")
    process.arguments = arguments
    process.standardOutput = output
    try process.run()
    let text = String(decoding: try output.fileHandleForReading.readToEnd() ?? Data(), as: UTF8.self)
    process.waitUntilExit()
    let command = "swift run github-demo \(arguments.joined(separator: " "))"
    return terminal("\(folder)/demo", title: "github-demo", command: command, output: text.trimmingCharacters(in: .newlines)) { line in
        line.hasPrefix("Sample") ? .line : .text
    }
}
#endif
