#if os(macOS) || os(Linux)  // Nothing else runs programs.
import Foundation

/// The built program, run as a user runs it.
struct Program {
    /// What has become of it.
    struct Outcome: Sendable {
        let output: String
        let error: String
        let status: Int32
    }

    private let process = Process()
    private let output = Pipe()
    private let error = Pipe()

    init(_ arguments: String..., environment: [String: String] = [:]) {
        process.executableURL = Self.url
        process.arguments = arguments
        // Where it is built to count its lines, it must know where to write them, and where it is checked, what not to report.
        let shared = ProcessInfo.processInfo.environment.filter { ["LLVM_PROFILE_FILE", "ASAN_OPTIONS"].contains($0.key) }
        process.environment = environment.merging(shared) { $1 }
        process.standardOutput = output
        process.standardError = error
    }

    /// Runs it to its end.
    func run() async throws -> Outcome {
        try process.run()
        let (output, error, process) = (output.fileHandleForReading, error.fileHandleForReading, process)
        async let text = Self.text(of: output)
        async let errorText = Self.text(of: error)
        let (outputText, words) = try await (text, errorText)
        process.waitUntilExit()
        return Outcome(output: outputText, error: words, status: process.terminationStatus)
    }

    private static func text(of handle: FileHandle) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self) })
            }
        }
    }

    /// It stands beside the tests, which are a separate bundle on macOS.
    private static var url: URL {
        let tests = Bundle(for: Tests.self).bundleURL
        let folder = tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests
        return folder.appendingPathComponent("github-demo")
    }

    private final class Tests {}
}
#endif
