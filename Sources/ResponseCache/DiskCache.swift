import APIProvider
public import Foundation
public import MiniRx

/// Keeps responses in files, one for each URL, which only their owner may read. When they take more than `maximumBytes`, those that were not
/// used for longest are removed.
///
/// ```swift
/// let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
///     .appendingPathComponent("Responses")
/// let cache = CacheMiddleware(DiskCache(folder, maximumBytes: 50_000_000))
/// ```
///
/// Several processes may share a folder. A file is replaced as a whole: one that is cut, foreign or of another version counts as none. If the
/// folder cannot be written, or the disk is full, nothing is kept and nothing fails.
public final class DiskCache: CacheStore {
    /// Files are read here.
    public let scheduler: (any Scheduler)? = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
    private let folder: URL
    private let prefix: String
    private let maximumBytes: Int
    /// About how many bytes the files take; `nil` until they have been counted. Other processes may add some.
    private let size = Locked<Int?>(nil)

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - folder: A folder for this store alone. It is created when something is stored.
    ///   - maximumBytes: How many bytes all files may take. A larger response is not kept.
    public init(_ folder: URL, maximumBytes: Int = 100_000_000) {
        (self.folder, self.maximumBytes) = (folder, maximumBytes)
        prefix = folder.path + "/"
    }

    /// Returns the responses of a key.
    public func responses(for key: String) -> [CachedResponse] {
        let descriptor = open(path(of: key), O_RDONLY | O_CLOEXEC)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.st_size > 0, status.st_size <= maximumBytes else { return [] }
        var bytes = Data(count: Int(status.st_size))
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count, let responses = CacheFile.responses(in: bytes, for: key) else { return [] }
        // Its time says when it was used, to a minute.
        if Int64(time(nil)) - status.modified / 1_000_000_000 > 60 { futimens(descriptor, nil) }
        return responses
    }

    /// Replaces the responses of a key.
    public func replace(_ responses: [CachedResponse], for key: String) {
        let path = path(of: key)
        let data = responses.isEmpty ? nil : CacheFile.data(of: responses, for: key)
        guard let data, data.count <= maximumBytes else {
            unlink(path)
            return
        }
        do {
            try? FileManager.default.createDirectory(at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            try PartialFile.replace(URL(fileURLWithPath: path), with: data, mode: 0o600, isDurable: false)
        } catch {
            // What was there before is older than what the server has said now.
            unlink(path)
        }
        let isFull = size.withLock { size in
            size = size.map { $0 + data.count }
            return size.map { $0 > maximumBytes } ?? true
        }
        if isFull { removeOldest() }
    }

    /// Removes all files of the store.
    public func removeAll() {
        for file in files() { unlink(file.path) }
        size.withLock { $0 = 0 }
    }

    /// The name is a number made of the key. Of two keys with the same number, the later takes the place of the other.
    private func path(of key: String) -> String { prefix + String(Data(key.utf8).checksum, radix: 16) + CacheFile.suffix }

    private func files() -> [(path: String, size: Int, used: Int64)] {
        let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path)) ?? []
        // A process that is killed leaves what it was writing.
        return names.filter { $0.hasSuffix(CacheFile.suffix) || $0.hasSuffix(".download") }.compactMap { name in
            let path = prefix + name
            var status = stat()
            guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
            return (path, Int(status.st_size), status.modified)
        }
    }

    /// Counts the files, and removes old ones until a tenth of the room is free.
    private func removeOldest() {
        let files = files().sorted { $0.used < $1.used }
        var total = files.reduce(0) { $0 + $1.size }
        if total > maximumBytes {
            for file in files where total > maximumBytes / 10 * 9 {
                unlink(file.path)
                total -= file.size
            }
        }
        size.withLock { [total] in $0 = total }
    }
}

extension stat {
    /// When the file was last written or used, in nanoseconds since 1970.
    fileprivate var modified: Int64 {
        #if canImport(Darwin)
        let time = st_mtimespec
        #else
        let time = st_mtim
        #endif
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
