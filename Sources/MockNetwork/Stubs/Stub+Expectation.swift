import APIProvider
import MiniRx

extension Stub {
    /// Expects that the stub answers exactly `count` requests. If not, ``MockURLProtocol/verify()`` and the trait `.mockNetwork` report it.
    ///
    /// ```swift
    /// MockURLProtocol.stub(.post, "/orders", respond: .status(201)).expecting(1)
    /// ```
    ///
    /// The expectation does not limit the stub. To limit it, pass `times`.
    @discardableResult
    public func expecting(_ count: Int) -> Stub { expecting(count...count) }

    /// Expects that the number of requests that the stub answers is in `counts`: `2...` is at least two, `...2` is at most two, and `1...3`
    /// is one to three.
    ///
    /// If not, ``MockURLProtocol/verify()`` and the trait `.mockNetwork` report it.
    @discardableResult
    public func expecting(_ counts: some RangeExpression<Int>) -> Stub {
        // A closed range to `Int.max` has no half-open form.
        let range: Range<Int>
        switch counts {
        case let counts as ClosedRange<Int> where counts.upperBound == .max: range = counts.lowerBound..<Int.max
        case let counts as PartialRangeThrough<Int> where counts.upperBound == .max: range = 0..<Int.max
        default: range = counts.relative(to: 0..<Int.max)
        }
        expectation.withLock { $0 = range }
        return self
    }

    /// The problem with the number of requests that the stub has answered. `nil` if there is none.
    func report(afterUses uses: Int) -> String? {
        if problem == nil, let counts = expectation.withLock({ $0 }) {
            return counts.contains(uses) ? nil : "The stub \(self) should answer \(counts.text), and has answered \(uses)\(ending)"
        }
        let hasProblem = problem != nil
        guard !isOptional && times > 0 || hasProblem else { return nil }
        if uses == 0 { return "The stub \(self) was never used\(ending)" }
        guard let count = response.countOfSequence, uses < min(count, times) else { return nil }
        return
            "The stub \(self) has a sequence of \(count) answers, of which \(count - uses) \(count - uses == 1 ? "was" : "were") not used."
    }

    /// A sentence about a newer stub that has answered requests which this one matches; empty if there is none.
    func reportOfNewerStub(among newer: [Stub], for requests: [ReceivedRequest]) -> String {
        guard problem == nil, !matchers.contains(where: \.isClosure) else { return "" }
        let hidden = requests.filter { request in
            newer.contains { request.stub?.isSame(as: $0) == true } && firstMismatch(with: RequestParts(request)) == nil
        }
        guard let other = hidden.first?.stub else { return "" }
        let count = hidden.count { $0.stub?.isSame(as: other) == true }
        return
            " It matches \(count == 1 ? "a request" : "\(count) requests") that the newer stub \(other) has answered: of two stubs "
            + "that match, the newer one answers, so add the more general one first."
    }

    private var ending: String { problem.map { ": \($0)." } ?? "." }
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
