package import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The hidden folder beside a destination, with the bytes of an unfinished download. One attempt at a time has the folder, in all
/// processes.
///
/// At rest, one file is there, whatever its endpoint. The old file stays while a new version is written: nobody knows yet what came. No
/// file ever has another version's bytes.
package final class KeptFolder: Sendable {
    private struct State {
        /// The file whose rest is requested.
        var rest: (file: PartialFile, version: KeptVersion)?
        /// The file with bytes of this attempt.
        var written: (file: PartialFile, version: KeptVersion, isNew: Bool)?
        var isAccepted = false
        var isLeft = false
    }

    private let (destination, target): (URL, PartialFile.Target)
    private let descriptor: Int32
    /// A hash of the endpoint's URL.
    private let endpoint: String
    /// Locked while files are opened and left.
    private let state = Locked(State())

    private init(_ destination: URL, _ target: PartialFile.Target, _ descriptor: Int32, _ endpoint: URL?) {
        (self.destination, self.target, self.descriptor) = (destination, target, descriptor)
        self.endpoint = endpoint?.absoluteString.fileNameHash ?? ""
    }

    // MARK: - The folder

    private static let queues = (0..<16).map { DispatchQueue(label: "APIProvider.KeptFolder.\($0)") }

    /// The queue on which this destination's folder is opened and left: so the next request waits for the last write of an ended one.
    static func queue(for destination: URL) -> DispatchQueue { queues[destination.path.hashValue & 15] }

    /// Opens and locks the folder.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint's URL, to create the folder; `nil` to open an existing one.
    ///   - attempts: How often another attempt may remove the folder between opening and locking.
    /// - Returns: `nil` if there is no such folder: something else may be in its place, or the file system has no locks.
    /// - Throws: An error with the reason, such as another download to the same file.
    static func open(for destination: URL, endpoint: URL?, attempts: Int = 10) throws -> KeptFolder? {
        let target = try PartialFile.Target(of: destination)
        if endpoint != nil, mkdir(target.keptFolder, 0o700) == 0 {
            target.excludeKeptFolderFromBackups()
        } else if endpoint != nil, ![EEXIST, ENAMETOOLONG].contains(errno) {
            throw CocoaError.writing(destination, errno)
        }
        let descriptor = Foundation.open(target.keptFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        // An ended attempt may have removed the folder.
        func openAgain() throws -> KeptFolder? {
            endpoint != nil && attempts > 0 ? try open(for: destination, endpoint: endpoint, attempts: attempts - 1) : nil
        }
        guard descriptor >= 0 else { return errno == ENOENT ? try openAgain() : nil }
        let folder = KeptFolder(destination, target, descriptor, endpoint)
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw CocoaError.writing(destination, .fileLocking, "another download to it is going on") }
            rmdir(target.keptFolder)
            return nil
        }
        guard let status = PartialFile.status(of: descriptor, at: target.keptFolder) else { return try openAgain() }
        return status.st_uid == geteuid() ? folder : nil
    }

    deinit { close(descriptor) }

    /// Removes all bytes kept for `destination`.
    package static func remove(for destination: URL) throws {
        try queue(for: destination).sync {
            guard let folder = try open(for: destination, endpoint: nil) else { return }
            folder.accept()
            folder.leave(isRefused: false)
            guard access(folder.target.keptFolder, F_OK) == 0 else { return }
            throw CocoaError.writing(destination, .fileWriteNoPermission, "its hidden folder cannot be removed")
        }
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: target.keptFolder)) ?? [] }

    private func removeFiles(except kept: String? = nil) {
        for name in names where kept.map(name.hasSameBytes) != true { unlinkat(descriptor, name, 0) }
    }

    // MARK: - An attempt

    /// Opens the bytes of the last attempt, if any. Returns the header fields of a request for the rest.
    func openRest() -> HTTPHeaders? {
        var (status, last) = (stat(), Date.distantPast)
        for name in names {
            // A killed process may leave two versions.
            let date = try? FileManager.default.attributesOfItem(atPath: "\(target.keptFolder)/\(name)")[.modificationDate] as? Date
            guard let version = KeptVersion(name: name), version.endpoint == endpoint, version.isWhole, let date, date > last,
                fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_uid == geteuid(), status.st_nlink == 1, 1...version.length ~= Int64(status.st_size),
                case let file = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), file >= 0
            else { continue }
            last = date
            // A whole file costs one byte, and an empty range is never requested.
            let start = min(Int64(status.st_size), version.length - 1)
            let rest = PartialFile(destination, target, file, in: descriptor, name, from: start, length: version.length)
            state.withLock { $0.rest = (rest, version) }
        }
        return state.withLock(\.rest).map { ["Range": "bytes=\($0.file.start)-", "If-Range": $0.version.eTag] }
    }

    /// The server does not send the rest.
    func forgetRest() { state.withLock { $0.rest = nil } }

    /// The file for the body in `response`: the rest of the kept one, or a new one. Returns `nil` if the bytes cannot stay.
    ///
    /// - Throws: ``UnexpectedRange`` for another part than the missing one.
    func file(for response: HTTPURLResponse) throws -> PartialFile? {
        try state.withLock { state in
            if state.isLeft { throw URLError(.cancelled) }
            if response.isPart {
                guard let (file, version) = state.rest else { return nil }
                guard version.isContinued(by: response, from: file.start) else { throw UnexpectedRange() }
                if version.boot == KeptVersion.synchronized {
                    try file.rename(to: version.name())
                    // Under the old name, all bytes are on the disk.
                    guard try PartialFile.synchronize(descriptor, destination) else { throw UnexpectedRange() }
                }
                state.written = (file, version, false)
                return file
            }
            guard let version = KeptVersion(response, endpoint: endpoint) else { return nil }
            // Only under exactly this name: in some file systems, another version's with other capitals is the same.
            if names.contains(where: version.name().hasSameBytes) { unlinkat(descriptor, version.name(), 0) }
            // The owner must be able to open the file again, whatever the whole file's mode.
            let (flags, mode) = (O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (target.mode ?? 0o666) | 0o600)
            let new = openat(descriptor, version.name(), flags, mode)
            guard new >= 0 else { return nil }
            let file = PartialFile(destination, target, new, in: descriptor, version.name(), from: 0, length: version.length)
            state.written = (file, version, true)
            return file
        }
    }

    /// The response was accepted: nothing is needed any more.
    func accept() { state.withLock { $0.isAccepted = true } }

    /// Ends the attempt, after a running write: leaves one file, and unlocks the folder. An empty folder is removed.
    ///
    /// - Parameter isRefused: Whether a whole file was not accepted, such as a page that asks to sign in.
    func leave(isRefused: Bool) {
        state.withLock { state in
            state.isLeft = true
            if state.isAccepted {
                removeFiles()
            } else if let (file, version, isNew) = state.written {
                if !(isNew && isRefused), file.hasBytes, let isSynchronized = try? file.synchronize() {
                    if isSynchronized { try? file.rename(to: version.name(in: KeptVersion.synchronized)) }
                    removeFiles(except: file.name)
                } else if isNew || !file.hasBytes {
                    unlinkat(descriptor, file.name, 0)
                }
            }
            state.written?.file.close()
            if PartialFile.status(of: descriptor, at: target.keptFolder) != nil { rmdir(target.keptFolder) }
            flock(descriptor, LOCK_UN)
        }
    }
}

/// The response has another part than the requested range, or part of another version.
struct UnexpectedRange: Error {}

extension PartialFile.Target {
    /// `.video.mp4.partial` beside `video.mp4`. A name that is too long is cut, and ends in a hash.
    fileprivate var keptFolder: String {
        let (name, longest) = ((path as NSString).lastPathComponent, 255 - "..partial".utf8.count)
        return "\(folder)/.\(name.utf8.count > longest ? name.cut(to: longest - 16) + name.fileNameHash : name).partial"
    }

    fileprivate func excludeKeptFolderFromBackups() {
        #if canImport(Darwin)
        var (folder, values) = (URL(fileURLWithPath: keptFolder, isDirectory: true), URLResourceValues())
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
        #endif
    }
}
