import Foundation
import MiniRx
import MockNetwork
public import Testing

/// Gives each test, and each argument of a parameterised one, a mock network of its own, so that tests may run in parallel.
///
/// ```swift
/// @Test(.mockNetwork) func search() async throws {
///     MockURLProtocol.responseWithDTO(type: Fixture.search)
///     let provider = DefaultAPIProvider(baseURL: GitHub.apiURL, configuration: MockURLProtocol.configuration)
///     #expect(try await provider.request(SearchRequest(keyword: "swift")).value.items.count == 8)
/// }
/// ```
///
/// At the end of the test each of these is an issue:
///
/// - a request that found no answer, even when the app swallowed the error;
/// - a stub that was never used, at its own line, unless it is optional;
/// - a fixture, a response type or a handler that was set up when no request came: as a rule a provider that was not made of the mock.
///
/// A scope within the test, by `withScope`, reports nothing.
///
/// A test that fails attaches its requests and their answers as a HAR file without secrets, with Swift 6.2 or later:
/// `swift test --attachments-path FOLDER` saves it, and Xcode shows it in the test report. Browsers' developer tools open it.
public struct MockNetworkTrait: TestTrait, SuiteTrait, TestScoping {
    /// On a suite, it is for each of its tests, also in suites within it.
    public var isRecursive: Bool { true }

    /// Runs a test in a scope of its own.
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

    /// Runs a test, and makes issues of what the mock has seen.
    private static func report(on test: Test, _ function: @Sendable () async throws -> Void) async throws {
        let result: Result<Void, any Error>
        do { result = .success(try await function()) } catch { result = .failure(error) }
        for report in MockURLProtocol.unansweredReports {
            Issue.record("\(report)", sourceLocation: test.sourceLocation)
        }
        for stub in MockURLProtocol.unusedStubs {
            Issue.record("\(stub.unusedReport)", sourceLocation: SourceLocation(stub.place))
        }
        if let report = MockURLProtocol.unreachedReport { Issue.record("\(report)", sourceLocation: test.sourceLocation) }
        // What is told already is not told again as an error that was caught.
        if case .failure(let error) = result, !MockURLProtocol.hasReported(error) { throw error }
    }

    #if compiler(>=6.2)
    private static func attachTraffic(of test: Test) {
        guard let traffic = MockURLProtocol.traffic else { return }
        Attachment.record([UInt8](traffic), named: "\(test.name.prefix { $0 != "(" }).har", sourceLocation: test.sourceLocation)
    }
    #endif
}

extension Trait where Self == MockNetworkTrait {
    /// Gives each test a mock network of its own.
    public static var mockNetwork: Self { .init() }
}

extension SourceLocation {
    fileprivate init(_ place: Stub.Place) {
        self.init(fileID: place.fileID, filePath: place.filePath, line: place.line, column: place.column)
    }
}
