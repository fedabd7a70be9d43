import MiniRx

/// Stores responses in memory. Beyond `maxBytes`, removes the least recently used keys.
final class MemoryCache: CacheStore {
    private struct State {
        var entries: [String: (responses: [CachedResponse], size: Int, lastUse: Int)] = [:]
        var size = 0
        /// Counts uses, to order entries by last use.
        var useCount = 0

        /// Returns the removed responses, to be released after unlocking.
        mutating func remove(_ key: String) -> [CachedResponse] {
            let removed = entries.removeValue(forKey: key)
            size -= removed?.size ?? 0
            return removed?.responses ?? []
        }
    }

    private let maxBytes: Int
    private let state = Locked(State())

    init(maxBytes: Int) { self.maxBytes = maxBytes }

    func responses(for key: String) -> [CachedResponse] {
        state.withLock { state in
            guard let place = state.entries.index(forKey: key) else { return [] }
            state.useCount += 1
            state.entries.values[place].lastUse = state.useCount
            return state.entries.values[place].responses
        }
    }

    /// Without room, removes others until a tenth is free.
    func replace(_ responses: [CachedResponse], for key: String) {
        let responses = responses.suffix(maxBytes: maxBytes - key.utf8.count)
        let size = responses.reduce(key.utf8.count) { $0 + $1.size }
        _ = state.withLock { state in
            var removed = state.remove(key)
            guard !responses.isEmpty else { return removed }
            let room = maxBytes - size
            if state.size > room {
                for (key, _) in state.entries.sorted(by: { $0.value.lastUse < $1.value.lastUse }) where state.size > room / 10 * 9 {
                    removed += state.remove(key)
                }
            }
            state.useCount += 1
            state.entries[key] = (responses, size, state.useCount)
            state.size += size
            return removed
        }
    }

    func removeAll() {
        var empty = State()
        state.withLock { swap(&$0, &empty) }
    }

    /// The responses' approximate size, in bytes.
    var size: Int { state.withLock(\.size) }
}
