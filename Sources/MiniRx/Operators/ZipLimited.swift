import Foundation

extension Single {
    /// Runs `singles`, at most `maxConcurrent` at the same time, and succeeds with their values in order.
    ///
    /// ```swift
    /// Single.zip(logins.map { provider.request(.user($0)) }, maxConcurrent: 4)
    /// ```
    ///
    /// Singles start in order. The first failure is delivered and disposes the running singles. No single starts after that, unless another
    /// thread is already starting it.
    ///
    /// - Parameters:
    ///   - singles: The singles. An empty collection succeeds with no values.
    ///   - maxConcurrent: The largest number of running singles. With a number below 1, the single fails and names the number.
    public static func zip<T: Sendable>(
        _ singles: some Collection<Single<T>>, maxConcurrent: Int
    ) -> Single<[T]> where Element == [T] {
        guard maxConcurrent > 0 else { return .error(InvalidConcurrencyLimit(maximum: maxConcurrent)) }
        let singles = Array(singles)
        return .deferred {
            let nextIndex = Locked(0)
            let values = Locked([T?](repeating: nil, count: singles.count))
            /// Runs one single after another, until none is left.
            @Sendable func worker() -> Single<Void> {
                let index = nextIndex.withLock { nextIndex in
                    defer { nextIndex += 1 }
                    return nextIndex
                }
                guard index < singles.count else { return .just(()) }
                // A failure moves `nextIndex` to the end, so that no worker starts a single before `zip` disposes the workers.
                return singles[index].do(onError: { _ in nextIndex.withLock { $0 = singles.count } }).flatMap { value in
                    values.withLock { $0[index] = value }
                    return worker()
                }
            }
            let workers = (0..<min(maxConcurrent, singles.count)).map { _ in Single<Void>.deferred { worker() } }
            return Single<[Void]>.zip(workers).map { _ in values.withLock { $0 }.compactMap { $0 } }
        }
    }
}

private struct InvalidConcurrencyLimit: LocalizedError, CustomStringConvertible {
    let maximum: Int

    var description: String { "maxConcurrent is \(maximum); it must be at least 1." }
    var errorDescription: String? { description }
}
