#if os(macOS) || os(Linux)
import Foundation
import TestSupport

/// The built program, run as a user runs it.
struct Demo {
    struct Outcome: Sendable {
        let output: String
        let error: String
        let status: Int32
    }

    private let program: Program

    init(_ arguments: [String], environment: [String: String] = [:]) {
        // On macOS, the tests are a bundle beside the program.
        let tests = Bundle(for: Tests.self).bundleURL
        let folder = tests.pathExtension == "xctest" ? tests.deletingLastPathComponent() : tests
        // They say where the coverage goes, and what Address Sanitizer does not report.
        let shared = ProcessInfo.processInfo.environment.filter { ["LLVM_PROFILE_FILE", "ASAN_OPTIONS"].contains($0.key) }
        program = Program(
            folder.appendingPathComponent("github-demo").path, arguments, environment: environment.merging(shared) { $1 })
    }

    /// Runs it to its end.
    func run() async throws -> Outcome {
        try await withCheckedThrowingContinuation { continuation in
            DispatchQueue.global().async {
                continuation.resume(
                    with: Result {
                        let outcome = try program.run()
                        return Outcome(
                            output: String(decoding: outcome.output, as: UTF8.self), error: String(decoding: outcome.error, as: UTF8.self),
                            status: outcome.status)
                    })
            }
        }
    }

    private final class Tests {}
}
#endif
