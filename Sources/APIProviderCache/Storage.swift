public import Foundation
import MiniRx

extension CacheMiddleware {
    /// The place where a ``CacheMiddleware`` stores responses.
    public struct Storage: Sendable {
        /// Creates the store of one cache, and the scheduler for its look-ups: `nil` is the subscriber's thread.
        let makeStore: @Sendable () -> (any CacheStore, (any Scheduler)?)

        /// Memory. When the responses take more than `maxBytes`, the least recently used are removed.
        ///
        /// A request looks up its response on the subscriber's thread.
        ///
        /// - Parameter maxBytes: The number of bytes that all responses together may take, approximately. A larger response is not stored.
        public static func memory(maxBytes: Int = 20_000_000) -> Storage {
            Storage { (MemoryCache(maxBytes: maxBytes), nil) }
        }

        /// Files that only their owner may read, one or a few for each URL. When they take more than `maxBytes`, the least recently used
        /// are removed.
        ///
        /// ```swift
        /// let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
        ///     .appendingPathComponent("Responses")
        /// let cache = CacheMiddleware(.disk(folder, maxBytes: 50_000_000))
        /// ```
        ///
        /// The files outlive the process, and several processes may use a folder. A file that is damaged or was not written by this user is
        /// ignored. A request looks up its response on a background queue.
        ///
        /// - Parameters:
        ///   - folder: A folder that contains nothing else. It is created when a response is stored.
        ///   - maxBytes: The number of bytes that all files together may take, in whole blocks of the disk. A larger response is not
        ///     stored.
        public static func disk(_ folder: URL, maxBytes: Int = 100_000_000) -> Storage {
            Storage { (DiskCache(folder, maxBytes: maxBytes), ConcurrentDispatchQueueScheduler(qos: .userInitiated)) }
        }
    }
}
