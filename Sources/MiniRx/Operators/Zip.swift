extension Single {
    /// Waits for all of `singles`, which run at the same time, and succeeds with their values in order.
    ///
    /// The first failure is delivered and disposes the others. With no singles, it succeeds with no values.
    @inlinable
    public static func zip<T: Sendable>(_ singles: some Collection<Single<T>>) -> Single<[T]> where Element == [T] {
        let singles = Array(singles)
        guard !singles.isEmpty else { return .just([]) }
        return Single { context, observer in
            let parts = Parts(in: context, Row<T>(count: singles.count), observer)
            return parts.run(in: &context) {
                for (index, single) in singles.enumerated() {
                    let next = parts.start(single) { context, event in
                        parts.receive(event, &context) { row, value in
                            row.values[index] = value
                            row.missing -= 1
                            return row.missing == 0 ? row.values.compactMap { $0 } : nil
                        }
                    }
                    if let next { return next }
                }
                return nil
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
        return Single { context, observer in
            let parts = Parts(in: context, Pair<A, B>(), observer)
            return parts.run(in: &context) {
                parts.start(a) { context, event in
                    parts.receive(event, &context) { pair, a in
                        pair.a = a
                        return pair.b.map { (a, $0) }
                    }
                }
                    ?? parts.start(b) { context, event in
                        parts.receive(event, &context) { pair, b in
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
        var erased: [Single<any Sendable>] = []
        repeat erased.append((each singles).map { Box($0) })
        return Single<[any Sendable]>.zip(erased).map { values in
            var values = values.makeIterator()
            return try resultSelector(repeat next(of: (each T).self, &values))
        }
    }

    @inlinable
    static func next<T: Sendable>(of type: T.Type, _ values: inout IndexingIterator<[any Sendable]>) -> T {
        guard let box = values.next() as? Box<T> else {
            preconditionFailure("The values were erased in this same order, one for each type.")
        }
        return box.value
    }
}

/// A value that keeps its type when it is erased, even if it is an optional.
@usableFromInline
struct Box<Value: Sendable>: Sendable {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
}

extension Parts {
    /// Fails with the error of a part, or sets its value. For the last value, `set` returns the value of the whole.
    @inlinable
    func receive<Element>(_ event: SingleEvent<Element>, _ part: inout Context, set: (inout Gathered, Element) -> Whole?) -> Next? {
        finish(&part) { values in
            switch event {
            case .success(let value): set(&values, value).map { .success($0) }
            case .failure(let error): .failure(error)
            }
        }
    }
}

/// The values of a zip of two.
@usableFromInline
struct Pair<A, B>: Values {
    @usableFromInline var a: A?
    @usableFromInline var b: B?

    @inlinable
    init() {}
}

/// The values of a zip of a collection.
@usableFromInline
struct Row<Value>: Values {
    @usableFromInline var values: [Value?]
    @usableFromInline var missing: Int

    @inlinable
    init(count: Int) { (values, missing) = ([Value?](repeating: nil, count: count), count) }

    @inlinable
    init() { self.init(count: 0) }
}
