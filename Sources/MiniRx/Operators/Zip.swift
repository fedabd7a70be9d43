extension Single {
    /// All the values, in the order of `singles`, which run at the same time. The first failure wins and disposes the others. No singles
    /// succeed with no values.
    public static func zip<T: Sendable>(_ singles: [Single<T>]) -> Single<[T]> where Element == [T] {
        Single { subscription, observer in
            guard !singles.isEmpty else { return observer(subscription, .success([])) }
            guard let parts = Parts(of: subscription) else { return }
            let values = Locked(Values<T>(count: singles.count))
            for (index, single) in singles.enumerated() {
                parts.start(single) { event in
                    switch event {
                    case .success(let value):
                        guard let all = values.withLock({ $0.set(value, at: index) }) else { return }
                        parts.finish { observer(subscription, .success(all)) }
                    case .failure(let error):
                        parts.finish { observer(subscription, .failure(error)) }
                    }
                }
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
