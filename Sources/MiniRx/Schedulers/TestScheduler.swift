public import Dispatch

/// Virtual time for tests: it stands still until the test moves it, and then runs what is due, in order, on the test's own thread.
///
/// ```swift
/// let scheduler = TestScheduler()
/// let disposable = single.delay(.seconds(1), scheduler: scheduler).subscribe { log.append($0) }
/// scheduler.advance(by: .seconds(1))
/// ```
public final class TestScheduler: Scheduler {
    private struct Entry {
        let due: UInt64
        let item: ScheduledItem
    }

    private struct State {
        // Not zero, which is `DISPATCH_TIME_NOW`, nor so little that it becomes zero in the ticks of a machine.
        var now: UInt64 = 1_000_000_000
        /// In the order in which they are to run.
        var entries: [Entry] = []

        mutating func add(_ item: ScheduledItem, after delay: UInt64) {
            let due = now.addingReportingOverflow(delay)
            guard !due.overflow else { return }
            let position = entries.firstIndex { $0.due > due.partialValue } ?? entries.endIndex
            entries.insert(Entry(due: due.partialValue, item: item), at: position)
        }

        mutating func takeNext(until end: UInt64) -> ScheduledItem? {
            entries.removeAll { $0.item.isOver }
            guard let entry = entries.first, entry.due <= end else { return nil }
            entries.removeFirst()
            now = entry.due
            return entry.item
        }
    }

    private let state = Locked(State())

    /// Creates a scheduler whose time stands at its beginning.
    public init() {}

    /// The virtual time.
    public var now: DispatchTime { DispatchTime(uptimeNanoseconds: state.withLock(\.now)) }

    /// Runs `action` when the time has been moved by `delay`. Disposing what is returned before then drops the action.
    public func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        let item = ScheduledItem(action)
        state.withLock { $0.add(item, after: delay.nanoseconds) }
        return item
    }

    /// Moves the time on by `interval`, and runs what falls due on the way, also what is scheduled meanwhile.
    public func advance(by interval: DispatchTimeInterval) {
        let end = state.withLock { $0.now.addingReportingOverflow(interval.nanoseconds) }
        advance(toNanoseconds: end.overflow ? .max : end.partialValue)
    }

    /// Moves the time on to `time`, and runs what falls due on the way. A time that has passed changes nothing.
    public func advance(to time: DispatchTime) {
        advance(toNanoseconds: time.uptimeNanoseconds)
    }

    /// Moves the time on until nothing is left to run.
    public func run() {
        while let item = state.withLock({ $0.takeNext(until: .max) }) { item.run() }
    }

    private func advance(toNanoseconds end: UInt64) {
        while let item = state.withLock({ $0.takeNext(until: end) }) { item.run() }
        state.withLock { $0.now = max($0.now, end) }
    }
}

extension DispatchTimeInterval {
    /// The length of the interval; none for a negative one, and no end for `.never`.
    fileprivate var nanoseconds: UInt64 {
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
