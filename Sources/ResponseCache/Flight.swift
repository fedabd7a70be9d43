import APIProvider
import Dispatch
import MiniRx

/// The time between two calls of `removeAll`. What is asked for in one is not stored in another.
final class Epoch: Sendable {
    /// What is being stored.
    let writes = DispatchGroup()
    private let flights = Locked<[String: WeakFlight]>([:])

    private struct WeakFlight { weak var flight: Flight? }

    /// The requests for `key` that are under way, or a new flight if there are none.
    func flight(_ key: String) -> Flight {
        flights.withLock { flights in
            if let flight = flights[key]?.flight { return flight }
            let flight = Flight(key, of: self)
            flights[key] = WeakFlight(flight: flight)
            return flight
        }
    }

    /// What `key` stands for has changed. What is under way is not stored any more.
    func endFlight(_ key: String) { flights.withLock { $0.removeValue(forKey: key) }?.flight?.end() }

    fileprivate func landed(_ key: String) {
        // What has begun since is released outside of the lock, where it may end.
        _ = flights.withLock { flights -> Flight? in
            let next = flights[key]?.flight
            if next == nil { flights[key] = nil }
            return next
        }
    }
}

/// The requests for one key that are under way, and began after the last change. They hold it, and nothing else does.
final class Flight: Sendable {
    private let state = Locked((isOutdated: false, isValidating: false))
    let validations = CoalescingMiddleware()
    private let (key, epoch): (String, Epoch)

    fileprivate init(_ key: String, of epoch: Epoch) { (self.key, self.epoch) = (key, epoch) }

    deinit { epoch.landed(key) }

    var isOutdated: Bool { state.withLock(\.isOutdated) }
    func end() { state.withLock { $0.isOutdated = true } }

    /// Whether the app uses what nobody validates yet.
    func beginValidation() -> Bool {
        state.withLock { state in
            defer { state.isValidating = true }
            return !state.isValidating
        }
    }

    func endValidation() { state.withLock { $0.isValidating = false } }
}
