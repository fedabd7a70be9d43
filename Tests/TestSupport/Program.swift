#if os(macOS) || os(Linux)  // Nothing else runs programs.
package import Foundation

/// A program that runs as a user runs it, with nothing on its standard input.
///
/// It is not started by a `Process`, which reads beyond its buffer on Linux when more than some 1,300 descriptors are open: tests that run
/// at once may have as many.
package struct Program: Sendable {
    package struct Outcome: Sendable {
        package let output: Data
        package let error: Data
        /// What the program exited with, or the negative number of the signal that ended it.
        package let status: Int32
    }

    private let path: String
    private let arguments: [String]
    private let environment: [String: String]

    package init(_ path: String, _ arguments: [String], environment: [String: String] = ProcessInfo.processInfo.environment) {
        self.path = path
        self.arguments = arguments
        self.environment = environment
    }

    /// Runs it to its end, on the caller's thread.
    package func run() throws -> Outcome {
        let folder = TemporaryFolder()
        // The shell opens the files, and becomes the program.
        let script = #"exec "$@" < /dev/null > "$0/output" 2> "$0/error""#
        let words = (["sh", "-c", script, folder.url.path, path] + arguments).map { strdup($0) }
        let variables = environment.map { strdup("\($0)=\($1)") }
        defer { for text in words + variables { free(text) } }
        var process = pid_t()
        let code = posix_spawn(&process, "/bin/sh", nil, nil, words + [nil], variables + [nil])
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) != process {
            guard errno == EINTR else { throw POSIXError(POSIXErrorCode(rawValue: errno) ?? .ECHILD) }
        }
        let signal = status & 0x7F
        return try Outcome(
            output: Data(contentsOf: folder.url("output")), error: Data(contentsOf: folder.url("error")),
            status: signal == 0 ? status >> 8 : -signal)
    }
}
#endif
