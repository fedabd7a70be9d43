public import Dispatch

/// A scheduler with virtual time for tests.
///
/// Time stands still until the test moves it. Then the actions that are due run in order, on the thread of the test.
///
/// ```swift
/// let scheduler = TestScheduler()
/// let disposable = single.delay(.seconds(1), scheduler: scheduler).subscribe {
///     log.append($0)
/// }
/// scheduler.advance(by: .seconds(1))
/// ```
public final class TestScheduler: Scheduler {
    private struct State {
        // Zero would be `DISPATCH_TIME_NOW`, and a small number may become zero in the ticks of a machine.
        var now: UInt64 = 1_000_000_000
        var places = Heap<Place>()
        /// The actions, in the slots that the places name, until they run or are disposed. A slot is used again when its place has gone.
        var entries: [Entry] = []
        var free: [Int] = []
        var count = 0
        /// The number of places at which those of disposed actions are removed.
        var limit = 64
        /// The threads that move the time, and what other threads schedule meanwhile.
        var moving: [ThreadID] = []
        var later: [Place] = []

        mutating func add(_ action: Action, after delay: UInt64) -> Place? {
            let due = now.addingReportingOverflow(delay)
            guard !due.overflow else { return nil }
            removeDisposed()
            count += 1
            let entry = Entry(number: count, action: action)
            let place = Place(due: due.partialValue, number: count, slot: free.popLast() ?? entries.count)
            if place.slot == entries.count { entries.append(entry) } else { entries[place.slot] = entry }
            if moving.isEmpty || moving.contains(.current) { places.insert(place) } else { later.append(place) }
            return place
        }

        mutating func removeDisposed() {
            guard places.count + later.count >= limit else { return }
            let isDisposed = { [entries] (place: Place) in entries[place.slot].action == nil }
            free += places.removeAll(where: isDisposed).map(\.slot)
            free += later.filter(isDisposed).map(\.slot)
            later.removeAll(where: isDisposed)
            limit = max(64, 2 * (places.count + later.count))
        }

        /// Returns the action at `place`, unless it was taken before.
        mutating func take(_ place: Place) -> Action? {
            entries[place.slot].number == place.number ? entries[place.slot].action.take() : nil
        }

        mutating func takeNext(until end: UInt64) -> Action? {
            while let place = places.first, place.due <= end {
                places.removeFirst()
                free.append(place.slot)
                guard let action = take(place) else { continue }
                // Another thread may have scheduled it before the time moved past it.
                now = max(now, place.due)
                return action
            }
            return nil
        }

        mutating func stopMoving() {
            if let index = moving.firstIndex(of: .current) { moving.remove(at: index) }
            guard moving.isEmpty else { return }
            for place in later { places.insert(place) }
            later = []
        }
    }

    private struct Entry {
        let number: Int
        var action: Action?
    }

    /// Keeps no action alive. That would keep the subscription that holds this, although the scheduler has gone.
    private struct Scheduled: Disposable {
        weak var scheduler: TestScheduler?
        let place: Place

        // What is taken is let go outside of the mutex.
        func dispose() { _ = scheduler?.state.withLock { $0.take(place) } }
    }

    private struct Place: Comparable {
        let due: UInt64
        let number: Int
        let slot: Int

        static func < (a: Place, b: Place) -> Bool { a.due != b.due ? a.due < b.due : a.number < b.number }
    }

    private let state = Locked(State())

    /// Creates a scheduler whose time stands still.
    public init() {}

    /// The virtual time.
    public var now: DispatchTime { DispatchTime(uptimeNanoseconds: state.withLock(\.now)) }

    /// Runs `action` when the time has moved by `delay`. To cancel the action, dispose the result.
    public func schedule(after delay: DispatchTimeInterval, _ action: @escaping @Sendable () -> Void) -> any Disposable {
        guard let place = state.withLock({ $0.add(Action(action), after: delay.length) }) else { return Disposables.create() }
        return Scheduled(scheduler: self, place: place)
    }

    /// Moves the time by `interval`, and runs the actions that are due, including those that they schedule.
    ///
    /// What another thread schedules meanwhile waits for the next call.
    public func advance(by interval: DispatchTimeInterval) {
        let end = state.withLock { $0.now.addingReportingOverflow(interval.length) }
        move(until: end.overflow ? .max : end.partialValue)
    }

    /// Moves the time to `time`, and runs the actions that are due. Time never goes back: an earlier time changes nothing.
    public func advance(to time: DispatchTime) {
        move(until: time.uptimeNanoseconds)
    }

    /// Moves the time until no action is left, but for those that other threads schedule meanwhile.
    public func run() {
        move(until: .max, stays: true)
    }

    /// Runs what is due. Then the time is `end`, or if it stays, that of the last action.
    private func move(until end: UInt64, stays: Bool = false) {
        state.withLock { $0.moving.append(.current) }
        while let action = state.withLock({ $0.takeNext(until: end) }) { action() }
        state.withLock { state in
            if !stays { state.now = max(state.now, end) }
            state.stopMoving()
        }
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
