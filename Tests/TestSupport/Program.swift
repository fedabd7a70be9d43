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
        let (output, error) = (folder.url("output"), folder.url("error"))
        // The shell opens the files, and becomes the program.
        let script = #"output=$1 error=$2; shift 2; exec "$@" < /dev/null > "$output" 2> "$error""#
        var process = pid_t()
        let code = withCStrings(["sh", "-c", script, "sh", output.path, error.path, path] + arguments) { arguments in
            withCStrings(environment.map { "\($0)=\($1)" }) { posix_spawn(&process, "/bin/sh", nil, nil, arguments, $0) }
        }
        guard code == 0 else { throw POSIXError(POSIXErrorCode(rawValue: code) ?? .EINVAL) }
        var status: Int32 = 0
        while waitpid(process, &status, 0) == -1, errno == EINTR {}
        let signal = status & 0x7F
        return try Outcome(output: Data(contentsOf: output), error: Data(contentsOf: error), status: signal == 0 ? status >> 8 : -signal)
    }

    private func withCStrings<Result>(
        _ texts: [String], _ body: ([UnsafeMutablePointer<CChar>?]) throws -> Result
    ) rethrows -> Result {
        let pointers = texts.map { strdup($0) }
        defer { pointers.forEach { free($0) } }
        return try body(pointers + [nil])
    }
}
#endif
