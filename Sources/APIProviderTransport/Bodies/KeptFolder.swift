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
    }

    private let claim: Claim
    private let descriptor: Int32
    /// A hash of the endpoint's URL.
    private let endpoint: String
    private let state = Locked(State())

    private init(_ claim: Claim, _ descriptor: Int32, _ endpoint: URL?) {
        (self.claim, self.descriptor, self.endpoint) = (claim, descriptor, endpoint?.absoluteString.fileNameHash ?? "")
    }

    private var destination: URL { claim.destination }
    private var target: PartialFile.Target { claim.target }
    private var path: String { target.keptFolder }

    // MARK: - The folder

    /// Opens and locks the folder.
    ///
    /// - Parameters:
    ///   - endpoint: The endpoint's URL, to create the folder; `nil` to open an existing one.
    ///   - attempts: How often another attempt may remove the folder between opening and locking.
    /// - Returns: `nil` if there is no such folder: something else may be in its place, or the file system has no locks.
    /// - Throws: An error with the reason, such as another download to the same file.
    static func open(_ claim: Claim, endpoint: URL?, attempts: Int = 10) throws -> KeptFolder? {
        let path = claim.target.keptFolder
        if endpoint != nil, mkdir(path, 0o700) == 0 {
            excludeFromBackups(path)
        } else if endpoint != nil, ![EEXIST, ENAMETOOLONG].contains(errno) {
            throw CocoaError.writing(claim.destination, errno)
        }
        let descriptor = Foundation.open(path, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
        guard descriptor >= 0 else {
            return endpoint != nil && errno == ENOENT && attempts > 0
                ? try open(claim, endpoint: endpoint, attempts: attempts - 1) : nil
        }
        var isOpen = false
        defer { if !isOpen { close(descriptor) } }
        guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
            if errno == EWOULDBLOCK { throw CocoaError.otherDownload(to: claim.destination) }
            rmdir(path)
            return nil
        }
        // An ended attempt may have removed the folder before the locking.
        guard let status = PartialFile.status(of: descriptor, at: path) else {
            return attempts > 0 ? try open(claim, endpoint: endpoint, attempts: attempts - 1) : nil
        }
        guard status.st_uid == geteuid() else { return nil }
        isOpen = true
        return KeptFolder(claim, descriptor, endpoint)
    }

    private static func excludeFromBackups(_ path: String) {
        #if canImport(Darwin)
        var (folder, values) = (URL(fileURLWithPath: path, isDirectory: true), URLResourceValues())
        values.isExcludedFromBackup = true
        try? folder.setResourceValues(values)
        #endif
    }

    /// Removes all bytes kept for `destination`.
    package static func remove(for destination: URL) throws {
        let claim = try Claim(to: destination)
        while let other = try claim.take() { other.wait() }
        guard let folder = try open(claim, endpoint: nil) else { return }
        folder.accept()
        folder.settle()
        if access(folder.path, F_OK) == 0 {
            throw CocoaError.writing(destination, .fileWriteNoPermission, "its hidden folder cannot be removed")
        }
    }

    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: path)) ?? [] }

    private func removeFiles(except kept: String? = nil) {
        for name in names where kept.map(name.hasSameBytes) != true { unlinkat(descriptor, name, 0) }
    }

    // MARK: - An attempt

    /// Opens the bytes of the last attempt, if any. Returns the header fields of a request for the rest.
    func openRest() -> HTTPHeaders? {
        var (found, last) = (nil as (name: String, version: KeptVersion, count: Int64)?, Date.distantPast)
        for name in names {
            var status = stat()
            // A killed process may leave two versions.
            let date = try? FileManager.default.attributesOfItem(atPath: "\(path)/\(name)")[.modificationDate] as? Date
            guard let version = KeptVersion(name: name), version.endpoint == endpoint, version.isWhole, let date, date > last,
                fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.isOwnFile, 1...version.length ~= Int64(status.st_size)
            else { continue }
            (found, last) = ((name, version, Int64(status.st_size)), date)
        }
        guard let (name, version, count) = found else { return nil }
        let file = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard file >= 0 else { return nil }
        // A whole file costs one byte, and an empty range is never requested.
        let start = min(count, version.length - 1)
        state.withLock {
            $0.rest = (PartialFile(destination, target, file, in: descriptor, name, from: start, length: version.length), version)
        }
        return ["Range": "bytes=\(start)-", "If-Range": "\"\(version.tag)\""]
    }

    /// The server does not send the rest.
    func forgetRest() { _ = state.withLock { $0.rest.take() } }

    /// The file for the body in `response`: the rest of the kept one, or a new one. Returns `nil` if the bytes cannot stay.
    ///
    /// - Throws: ``UnexpectedRange`` for another part than the missing one.
    func file(for response: HTTPURLResponse) throws -> PartialFile? {
        if response.isPart {
            guard let (file, version) = state.withLock(\.rest) else { return nil }
            guard version.isContinued(by: response, from: file.start) else { throw UnexpectedRange() }
            let new = version.at(KeptVersion.currentBoot)
            if version.boot == KeptVersion.synchronized {
                try file.rename(to: new.name)
                // Under the old name, all bytes are on the disk.
                guard try PartialFile.synchronize(descriptor, destination) else { throw UnexpectedRange() }
            }
            state.withLock { $0.written = (file, new, false) }
            return file
        }
        guard let version = KeptVersion(response, endpoint: endpoint) else { return nil }
        // Not by opening: in some file systems, another version's name with other capitals is the same.
        if names.contains(where: version.name.hasSameBytes) { unlinkat(descriptor, version.name, 0) }
        // The owner must be able to open the file again, whatever the whole file's mode.
        let flags = O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC
        let new = openat(descriptor, version.name, flags, (target.mode ?? 0o666) | 0o600)
        guard new >= 0 else { return nil }
        let file = PartialFile(destination, target, new, in: descriptor, version.name, from: 0, length: version.length)
        state.withLock { $0.written = (file, version, true) }
        return file
    }

    /// The response was accepted: nothing is needed any more.
    func accept() { state.withLock { $0.isAccepted = true } }

    // MARK: - The end

    /// Ends the attempt: at once, or after a running write.
    func end(inBackground: Bool) {
        let end: @Sendable () -> Void = { [self] in
            if let file = state.withLock(\.written)?.file { file.release { self.settle() } } else { settle() }
        }
        if inBackground { DispatchQueue.global().async(execute: end) } else { end() }
    }

    /// Leaves one file, and unlocks the folder. An empty folder is removed.
    private func settle() {
        let (written, isAccepted) = state.withLock { ($0.written, $0.isAccepted) }
        if isAccepted {
            removeFiles()
        } else if let (file, version, isNew) = written {
            // A new version that is whole was refused, as a page that asks to sign in.
            let isRefused = isNew && file.isFinished
            if !isRefused, file.hasBytes, let isSynchronized = try? file.synchronize() {
                if isSynchronized { try? file.rename(to: version.at(KeptVersion.synchronized).name) }
                removeFiles(except: file.name)
            } else if isNew || !file.hasBytes {
                unlinkat(descriptor, file.name, 0)
            }
        }
        written?.file.close()
        if PartialFile.status(of: descriptor, at: path) != nil { rmdir(path) }
        close(descriptor)
    }
}

