public import Dispatch

/// A scheduler with virtual time for tests.
///
/// Time stands still until the test moves it. Then the actions that are due run in order, on the thread of the test.
///
/// ```swift
/// let scheduler = TestScheduler()
/// let disposable = single.delay(.seconds(1), scheduler: scheduler).subscribe { log.append($0) }
/// scheduler.advance(by: .seconds(1))
/// ```
public final class TestScheduler: Scheduler {
    private struct State {
        // Zero would be `DISPATCH_TIME_NOW`, and a small number may become zero in the ticks of a machine.
        var now: UInt64 = 1_000_000_000
        var places = Heap<Place>()
        /// The actions that have neither run nor been disposed, by the number of the call.
        var actions: [Int: Action] = [:]
        var count = 0

        mutating func add(_ action: Action, after delay: UInt64) -> Int? {
            let due = now.addingReportingOverflow(delay)
            guard !due.overflow else { return nil }
            count += 1
            places.insert(Place(due: due.partialValue, number: count))
            actions[count] = action
            return count
        }

        mutating func takeNext(until end: UInt64) -> Action? {
            while let place = places.first, place.due <= end {
                places.removeFirst()
                guard let action = actions.removeValue(forKey: place.number) else { continue }
                // Another thread may have scheduled it before the time moved past it.
                now = max(now, place.due)
                return action
            }
            return nil
        }

        mutating func remove(_ number: Int) -> Action? {
            let action = actions.removeValue(forKey: number)
            if places.count > 2 * actions.count + 64 { places.removeAll { actions[$0.number] == nil } }
            return action
        }
    }

    private struct Place: Comparable {
        let due: UInt64
        let number: Int

        static func < (a: Place, b: Place) -> Bool { (a.due, a.number) < (b.due, b.number) }
    }

    private struct Scheduled: Disposable {
        let scheduler: TestScheduler
        let number: Int

        func dispose() { _ = scheduler.state.withLock { $0.remove(number) } }
    }

    private let state = Locked(State())

    /// Creates a scheduler whose time stands still.
    public init() {}

    /// The virtual time.
    public var now: DispatchTime { DispatchTime(uptimeNanoseconds: state.withLock(\.now)) }

    /// Runs `action` when the time has moved by `delay`. To cancel the action, dispose the result.
    public func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        let number = state.withLock { $0.add(Action(action), after: delay.length) }
        return number.map { Scheduled(scheduler: self, number: $0) } ?? Disposables.create()
    }

    /// Moves the time by `interval`, and runs the actions that are due, including those that are scheduled meanwhile.
    public func advance(by interval: DispatchTimeInterval) {
        let end = state.withLock { $0.now.addingReportingOverflow(interval.length) }
        advance(toNanoseconds: end.overflow ? .max : end.partialValue)
    }

    /// Moves the time to `time`, and runs the actions that are due. Time never goes back: an earlier time changes nothing.
    public func advance(to time: DispatchTime) {
        advance(toNanoseconds: time.uptimeNanoseconds)
    }

    /// Moves the time until no action is left.
    public func run() {
        while let action = state.withLock({ $0.takeNext(until: .max) }) { action() }
    }

    private func advance(toNanoseconds end: UInt64) {
        while let action = state.withLock({ state in
            let action = state.takeNext(until: end)
            if action == nil { state.now = max(state.now, end) }
            return action
        }) { action() }
    }
}

extension DispatchTimeInterval {
    /// The interval in nanoseconds. A negative one is 0, and `.never` is the greatest number.
    fileprivate var length: UInt64 {
        func scaled(_ value: Int, by factor: UInt64) -> UInt64 {
            let product = UInt64(max(0, value)).multipliedReportingOverflow(by: factor)
            return product.overflow ? .max : product.partialValue
        }
        switch self {
        case .seconds(let value): return scaled(value, by: 1_000_000_000)
        case .milliseconds(let value): return scaled(value, by: 1_000_000)
        case .microseconds(let value): return scaled(value, by: 1_000)
        case .nanoseconds(let value): return scaled(value, by: 1)
        case .never: return .max
        @unknown default: return .max
        }
    }
}
