import Foundation

extension Single {
    /// Runs `singles`, at most `maxConcurrent` of them at the same time, and succeeds with their values in order.
    ///
    /// ```swift
    /// Single.zip(logins.map { provider.request(.user($0)) }, maxConcurrent: 4)
    /// ```
    ///
    /// They are subscribed to in their order. The first failure is delivered, disposes those that run, and starts no other.
    ///
    /// - Parameters:
    ///   - singles: The singles. With none, it succeeds with no values.
    ///   - maxConcurrent: With a number below 1, the single fails with an error that says so.
    public static func zip<T: Sendable>(
        _ singles: some Collection<Single<T>>, maxConcurrent: Int
    ) -> Single<[T]> where Element == [T] {
        guard maxConcurrent > 0 else { return .error(NoConcurrency(maximum: maxConcurrent)) }
        let singles = Array(singles)
        return .create { observer in
            let limit = ConcurrencyLimit(maxConcurrent)
            let whole = zip(singles.map { limit.limit($0.do(onError: { _ in limit.close() })) }).subscribe(observer)
            return Disposables.create {
                limit.close()
                whole.dispose()
            }
        }
    }
}

private struct NoConcurrency: LocalizedError, CustomStringConvertible {
    let maximum: Int

    var description: String { "zip(_:maxConcurrent:) got \(maximum) and runs nothing; the number must be 1 or more." }
    var errorDescription: String? { description }
}
