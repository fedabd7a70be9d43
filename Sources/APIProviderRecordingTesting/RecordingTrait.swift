public import APIProvider
import APIProviderMocks
@_exported public import APIProviderRecordings
// A test file imports this module and Testing.
@_exported public import APIProviderTesting
import Foundation
import MiniRx
public import Testing

/// Answers a test from a recording, in a separate mock network: `.mockNetwork(recording: "search")`.
///
/// Issues, and the text that a failed test attaches, are as with `.mockNetwork`. The text names each entry that answered.
///
/// A recording is one test's, so the trait is for tests, and not for suites.
public struct RecordingTrait: TestTrait, TestScoping {
    let recording: Recording

    /// Runs `function`, the `test` or one `testCase`, in a new scope with the recording.
    ///
    /// - Throws: The test's error, unless already recorded as an issue.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        var trait = MockNetworkTrait.mockNetwork
        trait.run = { try await recording.run($0, $1, $2) }
        try await trait.provideScope(for: test, testCase: testCase, performing: function)
    }
}

// MARK: - Using the trait

extension Trait where Self == RecordingTrait {
    /// Answers the test from a recording with this name: the file `Recordings/NAME.har` beside the test's source file.
    ///
    /// ```swift
    /// @Test(.mockNetwork(recording: "page")) func firstPage() async throws {
    ///     let provider = DefaultAPIProvider(
    ///         baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
    ///     let result = try await provider.request(
    ///         SearchRequest(keyword: "swift", perPage: 2)
    ///     ).value
    ///     #expect(result.items.count == 2)
    /// }
    /// ```
    ///
    /// Everything else is as with `.mockNetwork`. Stubs answer before the recording. At the end of a replay, a warning names unused
    /// entries.
    ///
    /// ### Recording and replaying
    ///
    /// `swift test` replays the recording and opens no connection. `MOCK_NETWORK=record swift test --filter firstPage` asks the server, and
    /// writes the file if the test passes and a replay is the same.
    ///
    /// Recording needs Swift 6.2 or later, where a trait knows whether the test failed.
    ///
    /// Each recording belongs to one test. In a parameterized test, write `.mockNetwork`, and call
    /// `MockURLProtocol.withRecording("search-\(argument)")` inside.
    ///
    /// - Parameters:
    ///   - name: The recording's name, unique among tests.
    ///   - options: What the recording hides, ignores and compares.
    ///   - transport: Asks the server. By default, a `URLSessionTransport` with an ephemeral configuration.
    ///   - filePath: The test's source file.
    public static func mockNetwork(
        recording name: String, _ options: RecordingOptions = RecordingOptions(), from transport: (any Transport)? = nil,
        filePath: String = #filePath
    ) -> Self {
        RecordingTrait(recording: Recording(name, options, from: transport, filePath: filePath))
    }

    /// Answers the test from a recording with the name of the test's function: `.mockNetwork(recording: .shop)`.
    ///
    /// - Parameters:
    ///   - options: What the recording hides, ignores and compares.
    ///   - transport: Asks the server. By default, a `URLSessionTransport` with an ephemeral configuration.
    ///   - filePath: The test's source file.
    public static func mockNetwork(
        recording options: RecordingOptions, from transport: (any Transport)? = nil, filePath: String = #filePath
    ) -> Self {
        RecordingTrait(recording: Recording(nil, options, from: transport, filePath: filePath))
    }
}

extension SuiteTrait where Self == MockNetworkTrait {
    /// Unavailable: a recording is one test's.
    @available(*, unavailable, message: "A recording is one test's. Write the trait at each test.")
    public static func mockNetwork(recording: some Any, _ options: RecordingOptions = RecordingOptions()) -> Self { .mockNetwork }

    /// Unavailable: a recording is one test's.
    @available(*, unavailable, message: "A recording is one test's. Write the trait at each test.")
    public static func mockNetwork(recording options: RecordingOptions) -> Self { .mockNetwork }
}

// MARK: - Recordings

extension Recording {
    /// Runs a test with the recording.
    fileprivate func run(_ test: Test, _ testCase: Test.Case?, _ function: @Sendable () async throws -> Void) async throws {
        guard !test.isParameterized else {
            throw MockFailure(
                "A parameterized test has a recording for each argument: write .mockNetwork, and inside "
                    + "MockURLProtocol.withRecording(\"name-\\(argument)\") { … }")
        }
        let mode = try Recording.Mode(environment: ProcessInfo.processInfo.environment)
        #if compiler(<6.2)
        guard mode == .replay else { throw MockFailure("MOCK_NETWORK=\(mode.rawValue) needs Swift 6.2 or later.") }
        #endif
        let place = test.sourceLocation
        func warn(_ warning: String) {
            #if compiler(>=6.3)
            Issue.record("\(warning)", severity: .warning, sourceLocation: place)
            #else
            StandardError.print(warning)
            #endif
        }
        let mock = MockURLProtocol.protocolClass
        try await run(
            mode, test: test.name, at: "\(place.fileID.split(separator: "/").last ?? ""):\(place.line)", hasFailed: { mock.hasTestFailed },
            warn: warn
        ) { try await function() }
    }
}
