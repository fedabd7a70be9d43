import APIProvider
import MiniRx

extension Stub {
    /// Expects exactly `count` requests. ``MockURLProtocol/verify()`` and the trait `.mockNetwork` report another number.
    ///
    /// ```swift
    /// MockURLProtocol.stub(.post, "/orders", respond: .status(201)).expecting(1)
    /// ```
    ///
    /// The expectation does not limit the stub. To limit it, pass `times`.
    @discardableResult
    public func expecting(_ count: Int) -> Stub { expecting(count...count) }

    /// Expects a number of requests in `counts`: `2...` is at least two, `...2` is at most two, and `1...3` is one to three.
    ///
    /// ``MockURLProtocol/verify()`` and the trait `.mockNetwork` report another number.
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
}
