public import APIProvider
import Foundation
import MiniRx
// A test file imports this module and Testing.
@_exported public import MiniRxTesting
@_exported public import MockNetwork
import MockNetworkRecordings
public import Testing

/// Gives each test its own mock network, so that tests may run in parallel. Each argument of a parameterized test has its own. On a suite,
/// `@Suite(.mockNetwork)`, it is the trait of each test.
///
/// ```swift
/// @Test(.mockNetwork) func search() async throws {
///     MockURLProtocol.responseWithDTO(type: Fixture.search)
///     let provider = DefaultAPIProvider(
///         baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
///     let response = try await provider.request(SearchRequest(keyword: "swift"))
///         .value
///     #expect(response.items.count == 8)
/// }
/// ```
///
/// ### Issues
///
/// At the end of the test, the trait records an issue for
///
/// - each request that found no answer, even if the app ignored the error;
/// - each mistake in the setup of the test, even if the app ignored the error: a fixture that is not there, a value that cannot be
///   encoded, an entry of a recording that cannot be read, or the session of a scope that has ended;
/// - each stub that is not optional and was never used, or whose sequence was not used up, at the line of the stub;
/// - each stub that has not answered the number of requests that it expects, at the line of the stub;
/// - a fixture, a response type or a handler, if no request came.
///
/// If no request has reached the mock, the first issue says how to create the provider.
///
/// Expectations in the closures of the mock, such as `.handler` and `where:`, belong to the test that contains them. In the callback of a
/// `subscribe`, the `forEach` of a stream and the closure of a `dataTask`, a failed `#expect` fails the run, not the test. Keep the value,
/// and check it in the test.
///
/// The trait does not report on scopes that the test opens with `withScope`.
///
/// ### The HAR file of a failed test
///
/// With Swift 6.2 or later, a test that fails attaches its requests and their answers as a HAR file without secrets.
/// `swift test --attachments-path FOLDER` saves the file, and Xcode lists it in the test report. A browser's developer tools open it.
public struct MockNetworkTrait: TestTrait, SuiteTrait, TestScoping {
    /// `true`: on a suite, the trait applies to every test in it, including those of inner suites.
    public var isRecursive: Bool { true }

    /// The recording that the trait names; `nil` if it names none.
    var recording: Recording?

    /// Records an issue. Tests of this package replace it, because their own output must have none.
    var record: @Sendable (String, SourceLocation) -> Void = { Issue.record("\($0)", sourceLocation: $1) }

    /// Runs `function`, which is the `test` or one `testCase` of it, in a scope of its own.
    ///
    /// - Throws: The error of the test, unless it is already recorded as an issue.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await MockURLProtocol.withScope(test.displayName ?? test.name) {
            #if compiler(>=6.2)
            let mock = MockURLProtocol.scopeClass
            let issues: IssueHandlingTrait = .compactMapIssues { issue in
                // An issue outside of every test, as in the callback of a subscription, comes to all tests that run, and to the runner,
                // which reports it.
                guard Test.current != nil else { return nil }
                if issue.isError { mock.hasTestFailed = true }
                return issue
            }
            do {
                try await recording.run(test, testCase) {
                    try await issues.provideScope(for: test, testCase: testCase) { try await report(on: test, function) }
                }
            } catch {
                Self.attachTraffic(of: test)
                throw error
            }
            if mock.hasTestFailed { Self.attachTraffic(of: test) }
            #else
            try await recording.run(test, testCase) { try await report(on: test, function) }
            #endif
        }
    }

    // MARK: - The report on a test

    /// Runs a test, and reports what the mock has seen.
    private func report(on test: Test, _ function: @Sendable () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        for problem in MockURLProtocol.problems {
            record(problem.text, problem.place.map { SourceLocation($0) } ?? test.sourceLocation)
        }
        // An error that is an issue already, by a report or by `#require` in a handler, is not recorded twice.
        guard case .failure(let error) = result, !MockURLProtocol.isProblem(error) else { return }
        if !((error as? APIError)?.underlying is ExpectationFailedError) { throw error }
    }

    #if compiler(>=6.2)
    private static func attachTraffic(of test: Test) {
        guard let traffic = MockURLProtocol.attachment else { return }
        Attachment.record([UInt8](traffic), named: "\(test.name.prefix { $0 != "(" }).har", sourceLocation: test.sourceLocation)
    }
    #endif
}

