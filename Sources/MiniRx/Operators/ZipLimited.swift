import Foundation

extension Single {
    /// Runs `singles`, at most `maxConcurrent` of them at the same time, and succeeds with their values in order.
    ///
    /// ```swift
    /// Single.zip(logins.map { provider.request(.user($0)) }, maxConcurrent: 4)
    /// ```
    ///
    /// They are subscribed to in their order. The first failure is delivered and disposes the singles that are running. After that, no
    /// single starts, except one that another thread is already starting.
    ///
    /// - Parameters:
    ///   - singles: The singles. With none, it succeeds with no values.
    ///   - maxConcurrent: The largest number of singles that run at the same time. With a number below 1, the single fails with an error
    ///     that says so.
    public static func zip<T: Sendable>(
        _ singles: some Collection<Single<T>>, maxConcurrent: Int
    ) -> Single<[T]> where Element == [T] {
        guard maxConcurrent > 0 else { return .error(InvalidConcurrencyLimit(maximum: maxConcurrent)) }
        let singles = Array(singles)
        return .deferred {
            let next = Locked(0)
            let values = Locked([T?](repeating: nil, count: singles.count))
            /// Runs the next single, and then itself again until none is left.
            @Sendable func worker() -> Single<Void> {
                let index = next.withLock { next in
                    defer { next += 1 }
                    return next
                }
                guard index < singles.count else { return .just(()) }
                // On a failure, `next` moves to the end at once, so that no other worker starts a single before `zip` disposes the workers.
                return singles[index].do(onError: { _ in next.withLock { $0 = singles.count } }).flatMap { value in
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
