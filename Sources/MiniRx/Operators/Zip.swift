extension Single {
    /// All the values, in the order of `singles`, which run at the same time. The first failure wins and disposes the others. No singles
    /// succeed with no values.
    public static func zip<T: Sendable>(_ singles: [Single<T>]) -> Single<[T]> where Element == [T] {
        Single { subscription, observer in
            guard !singles.isEmpty else { return observer(subscription, .success([])) }
            let parts = Parts(of: subscription, values: Values<T>(count: singles.count), observer)
            for (index, single) in singles.enumerated() {
                parts?.start(single) { parts, event in parts.receive(event) { $0.set($1, at: index) } }
            }
        }
    }

    /// What `resultSelector` makes of all the values, in the order of `singles`. If it throws, the single fails with that error.
    @preconcurrency
    public static func zip<T: Sendable>(
        _ singles: [Single<T>], resultSelector: @escaping @Sendable ([T]) throws -> Element
    ) -> Single {
        Single<[T]>.zip(singles).map(resultSelector)
    }

    /// Both values, of two singles that run at the same time. The first failure wins and disposes the other.
    @inlinable
    public static func zip<A: Sendable, B: Sendable>(_ a: Single<A>, _ b: Single<B>) -> Single<(A, B)> where Element == (A, B) {
        Single { subscription, observer in
            let parts = Parts(of: subscription, values: (a: A?.none, b: B?.none), observer)
            parts?.start(a) { parts, event in
                parts.receive(event) { values, a in
                    values.a = a
                    return values.b.map { (a, $0) }
                }
            }
            parts?.start(b) { parts, event in
                parts.receive(event) { values, b in
                    values.b = b
                    return values.a.map { ($0, b) }
                }
            }
        }
    }

    /// What `resultSelector` makes of both values. If it throws, the single fails with that error.
    @preconcurrency @inlinable
    public static func zip<A: Sendable, B: Sendable>(
        _ a: Single<A>, _ b: Single<B>, resultSelector: @escaping @Sendable (A, B) throws -> Element
    ) -> Single {
        Single<(A, B)>.zip(a, b).map { try resultSelector($0.0, $0.1) }
    }

    /// The values of three singles that run at the same time. The first failure wins and disposes the others.
    @inlinable
    public static func zip<A: Sendable, B: Sendable, C: Sendable>(
        _ a: Single<A>, _ b: Single<B>, _ c: Single<C>
    ) -> Single<(A, B, C)> where Element == (A, B, C) {
        zip(a, b, c) { ($0, $1, $2) }
    }

    /// What `resultSelector` makes of the three values. If it throws, the single fails with that error.
    @preconcurrency @inlinable
    public static func zip<A: Sendable, B: Sendable, C: Sendable>(
        _ a: Single<A>, _ b: Single<B>, _ c: Single<C>, resultSelector: @escaping @Sendable (A, B, C) throws -> Element
    ) -> Single {
        Single<((A, B), C)>.zip(.zip(a, b), c).map { try resultSelector($0.0.0, $0.0.1, $0.1) }
    }

    /// The values of all `singles`, which run at the same time. The first failure wins and disposes the others.
    public static func zip<each T: Sendable>(_ singles: repeat Single<each T>) -> Single<(repeat each T)> where Element == (repeat each T) {
        zip(repeat each singles) { (values: repeat each T) in (repeat each values) }
    }

    /// What `resultSelector` makes of the values of all `singles`. If it throws, the single fails with that error.
    @preconcurrency
    public static func zip<each T: Sendable>(
        _ singles: repeat Single<each T>, resultSelector: @escaping @Sendable (repeat each T) throws -> Element
    ) -> Single {
        var erased: [Single<any Sendable>] = []
        repeat erased.append((each singles).map { Box(value: $0) })
        return Single<[any Sendable]>.zip(erased).map { values in
            var values = values.makeIterator()
            return try resultSelector(repeat next(of: (each T).self, &values))
        }
    }

    private static func next<T: Sendable>(of type: T.Type, _ values: inout IndexingIterator<[any Sendable]>) -> T {
        guard let box = values.next() as? Box<T> else {
            preconditionFailure("The values were erased in this same order, one for each type.")
        }
        return box.value
    }
}

/// Keeps a value's type when it is erased, also that of an optional.
private struct Box<Value: Sendable>: Sendable {
    let value: Value
}

/// Values that come one by one, each to its place.
private struct Values<Element> {
    private var values: [Element?]
    private var missing: Int

    init(count: Int) {
        values = Array(repeating: nil, count: count)
        missing = count
    }

    /// All of them, with the last.
    mutating func set(_ value: Element, at index: Int) -> [Element]? {
        values[index] = value
        missing -= 1
        return missing == 0 ? values.compactMap { $0 } : nil
    }
}
