import APIProvider
public import Foundation
public import MiniRx

/// Keeps responses in files, one for each URL, which only their owner may read. When they take more than `maxBytes`, those that were not
/// used for longest are removed.
///
/// ```swift
/// let folder = FileManager.default.urls(for: .cachesDirectory, in: .userDomainMask)[0]
///     .appendingPathComponent("Responses")
/// let cache = CacheMiddleware(DiskCache(folder, maxBytes: 50_000_000))
/// ```
///
/// Several processes may share a folder. ``removeAll()`` of one removes the files of all, but what another has asked for before, it still
/// stores: forget what it has, too. Files are replaced atomically. A truncated, foreign or outdated file is ignored. If the folder cannot be
/// written, or the disk is full, nothing is kept and nothing fails.
///
/// A file has the URL, the header fields and the body in plain text, and so it has a secret in the URL, `Set-Cookie`, and the request's
/// values of the headers that `Vary` names. Use ``CachePolicy/noStore`` where these must not be written.
public final class DiskCache: CacheStore {
    /// Files are read here.
    public let scheduler: (any Scheduler)? = ConcurrentDispatchQueueScheduler(qos: .userInitiated)
    private let folder: URL
    /// The path of the folder with the files, in `folder`.
    private let files: String
    private let maxBytes: Int
    /// About how many bytes the files take; `nil` until they have been counted. Other processes may add some.
    private let size = Locked<Int64?>(nil)
    private static let (suffix, removedSuffix) = (".response", ".removed")

    /// Creates a store.
    ///
    /// - Parameters:
    ///   - folder: A folder for this store alone. It is created when something is stored.
    ///   - maxBytes: How many bytes all files may take, in whole blocks of the disk. A larger response is not kept.
    public init(_ folder: URL, maxBytes: Int = 100_000_000) {
        (self.folder, self.maxBytes) = (folder, maxBytes)
        files = folder.path + "/responses"
    }

    /// Returns the responses of a key.
    public func responses(for key: String) -> [CachedResponse] {
        // Somebody else may have put a link or a pipe there.
        let descriptor = open(path(of: key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isPrivate(S_IFREG), status.st_size > 0, status.st_size <= maxBytes
        else { return [] }
        var bytes = Data(count: Int(clamping: status.st_size))
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count, let responses = CacheFile.responses(in: bytes, for: key) else { return [] }
        // Its time says when it was used, to a minute.
        if Int64(time(nil)) - status.modified / 1_000_000_000 > 60 { futimens(descriptor, nil) }
        return responses
    }

    /// Replaces the responses of a key.
    public func replace(_ responses: [CachedResponse], for key: String) {
        let (path, responses) = (path(of: key), responses.last(within: maxBytes))
        guard !responses.isEmpty, let data = CacheFile.data(of: responses, for: key), data.count.inBlocks <= maxBytes, makeFolder()
        else {
            unlink(path)
            return
        }
        do {
            var status = stat()
            if lstat(path, &status) == 0, !status.isPrivate(S_IFREG) { unlink(path) }
            try PartialFile.replace(URL(fileURLWithPath: path), with: data, mode: 0o600, isDurable: false)
        } catch {
            // What was there before is older than what the server has said now.
            unlink(path)
        }
        let isFull = size.withLock { size in
            size = size.map { $0 + data.count.inBlocks }
            return size.map { $0 > maxBytes } ?? true
        }
        if isFull { removeOldest() }
    }

    /// Removes all files of the store. When it returns, nothing can be read. The room on the disk is free a little later.
    public func removeAll() {
        if rename(files, "\(folder.path)/\(UUID().uuidString)\(Self.removedSuffix)") != 0, errno != ENOENT {
            try? FileManager.default.removeItem(atPath: files)
        }
        size.withLock { $0 = 0 }
        removeRemoved()
    }

    /// Removes folders that ``removeAll()`` has renamed, also those of a process that was killed.
    private func removeRemoved() {
        DispatchQueue.global(qos: .utility).async { [folder] in
            for name in folder.path.names where name.hasSuffix(Self.removedSuffix) {
                try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
        }
    }

    /// Whether the folder is there, and nobody else can write into it.
    private func makeFolder() -> Bool {
        if mkdir(files, 0o700) != 0, errno == ENOENT {
            try? FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            mkdir(files, 0o700)
        }
        var status = stat()
        return lstat(files, &status) == 0
            && (status.isPrivate(S_IFDIR) || status.isOurs(S_IFDIR) && chmod(files, 0o700) == 0)
    }

    /// The name is a number made of the key. Of two keys with the same number, the later takes the place of the other.
    private func path(of key: String) -> String {
        // FNV-1a of 64 bits.
        let number = key.utf8.reduce(0xcbf2_9ce4_8422_2325 as UInt64) { ($0 ^ UInt64($1)) &* 0x100_0000_01b3 }
        return "\(files)/\(String(number, radix: 16))\(Self.suffix)"
    }

    /// Counts the files, and removes old ones until a tenth of the room is free. The newest stays.
    private func removeOldest() {
        // A process that is killed leaves what it was writing.
        let all = files.names.filter { $0.hasSuffix(Self.suffix) || $0.hasSuffix(".download") }
            .compactMap { name -> (path: String, size: Int64, used: Int64)? in
                let path = "\(files)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return (path, status.st_size.inBlocks, status.modified)
            }.sorted { $0.used < $1.used }
        var total = all.reduce(0) { $0 + $1.size }
        if total > maxBytes {
            for file in all.dropLast() where total > maxBytes / 10 * 9 {
                unlink(file.path)
                total -= file.size
            }
        }
        size.withLock { [total] in $0 = total }
        removeRemoved()
    }
}

extension String {
    /// The names in the folder at this path.
    fileprivate var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: self)) ?? [] }
}

extension BinaryInteger {
    /// How much a file of so many bytes takes on most disks. None is as long as a sparse file may say.
    fileprivate var inBlocks: Int64 { (Swift.min(Int64(clamping: self), 1 << 40) + 4_095) / 4_096 * 4_096 }
}

extension stat {
    /// Whether it is of this kind, and belongs to this process's user.
    fileprivate func isOurs(_ kind: mode_t) -> Bool { st_mode & S_IFMT == kind && st_uid == geteuid() }

    /// Whether nobody else may use it either.
    fileprivate func isPrivate(_ kind: mode_t) -> Bool { isOurs(kind) && st_mode & 0o077 == 0 }

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
