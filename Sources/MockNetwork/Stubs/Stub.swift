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
    package struct Place: Sendable {
        package let fileID: String
        package let filePath: String
        package let line: Int
        package let column: Int

        /// The line is 0 in a recording, where `fileID` says it all.
        var text: String { line == 0 ? fileID : "\(fileID):\(line)" }
    }

    /// The expectations and the answer. The scope counts how often it was used.
    private final class Definition: @unchecked Sendable {  // `allRequests` is set once, before others can see the stub.
        var allRequests: @Sendable () -> [RecordedRequest] = { [] }
        let line: String
        let matchers: [Matcher]
        let times: Int
        let isOptional: Bool
        let place: Place
        let response: StubResponse
        let problem: String?
        let expectation = Locked<Range<Int>?>(nil)

        init(line: String, matchers: [Matcher], times: Int, isOptional: Bool, place: Place, response: StubResponse, problem: String?) {
            self.line = line
            self.matchers = matchers
            self.times = times
            self.isOptional = isOptional
            self.place = place
            self.response = response
            self.problem = problem
        }
    }

    private let definition: Definition

    init(
        _ method: HTTPMethod?, _ url: String, query: QueryParameters?, headers: HTTPHeaders?, body: BodyMatcher?, times: Int?,
        isOptional: Bool, place: Place, response: StubResponse
    ) {
        let pattern = URLPattern(url)
        let items = pattern.query + (query ?? [:])
        let methodMatcher = method.map { [Matcher.method($0)] } ?? []
        let headerMatchers = (headers ?? [:]).map { Matcher.header($0.name, $0.value) }
        let url = RecordingRedactor.report.url(String(pattern.pathAndOrigin))
        self.init(
            line: "\(method?.rawValue ?? "any method") \(url)\(items.isEmpty ? "" : "?" + items.shown)",
            matchers: methodMatcher + [.path(pattern.path), .origin(pattern.origin)] + Matcher.queries(items) + headerMatchers
                + (body.map { [.body($0)] } ?? []),
            times: times ?? .max, isOptional: isOptional, place: place, response: response,
            problem: pattern.problem.map { "its URL can match no request, because \($0)" })
    }

    init(
        line: String, matchers: [Matcher], times: Int = .max, isOptional: Bool, place: Place, response: StubResponse,
        problem: String? = nil
    ) {
        definition = Definition(
            line: line, matchers: matchers, times: times, isOptional: isOptional, place: place, response: response, problem: problem)
    }

    /// Says where the stub finds the requests of its scope. Call it once, before others can see the stub.
    func findRequests(in allRequests: @escaping @Sendable () -> [RecordedRequest]) { definition.allRequests = allRequests }

    /// The requests that this stub has answered, in order. Empty after its scope has ended.
    public var requests: [RecordedRequest] { definition.allRequests().filter { $0.stub?.isSame(as: self) == true } }

    func matches(_ request: RequestParts) -> Bool {
        problem == nil && definition.matchers.allSatisfy { $0.matches(request) }
    }

    /// The differences between `request` and what this stub expects.
    func mismatches(with request: RequestParts) -> [Matcher.Mismatch] {
        definition.matchers.filter { !$0.matches(request) }.map { $0.explain(request) }
    }

    func isSame(as other: Stub) -> Bool { definition === other.definition }

    /// The number of requests that the stub answers.
    var times: Int { definition.times }

    var response: StubResponse { definition.response }

    /// How many requests it should answer, if its test says so.
    var expectation: Locked<Range<Int>?> { definition.expectation }

    /// The reason why the stub matches no request. Otherwise `nil`.
    package var problem: String? { definition.problem }

    /// Whether the stub may go unused.
    package var isOptional: Bool { definition.isOptional }

    /// The place at which it was registered.
    package var place: Place { definition.place }

    /// The method and the URL.
    package var line: String { definition.line }
}

extension Stub: CustomStringConvertible {
    /// The method, the URL and the place in the source: `GET /user (MyTests/UserTests.swift:12)`.
    public var description: String { "\(line) (\(place.text))" }
}
