public import APIProvider
// A test file, or an app's with demo data, imports this module alone.
@_exported public import APIProviderMocks
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension MockURLProtocol {
    // MARK: - In a test

    /// Answers a test's requests from a recording with this name: the file `Recordings/NAME.har` beside the test's source file.
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
    /// Use this method in XCTest, and for each argument of a parameterized test: `withRecording("search-\(argument)")`. Other tests use the
    /// trait `.mockNetwork(recording:)`. The operation runs on the caller's actor, in its own scope. Stubs answer before the recording. For
    /// recording, secrets and comparison, see <doc:RecordAndReplay>.
    ///
    /// A failed test writes nothing. XCTest has no hook for failures, so pass `hasFailed: { (self.testRun?.totalFailureCount ?? 0) > 0 }`.
    /// Failures of Swift Testing count by themselves, with Swift 6.2 or later and the trait `.mockNetwork`.
    ///
    /// - Parameters:
    ///   - name: The recording's name, unique among tests. `nil` is the name of the test.
    ///   - options: What the recording hides, ignores and compares.
    ///   - transport: Asks the server. By default, a `URLSessionTransport` with an ephemeral configuration.
    ///   - hasFailed: Whether the test failed without throwing an error.
    ///   - filePath: The test's source file.
    ///   - line: The call's line, for messages.
    ///   - function: The test.
    ///   - isolation: The caller's actor.
    ///   - operation: The test.
    /// - Throws: The error from `operation`, or else from `MockURLProtocol.verify()`. Also throws for a missing, unreadable or unwritten
    ///   recording.
    public static func withRecording<R>(
        _ name: String? = nil, _ options: RecordingOptions = RecordingOptions(), from transport: (any Transport)? = nil,
        hasFailed: () -> Bool = { false }, filePath: String = #filePath, line: Int = #line, function: String = #function,
        isolation: isolated (any Actor)? = #isolation, operation: () async throws -> R
    ) async throws -> R {
        let recording = Recording(name, options, from: transport, filePath: filePath)
        let outer = protocolClass
        return try await withScope(name ?? function, isolation: isolation) {
            _ = isolation
            return try await recording.run(
                test: function, at: "\(URL(fileURLWithPath: filePath).lastPathComponent):\(line)", isolation: isolation,
                hasFailed: { hasFailed() || outer.hasTestFailed }, warn: { StandardError.print($0) }
            ) {
                _ = isolation
                let result = try await operation()
                try verify()
                return result
            }
        }
    }

    /// Records the requests of other programs during `operation`, for a server. What the stubs got does not matter.
    ///
    /// - Parameters:
    ///   - file: A file with the extension `har`.
    ///   - warn: Gets a sentence about the file.
    @_spi(Serving) public static func record(
        to file: URL, editing: @escaping @Sendable (inout RecordedExchange) -> Void, warn: (String) -> Void,
        isolation: isolated (any Actor)? = #isolation, operation: () async throws -> Void
    ) async throws {
        let configuration = URLSessionConfiguration.ephemeral
        // Each of the programs keeps its own cookies.
        configuration.httpCookieStorage = nil
        var recording = Recording(
            file.deletingPathExtension().lastPathComponent, RecordingOptions(editing: editing),
            from: URLSessionTransport(configuration: configuration), filePath: "")
        recording.folder = file.deletingLastPathComponent()
        try await withScope(file.lastPathComponent, isolation: isolation) {
            try await recording.run(.record, test: "--record", at: "mock-server", isolation: isolation, warn: warn, operation)
        }
    }

    // MARK: - In an app

    /// Answers the current scope's requests from a HAR file, outside any test: in a preview, or in a UI test's app.
    ///
    /// ```swift
    /// func makeProvider() throws -> DefaultAPIProvider {
    ///     guard let path = ProcessInfo.processInfo.environment["RECORDING"] else {
    ///         return DefaultAPIProvider(baseURL: GitHub.apiURL)
    ///     }
    ///     try MockURLProtocol.replay(contentsOf: URL(fileURLWithPath: path))
    ///     return DefaultAPIProvider(
    ///         baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
    /// }
    /// ```
    ///
    /// A request without an answer in the file fails with a report. Of several files, the newest comes first. `reset()` removes them.
    ///
    /// - Parameters:
    ///   - file: A recording, or a browser's or proxy's file.
    ///   - options: What the file ignores and compares. Nothing is written, so nothing is edited.
    /// - Throws: For an unreadable file, an error with the fault's place.
    public static func replay(contentsOf file: URL, _ options: RecordingOptions = RecordingOptions()) throws {
        guard let data = try? Data(contentsOf: file) else {
            throw MockFailure("\(file.lastPathComponent): it cannot be read (\(file.path)).")
        }
        let recorded = Replay(try HARFile(data, name: file.lastPathComponent), options)
        let replay = Locked(recorded)
        add(AnswerSource(hiding: options.hidden) { replay.choose($0) })
    }
}
