// A test file imports this module and Testing.
@_exported public import APIProviderMocks
@_exported public import MiniRxTesting
public import Testing

/// Gives each test a separate mock network, so that tests may run in parallel. In a parameterized test, each argument gets one.
/// `@Suite(.mockNetwork)` applies to each test in the suite.
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
/// At the test's end, the trait records an issue for
///
/// - each request without an answer, even if the app ignores the error;
/// - each mistake in the setup, even if the app ignores the error: a missing fixture, a value that cannot be encoded, an unreadable
///   recording entry, or an ended scope's session;
/// - each unused stub and each sequence with answers left, unless optional, at the stub's line;
/// - each stub with another number of requests than expected, at the stub's line;
/// - a fixture, a response type or a handler without a request.
///
/// Without any request to the mock, the first issue says how to create the provider.
///
/// Expectations in the mock's closures, such as `.handler` and `where:`, belong to the test around them. In a `subscribe` callback, a
/// stream's `forEach` or a `dataTask` closure, a failed `#expect` fails the run, not the test. Store the value, and check the value in the
/// test.
///
/// The trait does not report on the test's own `withScope`.
///
/// ### The requests of a failed test
///
/// With Swift 6.2 or later, a failed test attaches its requests as text, without secrets. `swift test --attachments-path FOLDER` saves the
/// file, and Xcode lists it in the test report.
public struct MockNetworkTrait: TestTrait, SuiteTrait, TestScoping {
    /// `true`: on a suite, the trait applies to every test, including those of inner suites.
    public var isRecursive: Bool { true }

    /// Runs a test in its scope. The recording trait adds the recording.
    package var run: @Sendable (Test, Test.Case?, @Sendable () async throws -> Void) async throws -> Void = { _, _, function in
        try await function()
    }

    /// Records an issue. This package's tests replace the closure, because their own runs must have no issues.
    var record: @Sendable (String, SourceLocation) -> Void = { Issue.record("\($0)", sourceLocation: $1) }

    /// Runs `function`, the `test` or one `testCase`, in a new scope.
    ///
    /// - Throws: The test's error, unless already recorded as an issue.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await MockURLProtocol.withScope(test.displayName ?? test.name) {
            #if compiler(>=6.2)
            let mock = MockURLProtocol.protocolClass
            let issues: IssueHandlingTrait = .compactMapIssues { issue in
                // An issue outside every test, as in a subscription's callback, reaches all running tests, and the runner, which reports
                // the issue.
                guard Test.current != nil else { return nil }
                if issue.isError { mock.hasTestFailed = true }
                return issue
            }
            do {
                try await run(test, testCase) {
                    try await issues.provideScope(for: test, testCase: testCase) { try await report(on: test, function) }
                }
            } catch {
                attachRequests(of: test)
                throw error
            }
            if mock.hasTestFailed { attachRequests(of: test) }
            #else
            try await run(test, testCase) { try await report(on: test, function) }
            #endif
        }
    }

    // MARK: - Reporting

    /// Runs a test, and reports the mock's problems.
    private func report(on test: Test, _ function: @Sendable () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        for problem in MockURLProtocol.problems {
            record(problem.text, problem.place.map { SourceLocation($0) } ?? test.sourceLocation)
        }
        // Do not record an error twice, from a report or from `#require` in a handler.
        guard case .failure(let error) = result, !MockURLProtocol.isProblem(error) else { return }
        if !((error as? APIError)?.underlying is ExpectationFailedError) { throw error }
    }

    #if compiler(>=6.2)
    private func attachRequests(of test: Test) {
        guard let text = MockURLProtocol.requestsAsText else { return }
        Attachment.record(Array(text.utf8), named: "\(test.name.prefix { $0 != "(" }).txt", sourceLocation: test.sourceLocation)
    }
    #endif
}

// MARK: - Using the trait

extension Trait where Self == MockNetworkTrait {
    /// Gives each test a separate mock network.
    public static var mockNetwork: Self { .init() }
}

// MARK: - Issues and source locations

#if compiler(>=6.2)
extension Issue {
    /// Whether the issue fails the test.
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
        self.init(fileID: location.fileID, filePath: location.filePath, line: location.line, column: 1)
    }
}
