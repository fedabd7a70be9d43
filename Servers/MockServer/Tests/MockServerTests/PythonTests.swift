import Foundation
import Testing

@Suite struct PythonTests {
    /// Many rules are about bytes on a connection, and all are about clients in other languages.
    @Test(.enabled(if: Self.python != nil)) func `Clients in Python use the program`() throws {
        let process = Process()
        process.executableURL = Self.python
        process.arguments = ["-W", "error", "-m", "unittest", "-q", "test_server"]
        let tests = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        process.currentDirectoryURL = tests.appendingPathComponent("Python")
        let program = try #require(Self.productsFolder).appendingPathComponent("mock-server").path
        process.environment = ProcessInfo.processInfo.environment.merging(["MOCK_SERVER": program, "PYTHONDONTWRITEBYTECODE": "1"]) { $1 }
        let output = Pipe()
        process.standardError = output
        try process.run()
        let text = String(decoding: output.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self)
        process.waitUntilExit()
        #expect(process.terminationStatus == 0, "\(text)")
    }

    private static var python: URL? {
        let folders = ProcessInfo.processInfo.environment["PATH"]?.split(separator: ":") ?? []
        return folders.map { URL(fileURLWithPath: "\($0)/python3") }.first { FileManager.default.isExecutableFile(atPath: $0.path) }
    }

    /// The folder of the test bundle and of the programs.
    private static var productsFolder: URL? {
        final class Tests {}
        let tests = Bundle(for: Tests.self).bundleURL
        return tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests
    }
}
