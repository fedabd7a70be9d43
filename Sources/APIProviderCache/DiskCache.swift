import APIProvider
import Foundation
import MiniRx

/// Stores responses in files for the user alone, one file for each key.
///
/// Files are replaced atomically. With an unwritable folder or a full disk, nothing is stored and no request fails.
final class DiskCache: CacheStore {
    private let folder: URL
    /// The path to the files' folder inside `folder`.
    private let responsesPath: String
    private let maxBytes: Int
    /// The files' approximate size in bytes: the last count, plus this process's changes since. Other processes' files are included at the
    /// next count. `nil` before the first count.
    private let size = Locked<Int64?>(nil)
    private static let (suffix, removedSuffix) = (".response", ".removed")

    init(_ folder: URL, maxBytes: Int) {
        (self.folder, self.maxBytes) = (folder, maxBytes)
        responsesPath = folder.path + "/responses"
    }

    func responses(for key: String) -> [CachedResponse] {
        // The path may lead to a link or a pipe.
        let descriptor = open(path(of: key), O_RDONLY | O_CLOEXEC | O_NOFOLLOW | O_NONBLOCK)
        guard descriptor >= 0 else { return [] }
        defer { close(descriptor) }
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isPrivate(S_IFREG), status.st_size > 0, status.st_size <= maxBytes
        else { return [] }
        var bytes = Data(count: Int(clamping: status.st_size))
        let count = bytes.withUnsafeMutableBytes { read(descriptor, $0.baseAddress, $0.count) }
        guard count == bytes.count, let responses = CacheFile.responses(in: bytes, for: key) else { return [] }
        // The modification time is the last use, accurate to one minute.
        if Int64(time(nil)) - status.modified / 1_000_000_000 > 60 { futimens(descriptor, nil) }
        return responses
    }

    func replace(_ responses: [CachedResponse], for key: String) {
        let (path, responses) = (path(of: key), responses.suffix(maxBytes: maxBytes))
        var status = stat()
        let exists = lstat(path, &status) == 0
        let isStored = exists && status.isPrivate(S_IFREG)
        let oldSize = isStored ? status.st_size.roundedUpToBlocks : 0
        guard !responses.isEmpty, let data = CacheFile.data(of: responses, for: key), data.count.roundedUpToBlocks <= maxBytes, makeFolder()
        else {
            unlink(path)
            _ = changeSize(by: -oldSize)
            return
        }
        do {
            if exists, !isStored { unlink(path) }
            try PartialFile.replace(URL(fileURLWithPath: path), with: data, mode: 0o600, isDurable: false)
        } catch {
            // The old response is outdated.
            unlink(path)
        }
        if changeSize(by: data.count.roundedUpToBlocks - oldSize).map({ $0 > maxBytes }) ?? true { evictLeastRecentlyUsed() }
    }

    /// Returns the new size; `nil` to count again. A size below 0 means that another process stored some of the files.
    private func changeSize(by change: Int64) -> Int64? {
        size.withLock { size in
            size = size.map { $0 + change }.flatMap { $0 < 0 ? nil : $0 }
            return size
        }
    }

    // MARK: - Removal

    /// Removes all responses. None can be read afterwards. The files are deleted in the background.
    func removeAll() {
        if rename(responsesPath, "\(folder.path)/\(UUID().uuidString)\(Self.removedSuffix)") != 0 {
            try? FileManager.default.removeItem(atPath: responsesPath)
        }
        deleteRenamedFolders()
    }

    /// Deletes folders renamed by ``removeAll()``, even those of a killed process.
    private func deleteRenamedFolders() {
        DispatchQueue.global(qos: .utility).async { [folder] in
            for name in fileNames(inFolder: folder.path) where name.hasSuffix(Self.removedSuffix) {
                try? FileManager.default.removeItem(at: folder.appendingPathComponent(name))
            }
        }
    }

    // MARK: - Files and sizes

    /// Creates the folder if needed, for the user alone. Returns `false` on failure.
    private func makeFolder() -> Bool {
        if mkdir(responsesPath, 0o700) != 0, errno == ENOENT {
            try? FileManager.default.createDirectory(
                at: folder, withIntermediateDirectories: true, attributes: [.posixPermissions: 0o700])
            mkdir(responsesPath, 0o700)
        }
        var status = stat()
        return lstat(responsesPath, &status) == 0
            && (status.isPrivate(S_IFDIR) || status.isOurs(S_IFDIR) && chmod(responsesPath, 0o700) == 0)
    }

    /// The name is a hash of the key. Of two keys with the same hash, the later wins.
    private func path(of key: String) -> String { "\(responsesPath)/\(key.fileNameHash)\(Self.suffix)" }

    /// Counts the bytes of all files. Beyond the limit, removes the least recently used files until a tenth is free, but never the last.
    private func evictLeastRecentlyUsed() {
        // A process killed during a write leaves a `PartialFile`, with a name ending in `.download`.
        let all = fileNames(inFolder: responsesPath).filter { $0.hasSuffix(Self.suffix) || $0.hasSuffix(".download") }
            .compactMap { name -> (path: String, size: Int64, lastUse: Int64)? in
                let path = "\(responsesPath)/\(name)"
                var status = stat()
                guard lstat(path, &status) == 0, status.st_mode & S_IFMT == S_IFREG else { return nil }
                return (path, status.st_size.roundedUpToBlocks, status.modified)
            }.sorted { $0.lastUse < $1.lastUse }
        var total = all.reduce(0) { $0 + $1.size }
        if total > maxBytes {
            for file in all.dropLast() where total > maxBytes / 10 * 9 {
                unlink(file.path)
                total -= file.size
            }
        }
        size.withLock { [total] in $0 = total }
        deleteRenamedFolders()
    }
}

private func fileNames(inFolder path: String) -> [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

extension BinaryInteger {
    /// The size on most disks of a file with this number of bytes. A sparse file may claim more than any disk.
    fileprivate var roundedUpToBlocks: Int64 { (Swift.min(Int64(clamping: self), 1 << 40) + 4_095) / 4_096 * 4_096 }
}

extension stat {
    /// Whether the item has this kind and belongs to this process's user.
    fileprivate func isOurs(_ kind: mode_t) -> Bool { st_mode & S_IFMT == kind && st_uid == geteuid() }

    /// Whether the item is this user's, and no other user may access it.
    fileprivate func isPrivate(_ kind: mode_t) -> Bool { isOurs(kind) && st_mode & 0o077 == 0 }

    /// The modification time, in nanoseconds since 1970.
    fileprivate var modified: Int64 {
        #if canImport(Darwin)
        let time = st_mtimespec
        #else
        let time = st_mtim
        #endif
        return Int64(time.tv_sec) * 1_000_000_000 + Int64(time.tv_nsec)
    }
}
