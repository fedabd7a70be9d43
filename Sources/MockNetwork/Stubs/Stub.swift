import APIProvider
import Foundation
import MiniRx

/// An answer for the requests that match, as `MockURLProtocol.stub` returns it.
///
/// ```swift
/// let stub = MockURLProtocol.stub(.post, "/orders", respond: .status(201))
///
/// #expect(try stub.requests.first?.json(Order.self) == order)
/// ```
public struct Stub: Sendable {
    /// The place of a stub in the source.
    package struct SourceLocation: Sendable, Hashable {
        package let fileID: String
        package let filePath: String
        package let line: Int
        package let column: Int

        var text: String { "\(fileID):\(line)" }
    }

    /// The state and the identity that all copies share.
    private final class Shared: Sendable {
        let expectation = Locked<Range<Int>?>(nil)
    }

    /// The method and the URL, or the name of the condition.
    package let summary: String
    let matchers: [Matcher]
    /// The number of requests that the stub answers.
    let times: Int
    /// Whether the stub may go unused.
    package let isOptional: Bool
    /// The place at which it was registered.
    package let sourceLocation: SourceLocation
    let response: StubResponse
    /// The reason why the stub matches no request. Otherwise `nil`.
    package let problem: String?
    /// The requests of its scope.
    var allRequests: @Sendable () -> [ReceivedRequest] = { [] }
    private let shared = Shared()

    init(
        summary: String, matchers: [Matcher], times: Int = .max, isOptional: Bool, sourceLocation: SourceLocation, response: StubResponse,
        problem: String? = nil
    ) {
        (self.summary, self.matchers, self.times, self.isOptional) = (summary, matchers, times, isOptional)
        (self.sourceLocation, self.response, self.problem) = (sourceLocation, response, problem)
    }
}

extension Stub {
    init(
        _ method: HTTPMethod, _ url: String, query: QueryParameters?, headers: HTTPHeaders?, body: BodyMatcher?, times: Int?,
        isOptional: Bool, sourceLocation: SourceLocation, response: StubResponse
    ) {
        let pattern = URLPattern(url)
        let items = pattern.query + (query ?? [:])
        let headerMatchers = (headers ?? [:]).map { Matcher.header($0.name, $0.value) }
        let url = ReportRedactor.standard.url(String(pattern.pathAndOrigin))
        self.init(
            summary: "\(method.rawValue) \(url)\(items.isEmpty ? "" : "?" + items.redacted)" + (body?.summary.map { " \($0)" } ?? ""),
            matchers: [.method(method), .path(pattern.path), .origin(pattern.origin)] + Matcher.queries(items) + headerMatchers
                + (body.map { [.body($0)] } ?? []),
            times: times ?? .max, isOptional: isOptional, sourceLocation: sourceLocation, response: response,
            problem: pattern.problem.map { "its URL can match no request, because \($0)" } ?? body?.problem)
    }

    /// The requests that this stub has answered, in order. Empty after its scope has ended.
    public var requests: [ReceivedRequest] { allRequests().filter { $0.stub?.isSame(as: self) == true } }

    /// The index of the first matcher that `request` does not meet. `nil` if it meets all.
    func firstMismatch(with request: RequestParts) -> Int? { matchers.firstIndex { !$0.matches(request) } }

    /// The differences between `request` and what this stub expects.
    ///
    /// - Parameter first: The first mismatch, if it is known. The matchers up to it are not asked again: one may be a closure of the test,
    ///   with an expectation that would fail twice.
    func mismatches(with request: RequestParts, from first: Int?) -> [Matcher.Mismatch] {
        matchers.enumerated().filter { $0.offset == first || $0.offset > first ?? -1 && !$0.element.matches(request) }
            .map { $0.element.explain(request) }
    }

    func isSame(as other: Stub) -> Bool { shared === other.shared }

    /// The number of requests that the test expects.
    var expectation: Locked<Range<Int>?> { shared.expectation }
}

extension Stub: CustomStringConvertible {
    /// The method, the URL and the place in the source: `GET /user (MyTests/UserTests.swift:12)`.
    public var description: String { "\(summary) (\(sourceLocation.text))" }
}
