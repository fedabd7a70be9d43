public import APIProvider
package import Foundation
import MiniRx

extension MockURLProtocol {
    /// Answers the requests of a test from a recording with this name: the file `Recordings/NAME.har` beside the test's source file.
    ///
    /// ```swift
    /// func testSearch() async throws {
    ///     try await MockURLProtocol.withRecording("search") {
    ///         let provider = DefaultAPIProvider(
    ///             baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
    ///         let result = try await provider.request(
    ///             SearchRequest(keyword: "swift", perPage: 2)
    ///         ).value
    ///         XCTAssertEqual(result.items.count, 2)
    ///     }
    /// }
    /// ```
    ///
    /// Use it in XCTest, and for each argument of a parameterised test: `withRecording("search-\(argument)")`. Other tests use the trait
    /// `.mockNetwork(recording:)`. The operation runs on the caller's actor, in its own scope.
    /// <doc:RecordAndReplay> says how to record, what is compared, and what is left out.
    ///
    /// A recording is written, and the server is asked by `verify`, only if the operation throws nothing and `hasFailed` returns `false`.
    /// Failures of Swift Testing count too, with Swift 6.2 or later and if the test has the trait `.mockNetwork`. XCTest tells nobody: to stop at its failures, pass
    /// `hasFailed: { (self.testRun?.totalFailureCount ?? 0) > 0 }`.
    ///
    /// - Parameters:
    ///   - name: The name of the recording, which no other test has.
    ///   - redaction: What is recorded: `.standard` leaves secrets out, `.none` keeps everything.
    ///   - names: What `.standard` keeps as well: headers, query items, JSON members, fields and cookies by their names, and bodies by
    ///     their media types, such as `text/html`.
    ///   - ignored: The names of query items, members and fields that are not compared, such as those of a time.
    ///   - isForAnyHost: Whether the recording also answers requests to other hosts, schemes and ports.
    ///   - transport: Asks the server. By default, a `URLSessionTransport` with an ephemeral configuration.
    ///   - filePath: The source file of the test.
    ///   - line: The line of the call, for messages.
    ///   - function: The test, for messages.
    ///   - isolation: The caller's actor.
    ///   - hasFailed: Whether the test has failed without throwing an error.
    ///   - operation: The test.
    /// - Throws: The error of `operation`, or else what ``verify()`` throws. Also throws if there is no recording, if it cannot be read or
    ///   written, if another test has named it, or if `MOCK_NETWORK=verify` has found a change.
    public static func withRecording<R>(
        _ name: String, redacting redaction: Redaction = .standard, keeping names: [String] = [], ignoring ignored: [String] = [],
        forAnyHost isForAnyHost: Bool = false, from transport: (any Transport)? = nil, filePath: String = #filePath, line: Int = #line,
        function: String = #function, isolation: isolated (any Actor)? = #isolation, hasFailed: () -> Bool = { false },
        operation: () async throws -> R
    ) async throws -> R {
        let recording = Recording(
            name, redacting: redaction, keeping: names, ignoring: ignored, forAnyHost: isForAnyHost, from: transport, filePath: filePath)
        let outer = current
        return try await withScope(name, isolation: isolation) {
            _ = isolation
            return try await recording.run(
                test: String(function.prefix { $0 != "(" }), at: "\(URL(fileURLWithPath: filePath).lastPathComponent):\(line)",
                isolation: isolation, hasFailed: { hasFailed() || outer.hasTestFailed }, warn: { StandardError.print($0) }
            ) {
                _ = isolation
                let result = try await operation()
                try verify()
                return result
            }
        }
    }

    /// Whether the test of the scope has failed. The trait `.mockNetwork` sets it, because it sees the issues of the test.
    package static var hasTestFailed: Bool {
        get { scope.contents.withLock(\.hasTestFailed) }
        set { scope.contents.withLock { $0.hasTestFailed = newValue } }
    }

    /// The requests of the scope and their answers as a HAR 1.2 file without secrets. `nil` if no request has come.
    package static var recording: Data? {
        let (answered, live) = scope.contents.withLock { ($0.answered, $0.live) }
        let traffic = answered + (live?.traffic ?? [])
        return traffic.isEmpty ? nil : HAR.file(of: traffic)
    }
}
