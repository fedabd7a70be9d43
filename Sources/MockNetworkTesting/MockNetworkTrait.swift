import Foundation
import MiniRx
import MockNetwork
public import Testing

/// Gives each test its own mock network, so that tests may run in parallel. Each argument of a parameterised test has its own.
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
/// At the end of the test, the trait records an issue for
///
/// - each request that found no answer, even if the app ignored the error;
/// - each stub that is not optional and was never used, or whose sequence was not used up, at the line of the stub;
/// - each stub that has not answered the number of requests that it expects, at the line of the stub;
/// - a fixture, a response type or a handler, if no request came.
///
/// If no request has reached the mock, the issue says how to create the provider.
///
/// The trait does not report on scopes that the test opens with `withScope`.
///
/// With Swift 6.2 or later, a test that fails attaches its requests and their answers as a HAR file without secrets.
/// `swift test --attachments-path FOLDER` saves the file, and Xcode lists it in the test report. A browser's developer tools open it.
public struct MockNetworkTrait: TestTrait, SuiteTrait, TestScoping {
    /// `true`: on a suite, the trait applies to every test in it, including those of inner suites.
    public var isRecursive: Bool { true }

    /// Runs a test in its own scope.
    public func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        try await MockURLProtocol.withScope(test.displayName ?? test.name) {
            #if compiler(>=6.2)
            let hasFailed = Locked(false)
            let issues: IssueHandlingTrait = .compactMapIssues { issue in
                hasFailed.withLock { $0 = true }
                return issue
            }
            do {
                try await issues.provideScope(for: test, testCase: testCase) { try await Self.report(on: test, function) }
            } catch {
                Self.attachTraffic(of: test)
                throw error
            }
            if hasFailed.withLock({ $0 }) { Self.attachTraffic(of: test) }
            #else
            try await Self.report(on: test, function)
            #endif
        }
    }

    /// Runs a test, and records issues for what the mock has seen.
    private static func report(on test: Test, _ function: @Sendable () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        for report in MockURLProtocol.unansweredReports {
            Issue.record("\(report)", sourceLocation: test.sourceLocation)
        }
        let (stubs, unused) = (MockURLProtocol.stubReports, MockURLProtocol.unusedMockReport)
        for (stub, report) in stubs {
            Issue.record("\([report, unused].compactMap { $0 }.joined(separator: " "))", sourceLocation: SourceLocation(stub.place))
        }
        if stubs.isEmpty, let unused { Issue.record("\(unused)", sourceLocation: test.sourceLocation) }
        // An error with a report that is an issue already is not recorded twice.
        if case .failure(let error) = result, !MockURLProtocol.hasReported(error) { throw error }
    }

    #if compiler(>=6.2)
    private static func attachTraffic(of test: Test) {
        guard let traffic = MockURLProtocol.recording else { return }
        Attachment.record([UInt8](traffic), named: "\(test.name.prefix { $0 != "(" }).har", sourceLocation: test.sourceLocation)
    }
    #endif
}

extension Trait where Self == MockNetworkTrait {
    /// Gives each test its own mock network.
    public static var mockNetwork: Self { .init() }
}

extension SourceLocation {
    fileprivate init(_ place: Stub.Place) {
        self.init(fileID: place.fileID, filePath: place.filePath, line: place.line, column: place.column)
    }
}