/// An attempt's right to a destination's folder, in this process, until the last reference. The next attempt waits for one that has ended,
/// until its last write ends.
final class Claim: Sendable {
    private static let holders = Locked<[String: (group: DispatchGroup, isEnding: Locked<Bool>)]>([:])
    let destination: URL
    let target: PartialFile.Target
    private let (group, isEnding) = (DispatchGroup(), Locked(false))

    init(to destination: URL) throws {
        (self.destination, target) = (destination, try PartialFile.Target(of: destination))
        group.enter()
    }

    deinit {
        Self.holders.withLock { if $0[target.keptFolder]?.group === group { $0[target.keptFolder] = nil } }
        group.leave()
    }

    func end() { isEnding.withLock { $0 = true } }

    /// Takes the folder. Returns what ends with another attempt's claim, if any.
    ///
    /// - Throws: An error, if that attempt goes on.
    func take() throws -> DispatchGroup? {
        let other = Self.holders.withLock { holders in
            let other = holders[target.keptFolder]
            if other == nil { holders[target.keptFolder] = (group, isEnding) }
            return other
        }
        guard let other else { return nil }
        guard other.isEnding.withLock({ $0 }) else { throw CocoaError.otherDownload(to: destination) }
        return other.group
    }
}

extension CocoaError {
    fileprivate static func otherDownload(to destination: URL) -> CocoaError {
        .writing(destination, .fileLocking, "another download to it is going on")
    }
}

/// The response has another part than the requested range, or part of another version.
struct UnexpectedRange: Error {}

extension PartialFile.Target {
    /// `.video.mp4.partial` beside `video.mp4`. A name that is too long is cut, and ends in a hash.
    var keptFolder: String {
        let (name, longest) = ((path as NSString).lastPathComponent, 255 - "..partial".utf8.count)
        return "\(folder)/.\(name.utf8.count > longest ? name.cut(to: longest - 16) + name.fileNameHash : name).partial"
    }
}