// MARK: - Using the trait

extension Trait where Self == MockNetworkTrait {
    /// Gives each test its own mock network.
    public static var mockNetwork: Self { .init() }

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
    /// Everything else is as with ``mockNetwork``. Stubs answer before the recording. At the end of a replay, a warning names the
    /// entries that the test has not asked for.
    ///
    /// ### Recording and replaying
    ///
    /// `swift test` replays it and opens no connection. `MOCK_NETWORK=record swift test --filter firstPage` asks the server, and writes the
    /// file if the test passes and a replay is the same. `MOCK_NETWORK=verify` replays, and then asks the server whether its answers still
    /// have the same shape.
    ///
    /// Recording and verifying need Swift 6.2 or later, because only then does a trait know whether its test has failed.
    ///
    /// Each recording belongs to one test. In a parameterized test, write `.mockNetwork`, and call
    /// `MockURLProtocol.withRecording("search-\(argument)")` inside.
    ///
    /// - Parameters:
    ///   - name: The name of the recording.
    ///   - redaction: `.standard` replaces secrets; `.none` keeps everything.
    ///   - hidden: Names of headers, query items, JSON members, fields and cookies whose values are secret, too.
    ///   - kept: Names whose values are kept, unless they can only be a secret, such as a JWT.
    ///   - ignored: Names whose values change with each run, such as those of a time. They are not compared.
    ///   - isForAnyHost: Whether the recording also answers requests to other hosts, schemes and ports.
    ///   - transport: Asks the server. By default, a `URLSessionTransport` with an ephemeral configuration.
    ///   - filePath: The source file of the test.
    public static func mockNetwork(
        recording name: String, redacting redaction: Redaction = .standard, hiding hidden: [String] = [], keeping kept: [String] = [],
        ignoring ignored: [String] = [], forAnyHost isForAnyHost: Bool = false, from transport: (any Transport)? = nil,
        filePath: String = #filePath
    ) -> Self {
        MockNetworkTrait(
            recording: Recording(
                name, redacting: redaction, hiding: hidden, keeping: kept, ignoring: ignored, forAnyHost: isForAnyHost, from: transport,
                filePath: filePath))
    }
}

// MARK: - Recordings

extension Recording? {
    /// Runs a test with the recording, if there is one.
    fileprivate func run(_ test: Test, _ testCase: Test.Case?, _ function: @Sendable () async throws -> Void) async throws {
        guard let self else { return try await function() }
        guard !test.isParameterized else {
            throw Misuse(
                "A parameterized test has a recording for each argument: write .mockNetwork, and inside "
                    + "MockURLProtocol.withRecording(\"name-\\(argument)\") { … }")
        }
        let mode = try Recording.Mode(environment: ProcessInfo.processInfo.environment)
        #if compiler(<6.2)
        guard mode == .replay else { throw Misuse("MOCK_NETWORK=\(mode.rawValue) needs Swift 6.2 or later.") }
        #endif
        let place = test.sourceLocation
        func warn(_ warning: String) {
            #if compiler(>=6.3)
            Issue.record("\(warning)", severity: .warning, sourceLocation: place)
            #else
            StandardError.print(warning)
            #endif
        }
        let mock = MockURLProtocol.scopeClass
        try await self.run(
            mode, test: test.name, at: "\(place.fileID.split(separator: "/").last ?? ""):\(place.line)", hasFailed: { mock.hasTestFailed },
            warn: warn
        ) { try await function() }
    }
}

private struct Misuse: LocalizedError, CustomStringConvertible {
    let description: String
    var errorDescription: String? { description }
    init(_ description: String) { self.description = description }
}

// MARK: - Issues and source locations

#if compiler(>=6.2)
extension Issue {
    /// Whether the test fails because of it.
    fileprivate var isError: Bool {
        #if compiler(>=6.3)
        isFailure
        #else
        true
        #endif
    }
}
#endif

extension SourceLocation {
    fileprivate init(_ location: Stub.SourceLocation) {
        self.init(fileID: location.fileID, filePath: location.filePath, line: location.line, column: location.column)
    }
}
