import Foundation
import MiniRx

/// Keeps responses in memory. When they take more than `maximumBytes`, those that were not used for longest are forgotten.
public final class MemoryCache: CacheStore {
    /// The responses of a key, and its neighbours in the order of use.
    private struct Entry {
        let key: String
        let responses: [CachedResponse]
        let size: Int
        var older: Int?
        var newer: Int?
    }

    private struct State {
        var entries: [Entry] = []
        var places: [String: Int] = [:]
        /// Places in `entries` that are not used.
        var free: [Int] = []
        var oldest: Int?
        var newest: Int?
        var size = 0

        mutating func append(_ place: Int) {
            (entries[place].older, entries[place].newer) = (newest, nil)
            if let newest { entries[newest].newer = place } else { oldest = place }
            newest = place
        }

        mutating func unlink(_ place: Int) {
            let (older, newer) = (entries[place].older, entries[place].newer)
            if let older { entries[older].newer = newer } else { oldest = newer }
            if let newer { entries[newer].older = older } else { newest = older }
        }

        mutating func add(_ entry: Entry) {
            let place = free.popLast() ?? entries.count
            if place == entries.count { entries.append(entry) } else { entries[place] = entry }
            places[entry.key] = place
            size += entry.size
            append(place)
        }

        mutating func remove(_ place: Int) {
            unlink(place)
            places[entries[place].key] = nil
            size -= entries[place].size
            entries[place] = Entry(key: "", responses: [], size: 0)
            free.append(place)
        }
    }

    private let maximumBytes: Int
    private let state = Locked(State())

    /// Creates a store.
    ///
    /// - Parameter maximumBytes: About how many bytes all responses may take. A larger response is not kept.
    public init(maximumBytes: Int = 20_000_000) { self.maximumBytes = maximumBytes }

    /// Returns the responses of a key.
    public func responses(for key: String) -> [CachedResponse] {
        state.withLock { state in
            guard let place = state.places[key] else { return [] }
            state.unlink(place)
            state.append(place)
            return state.entries[place].responses
        }
    }

    /// Replaces the responses of a key.
    public func replace(_ responses: [CachedResponse], for key: String) {
        let entry = Entry(key: key, responses: responses, size: responses.reduce(key.utf8.count) { $0 + $1.size })
        state.withLock { state in
            if let place = state.places[key] { state.remove(place) }
            guard !responses.isEmpty, entry.size <= maximumBytes else { return }
            state.add(entry)
            while state.size > maximumBytes, let oldest = state.oldest { state.remove(oldest) }
        }
    }

    /// Forgets all.
    public func removeAll() {
        var empty = State()
        state.withLock { swap(&$0, &empty) }
    }

    /// About how many bytes the responses take.
    public var size: Int { state.withLock(\.size) }
}
