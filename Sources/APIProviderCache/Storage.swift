public import Foundation
import MiniRx

extension CacheMiddleware {
    /// A ``CacheMiddleware``'s storage.
    public struct Storage: Sendable {
        /// Creates a cache's store, and the scheduler for look-ups: `nil` is the subscriber's thread.
        let makeStore: @Sendable () -> (any CacheStore, (any Scheduler)?)

        /// Memory. Beyond `maxBytes`, the least recently used responses are removed.
        ///
        /// Look-ups run on the subscriber's thread.
        ///
        /// - Parameter maxBytes: The approximate limit for all responses together, in bytes. A larger response is not stored.
        public static func memory(maxBytes: Int = 20_000_000) -> Storage {
            Storage { (MemoryCache(maxBytes: maxBytes), nil) }
        }

        /// Files for the user alone, one or a few for each URL. Beyond `maxBytes`, the least recently used are removed.
        ///
        /// ```swift
        /// let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
        ///     .appendingPathComponent("Responses")
        /// let cache = CacheMiddleware(.disk(folder, maxBytes: 50_000_000))
        /// ```
        ///
        /// The files outlive the process, and several processes may use a folder. Damaged files and those of other users are ignored.
        /// Look-ups run on a background queue.
        ///
        /// - Parameters:
        ///   - folder: A folder for nothing else, created with the first stored response.
        ///   - maxBytes: The limit for all files together, in bytes of whole disk blocks. A larger response is not stored.
        public static func disk(_ folder: URL, maxBytes: Int = 100_000_000) -> Storage {
            Storage { (DiskCache(folder, maxBytes: maxBytes), ConcurrentDispatchQueueScheduler(qos: .userInitiated)) }
        }
    }
}
