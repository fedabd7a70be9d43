import APIProvider
import Foundation

/// A test issue: a mistake in the setup, or a request without an answer.
package struct Problem: Sendable, Hashable {
    package var text: String
    /// The wrong stub, if any.
    package var place: Stub.SourceLocation?
}

// MARK: - Unused and wrongly used stubs

/// The problems of a scope's stubs, in the stubs' order.
struct StubProblems {
    /// The stubs with their numbers of answered requests, the oldest first.
    let stubs: [(stub: Stub, uses: Int)]
    /// The scope's requests.
    let requests: [ReceivedRequest]

    /// The number of unused stubs to compare with the requests. More would take long, and add no other reason.
    private static let maximumComparisons = 100

    var problems: [Problem] {
        var comparisons = 0
        lazy var answered = answeredRequests
        return stubs.enumerated().compactMap { index, item in
            guard var text = item.stub.problem(afterUses: item.uses) else { return nil }
            if item.uses == 0, item.stub.problem == nil, comparisons < Self.maximumComparisons {
                comparisons += 1
                text += newerStubHint(for: index, answered) ?? ""
            }
            return Problem(text: text, place: item.stub.sourceLocation)
        }
    }

    private var answeredRequests: [(stub: Int, lines: RequestLines)] {
        let indices = Dictionary(stubs.enumerated().map { ($1.stub.id, $0) }) { first, _ in first }
        return requests.compactMap { request in request.stub.flatMap { indices[$0] }.map { ($0, RequestLines(request)) } }
    }

    /// A sentence about a newer stub that answered requests in place of the stub at `index`; `nil` without one.
    private func newerStubHint(for index: Int, _ answered: [(stub: Int, lines: RequestLines)]) -> String? {
        let stub = stubs[index].stub
        guard !stub.matchers.contains(where: \.runsUserCode) else { return nil }
        let hidden = answered.filter { $0.stub > index && stub.matches($0.lines) }
        guard let first = hidden.first else { return nil }
        let count = hidden.count { $0.stub == first.stub }
        return
            " The newer stub \(stubs[first.stub].stub) answered \(count == 1 ? "a request" : "\(count) requests") that this one matches. "
            + "The newest matching stub answers, so add the more general one first."
    }
}

extension Stub {
    /// The problem with the number of requests; `nil` without one.
    fileprivate func problem(afterUses uses: Int) -> String? {
        if let problem { return uses == 0 ? "The stub \(self) was never used: \(problem)." : nil }
        if let counts = expectation.withLock({ $0 }) {
            return counts.contains(uses) ? nil : "The stub \(self) should answer \(counts.text), but answered \(uses)."
        }
        guard !isOptional, times > 0 else { return nil }
        if uses == 0 { return "The stub \(self) was never used." }
        guard let count = response.sequenceLength, uses < min(count, times) else { return nil }
        return
            "The stub \(self) has a sequence of \(count) answers, and \(count - uses) \(count - uses == 1 ? "was" : "were") not used."
    }
}

extension Range<Int> {
    /// `2 requests`, `at least 1 request`.
    fileprivate var text: String {
        func requests(_ count: Int) -> String { "\(count) \(count == 1 ? "request" : "requests")" }
        if isEmpty { return "an impossible number of requests (an empty range)" }
        if upperBound == .max { return "at least \(requests(lowerBound))" }
        if count == 1 { return requests(lowerBound) }
        return lowerBound == 0 ? "at most \(requests(upperBound - 1))" : "\(lowerBound) to \(requests(upperBound - 1))"
    }
}

// MARK: - Names

extension Stub: CustomStringConvertible {
    /// The method, the URL and the source location: `GET /user (MyTests/UserTests.swift:12)`.
    public var description: String { "\(summary()) (\(sourceLocation.text))" }
}

extension ReceivedRequest: CustomStringConvertible {
    /// The method, the URL and the body's beginning, without secrets.
    public var description: String {
        let redactor = redactor
        let line = "\(method.rawValue) \(redactor.url(url.absoluteString))"
        guard !body.isEmpty else { return line }
        let body = BodyLines(body, type: headers["Content-Type"] ?? "")
        guard let text = redactor.body(body) else { return "\(line)\n\(body.data.count) bytes that are not text" }
        let shown = text.utf8.count > 1024 ? "\(text.cut(to: 1024)) (\(body.data.count) bytes)" : text
        return [line, redactor.partNames(of: body), shown].compactMap { $0 }.joined(separator: "\n")
    }
}
