import APIProvider
import Dispatch
import MiniRx

/// The time between two calls of `removeAll`. Responses to requests of an epoch are not stored after it.
final class StoreEpoch: Sendable {
    private struct WeakFlight { weak var flight: Flight? }

    /// The responses that are being stored.
    let writes = DispatchGroup()
    private let flights = Locked<[String: WeakFlight]>([:])

    /// Returns the flight of the requests for `key`, or a new one.
    func flight(for key: String) -> Flight {
        flights.withLock { flights in
            if let flight = flights[key]?.flight { return flight }
            let flight = Flight(key, self)
            flights[key] = WeakFlight(flight: flight)
            return flight
        }
    }

    /// Keeps responses to the requests for `key` that are in flight from being stored. Later requests belong to a new flight.
    func invalidate(_ key: String) { flights.withLock { $0.removeValue(forKey: key) }?.flight?.invalidate() }

    fileprivate func removeFlight(for key: String) {
        // A new flight may have begun. If this is its last reference, it must be released outside of the lock, which its `deinit` takes.
        _ = flights.withLock { flights -> Flight? in
            let next = flights[key]?.flight
            if next == nil { flights[key] = nil }
            return next
        }
    }
}

/// The requests for a key that are in flight, and started after it was last invalidated. They own the flight.
final class Flight: Sendable {
    let key: String
    let epoch: StoreEpoch
    let validations = CoalescingMiddleware()
    private let state = Locked((isInvalidated: false, isValidating: false))

    fileprivate init(_ key: String, _ epoch: StoreEpoch) { (self.key, self.epoch) = (key, epoch) }

    deinit { epoch.removeFlight(for: key) }

    /// Whether an unsafe request may have changed the response. It is not stored then.
    var isInvalidated: Bool { state.withLock(\.isInvalidated) }

    fileprivate func invalidate() { state.withLock { $0.isInvalidated = true } }

    /// Returns whether the caller should validate in the background, because no other does.
    func beginValidation() -> Bool {
        state.withLock { state in
            defer { state.isValidating = true }
            return !state.isValidating
        }
    }

    func endValidation() { state.withLock { $0.isValidating = false } }
}
