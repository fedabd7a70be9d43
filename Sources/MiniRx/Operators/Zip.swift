extension Single {
    /// Waits for all of `singles`, which run at the same time, and succeeds with their values in order.
    ///
    /// The first failure is delivered and disposes the others. With no singles, it succeeds with no values.
    public static func zip<T: Sendable>(_ singles: some Collection<Single<T>>) -> Single<[T]> where Element == [T] {
        let singles = Array(singles)
        guard !singles.isEmpty else { return .just([]) }
        return ChildGroup.single { group in
            let values = Locked((received: [T?](repeating: nil, count: singles.count), missing: singles.count))
            for (index, single) in singles.enumerated() {
                group.add(single) { event in
                    switch event {
                    case .failure(let error): return group.emit(.failure(error))
                    case .success(let value):
                        let all = values.withLock { values -> [T]? in
                            values.received[index] = value
                            values.missing -= 1
                            return values.missing == 0 ? values.received.compactMap { $0 } : nil
                        }
                        return all.map { group.emit(.success($0)) } ?? .none
                    }
                }
            }
        }
    }

    /// Waits for all of `singles`, and succeeds with the result of `resultSelector`. If that throws, the single fails with that error.
    @preconcurrency
    public static func zip<T: Sendable>(
        _ singles: some Collection<Single<T>>, resultSelector: @escaping @Sendable ([T]) throws -> Element
    ) -> Single {
        Single<[T]>.zip(singles).map(resultSelector)
    }

    /// Waits for all singles, which run at the same time, and succeeds with their values. The first failure is delivered and disposes the
    /// others.
    ///
    /// ![Both values are delivered when the second arrives.](zip)
    ///
    /// ![One source fails. The other is disposed, and the error is delivered.](zipFailure)
    public static func zip<each T: Sendable>(_ singles: repeat Single<each T>) -> Single<(repeat each T)> where Element == (repeat each T) {
        zip(repeat each singles) { (values: repeat each T) in (repeat each values) }
    }

    /// Waits for all singles, and succeeds with the result of `resultSelector`. If that throws, the single fails with that error.
    @preconcurrency
    public static func zip<each T: Sendable>(
        _ singles: repeat Single<each T>, resultSelector: @escaping @Sendable (repeat each T) throws -> Element
    ) -> Single {
        // The array version of `zip` needs one element type, so each value travels in a `Box`.
        var boxed: [Single<any AnyObject & Sendable>] = []
        repeat boxed.append((each singles).map { Box($0) })
        return Single<[any AnyObject & Sendable]>.zip(boxed).map { boxes in
            var boxes = boxes.makeIterator()
            return try resultSelector(repeat next((each T).self, in: &boxes))
        }
    }
}

private final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

private func next<Value: Sendable>(_ type: Value.Type, in boxes: inout IndexingIterator<[any AnyObject & Sendable]>) -> Value {
    // The boxes are in the order of the singles, so this never happens.
    guard let box = boxes.next() as? Box<Value> else { preconditionFailure("zip has lost a value.") }
    return box.value
}
