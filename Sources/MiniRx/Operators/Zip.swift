extension Single {
    /// Runs all `singles` at the same time, and succeeds with their values in order.
    ///
    /// The first failure is delivered and disposes the others. Without singles, succeeds with an empty array.
    public static func zip<T: Sendable>(_ singles: some Collection<Single<T>>) -> Single<[T]> where Element == [T] {
        zip(singles) { $0 }
    }

    /// Waits for all `singles`, and succeeds with the result of `resultSelector`, called on the thread of the last value. If
    /// `resultSelector` throws, the single fails with that error.
    @preconcurrency
    public static func zip<T: Sendable>(
        _ singles: some Collection<Single<T>>, resultSelector: @escaping @Sendable ([T]) throws -> Element
    ) -> Single {
        zip(singles.map { ZipPart($0) }) { boxes in try resultSelector(boxes.map { unboxed($0) }) }
    }

    /// Runs all `singles` at the same time, and succeeds with their values. The first failure is delivered and disposes the others.
    ///
    /// ![Both values are delivered when the second arrives.](zip)
    ///
    /// ![One source fails. The other is disposed, and the error is delivered.](zipFailure)
    public static func zip<each T: Sendable>(_ singles: repeat Single<each T>) -> Single<(repeat each T)> where Element == (repeat each T) {
        zip(repeat each singles) { (values: repeat each T) in (repeat each values) }
    }

    /// Waits for all `singles`, with any types of values, and succeeds with the result of `resultSelector`, called on the thread of the
    /// last value. If `resultSelector` throws, the single fails with that error.
    @preconcurrency
    public static func zip<each T: Sendable>(
        _ singles: repeat Single<each T>, resultSelector: @escaping @Sendable (repeat each T) throws -> Element
    ) -> Single {
        var parts: [ZipPart] = []
        repeat parts.append(ZipPart(each singles))
        return zip(parts) { boxes in
            var boxes = boxes.makeIterator()
            return try resultSelector(repeat next((each T).self, in: &boxes))
        }
    }

    private static func zip(_ parts: [ZipPart], _ select: @escaping @Sendable ([AnyBox?]) throws -> Element) -> Single {
        guard !parts.isEmpty else { return .deferred { .just(try select([])) } }
        return ChildGroup.single { group in
            let values = ZipValues(count: parts.count) { boxes in
                do { return group.emit(.success(try select(boxes.get()))) } catch { return group.emit(.failure(error)) }
            }
            for (index, part) in parts.enumerated() { part.start(group.children, values, index) }
        }
    }
}

// MARK: - The values of one run

/// One single of a `zip`. Their types differ, so each value travels in a ``Box``.
private struct ZipPart: Sendable {
    let start: @Sendable (Children, ZipValues, _ index: Int) -> Void

    init<Value: Sendable>(_ single: Single<Value>) {
        start = { children, values, index in
            guard let child = children.addChild() else { return }
            single.start(in: child) { child, event in
                guard child.finish() else { return .none }
                switch event {
                case .success(let value): return values.receive(Box(value), at: index)
                case .failure(let error): return values.complete(.failure(error))
                }
            }
        }
    }
}

/// The values of one run of a `zip`.
private struct ZipValues: Sendable {
    private let state: Locked<(received: [AnyBox?], missingCount: Int)>
    let complete: @Sendable (SingleEvent<[AnyBox?]>) -> TrampolineStep

    init(count: Int, complete: @escaping @Sendable (SingleEvent<[AnyBox?]>) -> TrampolineStep) {
        state = Locked((received: [AnyBox?](repeating: nil, count: count), missingCount: count))
        self.complete = complete
    }

    func receive(_ value: AnyBox, at index: Int) -> TrampolineStep {
        let all = state.withLock { state -> [AnyBox?]? in
            state.received[index] = value
            state.missingCount -= 1
            return state.missingCount == 0 ? Swift.exchange(&state.received, with: []) : nil
        }
        return all.map { complete(.success($0)) } ?? .none
    }
}

private typealias AnyBox = any AnyObject & Sendable

private final class Box<Value: Sendable>: Sendable {
    let value: Value

    init(_ value: Value) { self.value = value }
}

private func next<Value: Sendable>(_ type: Value.Type, in boxes: inout IndexingIterator<[AnyBox?]>) -> Value {
    unboxed(boxes.next() ?? nil)
}

private func unboxed<Value: Sendable>(_ box: AnyBox?) -> Value {
    // Never happens: the boxes are in the order of the singles.
    guard let box = box as? Box<Value> else { preconditionFailure("zip has lost a value.") }
    return box.value
}
