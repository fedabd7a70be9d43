#if os(macOS) || os(Linux)  // Nothing else runs programs.
import Foundation

/// The built program, run as a user runs it.
struct Program {
    struct Outcome: Sendable {
        let output: String
        let error: String
        let status: Int32
    }

    private let process = Process()
    private let output = Pipe()
    private let error = Pipe()

    init(_ arguments: [String], environment: [String: String] = [:]) {
        // On macOS, the tests are a bundle beside the program.
        let tests = Bundle(for: Tests.self).bundleURL
        let folder = tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests
        process.executableURL = folder.appendingPathComponent("github-demo")
        process.arguments = arguments
        // They say where the coverage goes, and what Address Sanitizer does not report.
        let shared = ProcessInfo.processInfo.environment.filter { ["LLVM_PROFILE_FILE", "ASAN_OPTIONS"].contains($0.key) }
        process.environment = environment.merging(shared) { $1 }
        process.standardOutput = output
        process.standardError = error
    }

    /// Runs it to its end.
    func run() async throws -> Outcome {
        try process.run()
        let (output, error) = (output.fileHandleForReading, error.fileHandleForReading)
        async let printed = Self.text(of: output)
        async let reported = Self.text(of: error)
        let texts = try await (printed, reported)
        process.waitUntilExit()
        return Outcome(output: texts.0, error: texts.1, status: process.terminationStatus)
    }

    private static func text(of handle: FileHandle) async throws -> String {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(with: Result { String(decoding: try handle.readToEnd() ?? Data(), as: UTF8.self) })
            }
        }
    }

    private final class Tests {}
}
#endif
