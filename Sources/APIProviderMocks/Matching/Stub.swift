import APIProvider
import Foundation
import MiniRx

/// An answer for matching requests, the result of `MockURLProtocol.stub`.
///
/// ```swift
/// let stub = MockURLProtocol.stub(.post, "/orders", respond: .status(201))
///
/// #expect(try stub.requests.first?.json(Order.self) == order)
/// ```
public struct Stub: Sendable {
    /// A stub's place in the source.
    package struct SourceLocation: Sendable, Hashable {
        package let fileID: String
        package let filePath: String
        package let line: Int

        var text: String { "\(fileID):\(line)" }
    }

    /// All copies' common state and identity.
    private final class Shared: Sendable {
        let expectation = Locked<Range<Int>?>(nil)
    }

    /// The method and the URL, or the condition's name, for reports.
    let summary: @Sendable () -> String
    @HiddenFromReflection private(set) var matchers: [Matcher]
    /// The number of requests to answer.
    let times: Int
    /// Whether the stub may go unused.
    let isOptional: Bool
    /// The place of the `stub` call.
    let sourceLocation: SourceLocation
    let response: StubResponse
    /// The reason why the stub matches no request, if any.
    let problem: String?
    /// The scope's requests.
    var allRequests: @Sendable () -> [ReceivedRequest] = { [] }
    private let shared = Shared()

    init(
        summary: @escaping @Sendable () -> String, matchers: [Matcher], times: Int?, isOptional: Bool, sourceLocation: SourceLocation,
        response: StubResponse, problem: String? = nil
    ) {
        (self.summary, self.matchers, self.times, self.isOptional) = (summary, matchers, times ?? .max, isOptional)
        (self.sourceLocation, self.response, self.problem) = (sourceLocation, response, problem)
    }

    /// The requests answered by this stub, in order. After the scope's end, they stay, each with the first 64 KB of its body.
    public var requests: [ReceivedRequest] { allRequests().filter { $0.stub == id } }

    /// The same for all copies, and unique among stubs.
    var id: ObjectIdentifier { ObjectIdentifier(shared) }

    /// The test's expected number of requests.
    var expectation: Locked<Range<Int>?> { shared.expectation }

    func matches(_ request: RequestLines) -> Bool { problem == nil && matchers.allSatisfy { $0.matches(request) } }
}
