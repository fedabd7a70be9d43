extension Single {
    /// Waits for all of `singles`, which run at the same time, and succeeds with their values in order.
    ///
    /// The first failure is delivered and disposes the others. With no singles, it succeeds with no values.
    @inlinable
    public static func zip<T: Sendable>(_ singles: some Collection<Single<T>>) -> Single<[T]> where Element == [T] {
        let singles = Array(singles)
        guard !singles.isEmpty else { return .just([]) }
        return Single { chain, observer in
            // Used under the mutex of the parts.
            nonisolated(unsafe) var (values, missing) = ([T?](repeating: nil, count: singles.count), singles.count)
            Parts.run(in: chain, observer) { parts in
                for (index, single) in singles.enumerated() {
                    parts.start(single) { event in
                        event.gather {
                            values[index] = $0
                            missing -= 1
                            return missing == 0 ? values.compactMap { $0 } : nil
                        }
                    }
                }
            }
        }
    }

    /// Waits for all of `singles`, and succeeds with the result of `resultSelector`. If that throws, the single fails with that error.
    @preconcurrency @inlinable
    public static func zip<T: Sendable>(
        _ singles: some Collection<Single<T>>, resultSelector: @escaping @Sendable ([T]) throws -> Element
    ) -> Single {
        Single<[T]>.zip(singles).map(resultSelector)
    }

    /// Waits for two singles, which run at the same time, and succeeds with both values. The first failure is delivered and disposes the
    /// other.
    ///
    /// ![Both values are delivered when the second arrives.](zip)
    ///
    /// ![One source fails. The other is disposed, and the error is delivered.](zipFailure)
    @inlinable
    public static func zip<A: Sendable, B: Sendable>(_ a: Single<A>, _ b: Single<B>) -> Single<(A, B)> where Element == (A, B) {
        switch (a.content, b.content) {
        case (.event(.failure(let error)), _): return .error(error)
        case (.event(.success(let first)), _): return b.map { (first, $0) }
        case (_, .event(.success(let second))): return a.map { ($0, second) }
        default: break
        }
        return Single { chain, observer in
            // Used under the mutex of the parts.
            nonisolated(unsafe) var pair: (a: A?, b: B?)
            Parts.run(in: chain, observer) { parts in
                parts.start(a) { event in
                    event.gather { a in
                        pair.a = a
                        return pair.b.map { (a, $0) }
                    }
                }
                parts.start(b) { event in
                    event.gather { b in
                        pair.b = b
                        return pair.a.map { ($0, b) }
                    }
                }
            }
        }
    }

    /// Waits for two singles, and succeeds with the result of `resultSelector`. If that throws, the single fails with that error.
    @preconcurrency @inlinable
    public static func zip<A: Sendable, B: Sendable>(
        _ a: Single<A>, _ b: Single<B>, resultSelector: @escaping @Sendable (A, B) throws -> Element
    ) -> Single {
        Single<(A, B)>.zip(a, b).map { try resultSelector($0.0, $0.1) }
    }

    /// Waits for three singles, which run at the same time, and succeeds with their values. The first failure is delivered and disposes the
    /// others.
    @inlinable
    public static func zip<A: Sendable, B: Sendable, C: Sendable>(
        _ a: Single<A>, _ b: Single<B>, _ c: Single<C>
    ) -> Single<(A, B, C)> where Element == (A, B, C) {
        zip(a, b, c) { ($0, $1, $2) }
    }

    /// Waits for three singles, and succeeds with the result of `resultSelector`. If that throws, the single fails with that error.
    @preconcurrency @inlinable
    public static func zip<A: Sendable, B: Sendable, C: Sendable>(
        _ a: Single<A>, _ b: Single<B>, _ c: Single<C>, resultSelector: @escaping @Sendable (A, B, C) throws -> Element
    ) -> Single {
        Single<((A, B), C)>.zip(.zip(a, b), c).map { try resultSelector($0.0.0, $0.0.1, $0.1) }
    }

    /// Waits for all singles, which run at the same time, and succeeds with their values. The first failure is delivered and disposes the
    /// others.
    @inlinable
    public static func zip<each T: Sendable>(_ singles: repeat Single<each T>) -> Single<(repeat each T)> where Element == (repeat each T) {
        zip(repeat each singles) { (values: repeat each T) in (repeat each values) }
    }

    /// Waits for all singles, and succeeds with the result of `resultSelector`. If that throws, the single fails with that error.
    @preconcurrency @inlinable
    public static func zip<each T: Sendable>(
        _ singles: repeat Single<each T>, resultSelector: @escaping @Sendable (repeat each T) throws -> Element
    ) -> Single {
        var boxed: [Single<any AnyObject & Sendable>] = []
        repeat boxed.append((each singles).map { Box($0) })
        return Single<[any AnyObject & Sendable]>.zip(boxed).map { boxes in
            var index = -1
            return try resultSelector(repeat value(of: (each T).self, in: boxes, at: &index))
        }
    }

    /// The value in the next box. The boxes are in the order of the types.
    @inlinable
    static func value<T: Sendable>(of type: T.Type, in boxes: [any AnyObject & Sendable], at index: inout Int) -> T {
        index += 1
        return unsafeDowncast(boxes[index], to: Box<T>.self).value
    }
}

/// A value whose type is known again when the values of all parts are there.
@usableFromInline
final class Box<Value: Sendable>: Sendable {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
}

extension Result where Failure == any Error {
    /// The error, or the value of the whole that `add` returns when it has all values.
    @inlinable
    func gather<Whole>(_ add: (Success) -> Whole?) -> Result<Whole, Failure>? {
        switch self {
        case .success(let value): add(value).map { .success($0) }
        case .failure(let error): .failure(error)
        }
    }
}
