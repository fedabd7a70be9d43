import Foundation

extension Scope.Contents {
    /// Takes out the oldest requests and problems above the limit.
    ///
    /// - Parameter request: The newest request.
    mutating func takeExcess(after request: ReceivedRequest) -> (requests: [ReceivedRequest], problems: [Problem])? {
        guard let limit else { return nil }
        requestByteCount += request.body.count
        // A newer failure has a greater number.
        if failures.count > 2 * limit.count { failures = Set(failures.sorted().suffix(limit.count)) }
        var count = max(0, requests.count - limit.count)
        var excess = requests.prefix(count).reduce(0) { $0 + $1.body.count }
        while requestByteCount - excess > limit.byteCount, count < requests.count - 1 {
            excess += requests[count].body.count
            count += 1
        }
        let oldest = (requests: Array(requests.prefix(count)), problems: Array(problems.prefix(max(0, problems.count - limit.count))))
        requests.removeFirst(count)
        problems.removeFirst(oldest.problems.count)
        (requestByteCount, removedRequestCount) = (requestByteCount - excess, removedRequestCount + count)
        return oldest
    }
}
