extension Single {
    /// Waits for all of `singles`, which run at the same time, and succeeds with their values in order.
    ///
    /// The first failure is delivered and disposes the others. With no singles, it succeeds with no values.
    @inlinable
    public static func zip<T: Sendable>(_ singles: some Collection<Single<T>>) -> Single<[T]> where Element == [T] {
        let singles = Array(singles)
        guard !singles.isEmpty else { return .just([]) }
        return Single { context, observer in
            let parts = Parts(in: context, observer)
            let values = Values(of: parts, (all: [T?](repeating: nil, count: singles.count), missing: singles.count))
            return parts.run(in: &context) {
                for (index, single) in singles.enumerated() {
                    let next = parts.start(single) { context, event in
                        values.receive(event, &context) { values, value in
                            values.all[index] = value
                            values.missing -= 1
                            return values.missing == 0 ? values.all.compactMap { $0 } : nil
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
            let parts = Parts(in: context, observer)
            let values = Values(of: parts, (a: A?.none, b: B?.none))
            return parts.run(in: &context) {
                let next = parts.start(a) { context, event in
                    values.receive(event, &context) { values, a in
                        values.a = a
                        return values.b.map { (a, $0) }
                    }
                }
                if let next { return next }
                return parts.start(b) { context, event in
                    values.receive(event, &context) { values, b in
                        values.b = b
                        return values.a.map { ($0, b) }
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

/// Keeps a value's type when it is erased, also that of an optional.
@usableFromInline
struct Box<Value: Sendable>: Sendable {
    @usableFromInline let value: Value

    @inlinable
    init(_ value: Value) { self.value = value }
}

/// The values of parts that have come so far.
@usableFromInline
final class Values<All, Whole: Sendable>: @unchecked Sendable {  // The variable is touched under the mutex of the parts.
    @usableFromInline let parts: Parts<Whole>
    @exclusivity(unchecked) @usableFromInline var all: All

    @inlinable
    init(of parts: Parts<Whole>, _ all: All) { (self.parts, self.all) = (parts, all) }

    /// Sets the value of a part, or fails with its error. The whole succeeds with what `set` returns for the last value.
    @inlinable
    func receive<Element>(_ event: SingleEvent<Element>, _ part: inout Context, set: (inout All, Element) -> Whole?) -> Next? {
        guard part.end() else { return nil }
        let isStarting = part.subscription == nil
        switch event {
        case .success(let value):
            guard let whole = parts.mutex.withLock({ parts.isShut ? nil : set(&all, value) }) else { return nil }
            return parts.finish(.success(whole), isStarting: isStarting)
        case .failure(let error):
            return parts.finish(.failure(error), isStarting: isStarting)
        }
    }
}
