package import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The hidden folder beside a destination, with the bytes of an unfinished download. One attempt at a time has the folder, in all
/// processes.
///
/// At rest, one file is there, whatever its endpoint. The old file stays while a new version is written: nobody knows yet what came.
///
/// A file's name is `<boot>,<endpoint>,<path>,<length>,<ETag>`: the version of its bytes, and the system's boot in which they were written.
/// So no file ever has another version's bytes. URLs may contain secrets, so only their hashes are written.
package final class KeptFolder: Sendable {
    private struct State {
        /// The file whose rest is requested.
        var rest: PartialFile?
        /// The file with bytes of this attempt.
        var written: PartialFile?
        /// What the app says of the response. Without that, the attempt broke off.
        var isAccepted: Bool?
        var isLeft = false
    }

    private let (destination, target): (URL, PartialFile.Target)
    /// Closed when the folder is left: the app may keep an error, and with it this object.
    private let descriptor: Int32
    /// A hash of the endpoint's URL.
    private let endpoint: String
    /// Locked while the attempt's file is opened, so that nobody leaves the folder meanwhile.
    private let state = Locked(State())

    private init(_ destination: URL, _ target: PartialFile.Target, _ descriptor: Int32, _ endpoint: URL?) {
        (self.destination, self.target, self.descriptor) = (destination, target, descriptor)
        self.endpoint = endpoint?.absoluteString.fileNameHash ?? ""
    }

    // MARK: - The folder

    private struct WeakQueue { weak var queue: DispatchQueue? }

    private static let queues = Locked<[String: WeakQueue]>([:])

    /// The queue on which this destination's folder is opened and left: so the next request waits for the last write of an ended one, and
    /// nobody waits for another destination's disk.
    static func queue(for destination: URL) -> DispatchQueue {
        queues.withLock { queues in
            if let queue = queues[destination.path]?.queue { return queue }
            // Not for each of thousands of destinations.
            if queues.count.nonzeroBitCount == 1 { queues = queues.filter { $0.value.queue != nil } }
            let queue = DispatchQueue(label: "APIProvider.KeptFolder")
            queues[destination.path] = WeakQueue(queue: queue)
            return queue
        }
    }

    /// Opens and locks the folder.
    ///
    /// - Parameter endpoint: The endpoint's URL, to create the folder; `nil` to open an existing one.
    /// - Returns: `nil` if there is no folder to open, if something else is in its place, or if the file system has no locks.
    /// - Throws: An error with the reason, such as another download to the same file.
    static func open(for destination: URL, endpoint: URL?) throws -> KeptFolder? {
        let target = try PartialFile.Target(of: destination)
        // An ended attempt may remove the folder between opening and locking.
        for _ in 0..<10 {
            if endpoint != nil, mkdir(target.keptFolder, 0o700) == 0 {
                #if canImport(Darwin)
                try? (URL(fileURLWithPath: target.keptFolder) as NSURL).setResourceValue(true, forKey: .isExcludedFromBackupKey)
                #endif
            } else if endpoint != nil, ![EEXIST, ENAMETOOLONG].contains(errno) {
                throw CocoaError.writing(destination, errno)
            }
            let descriptor = Foundation.open(target.keptFolder, O_RDONLY | O_DIRECTORY | O_NOFOLLOW | O_CLOEXEC)
            guard descriptor >= 0 else {
                if errno == ENOENT { continue }
                // Too many open files: an empty folder would stay.
                rmdir(target.keptFolder)
                return nil
            }
            let folder = KeptFolder(destination, target, descriptor, endpoint)
            var status = stat()
            // Another user may hold the lock of a folder of theirs.
            guard fstat(descriptor, &status) == 0, status.st_uid == geteuid() else { return nil }
            guard flock(descriptor, LOCK_EX | LOCK_NB) == 0 else {
                if errno == EWOULDBLOCK { throw CocoaError.goingOn(destination) }
                rmdir(target.keptFolder)
                return nil
            }
            if PartialFile.status(of: descriptor, at: target.keptFolder) != nil { return folder }
        }
        return nil
    }

    deinit { if !state.withLock(\.isLeft) { close(descriptor) } }

    /// Removes all bytes kept for `destination`. May wait for the disk.
    package static func remove(for destination: URL) throws {
        try queue(for: destination).sync {
            guard let folder = try open(for: destination, endpoint: nil) else { return }
            folder.judge(isAccepted: true)
            folder.leave()
            guard access(folder.target.keptFolder, F_OK) == 0 else { return }
            throw CocoaError.writing(destination, .fileWriteNoPermission, "its hidden folder cannot be removed")
        }
    }

    // Names, dates, `rmdir` and the exclusion from backups go by path: another folder may have taken the place. All else goes by descriptor.
    private var names: [String] { (try? FileManager.default.contentsOfDirectory(atPath: target.keptFolder)) ?? [] }

    private func removeFiles(except kept: String? = nil) {
        for name in names where kept.map(name.hasSameBytes) != true { unlinkat(descriptor, name, 0) }
    }

    // MARK: - The boot

    /// In a name: all bytes are on the disk, and survive a restart of the system.
    private static let anyBoot = "0"

    /// After a restart of the system, the last bytes that were written before may be missing. `nil` if unknown.
    private static let boot: String? = {
        #if canImport(Darwin)
        var (id, size) = ([UInt8](repeating: 0, count: 64), 64)
        guard sysctlbyname("kern.bootsessionuuid", &id, &size, nil, 0) == 0 else { return nil }
        return String(decoding: id.prefix { $0 != 0 }, as: UTF8.self).fileNameHash
        #else
        return (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?.fileNameHash
        #endif
    }()

    // MARK: - An attempt

    /// The version in `response`, of this whole length; `nil` if its rest could not be requested, or the name would be too long.
    private func version(of response: HTTPURLResponse, _ length: Int64?) -> String? {
        // Two files may share an entity tag made from a time and a size.
        let path = response.url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }?.percentEncodedPath ?? ""
        guard !response.isCoded, let length, let eTag = response.joinedValue(forHTTPHeaderField: "ETag"), eTag.isStrongETag,
            eTag.escapedAsValue.utf8.count <= 80
        else { return nil }
        return "\(endpoint),\(path.fileNameHash),\(length),\(eTag.escapedAsValue)"
    }

    /// Opens the bytes of the last attempt, if any. Returns the header fields of a request for the rest.
    func openRest() -> HTTPHeaders? {
        var (status, last, rest, fields) = (stat(), Date.distantPast, nil as PartialFile?, nil as HTTPHeaders?)
        for name in names {
            let parts = name.parts(between: UInt8(ascii: ","))
            // A killed process may leave two versions.
            let date = try? FileManager.default.attributesOfItem(atPath: "\(target.keptFolder)/\(name)")[.modificationDate] as? Date
            guard parts.count == 5, [Self.anyBoot, Self.boot].contains(String(parts[0])), parts[1] == endpoint,
                let length = parts[3].number, let eTag = parts[4].removingPercentEncoding, eTag.isStrongETag, let date, date > last,
                fstatat(descriptor, name, &status, AT_SYMLINK_NOFOLLOW) == 0, status.st_mode & S_IFMT == S_IFREG,
                status.st_uid == geteuid(), status.st_nlink == 1, 0 < status.st_size, status.st_size <= length,
                case let file = openat(descriptor, name, O_WRONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC), file >= 0
            else { continue }
            // A whole file costs one byte, and an empty range is never requested.
            let start = min(Int64(status.st_size), length - 1)
            rest = PartialFile(destination, target, file, in: descriptor, name, from: start, length: length)
            (last, fields) = (date, ["Range": "bytes=\(start)-", "If-Range": eTag])
        }
        state.withLock { $0.rest = rest }
        return fields
    }

    /// The file for the body in `response`: the rest of the kept one, or a new one. Returns `nil` if the bytes cannot stay.
    ///
    /// - Parameter isRest: Whether the rest was requested.
    /// - Throws: ``UnexpectedRange`` for another part than the missing one. `URLError`, if the folder was left.
    func file(for response: HTTPURLResponse, isRest: Bool) throws -> PartialFile? {
        try state.withLock { state in
            if state.isLeft { throw URLError(.cancelled) }
            // The app's own transport may send a request twice.
            guard state.written == nil else { return nil }
            if response.isPart {
                guard isRest, let rest = state.rest else { return nil }
                // The part may end early.
                guard response.statusCode == 206, let range = response.contentRange, let version = version(of: response, range.length),
                    rest.name.hasSuffix(",\(version)"), range.first == rest.start, range.last < range.length ?? 0,
                    response.expectedContentLength == range.last - range.first + 1
                else { throw UnexpectedRange() }
                if rest.name.hasPrefix("\(Self.anyBoot),") {
                    try rest.rename(to: "\(Self.boot ?? "-"),\(version)")
                    // Under the old name, all bytes are on the disk.
                    guard try PartialFile.synchronize(descriptor, destination) else { throw UnexpectedRange() }
                }
                (state.rest, state.written) = (nil, rest)
                return rest
            }
            guard response.statusCode == 200, let version = version(of: response, response.bodyLength) else { return nil }
            let name = "\(Self.boot ?? "-"),\(version)"
            // Only under exactly this name: in some file systems, another version's with other capitals is the same.
            if names.contains(where: name.hasSameBytes) { unlinkat(descriptor, name, 0) }
            // The owner must be able to open the file again, whatever the whole file's mode.
            let new = openat(descriptor, name, O_WRONLY | O_CREAT | O_EXCL | O_NOFOLLOW | O_CLOEXEC, (target.mode ?? 0o666) | 0o600)
            guard new >= 0 else { return nil }
            let file = PartialFile(destination, target, new, in: descriptor, name, from: 0, length: response.bodyLength)
            state.written = file
            return file
        }
    }

    func judge(isAccepted: Bool) { state.withLock { $0.isAccepted = isAccepted } }

    /// Ends the attempt, after a running write: leaves one file, and unlocks the folder. An empty folder is removed.
    ///
    /// After an accepted response, nothing is needed any more. A whole file that was refused, such as a page that asks to sign in, goes.
    func leave() {
        // The rest that nobody wants is closed outside the lock.
        let (_, file, isAccepted) = state.withLock { state in
            state.isLeft = true
            return (state.rest.take(), state.written.take(), state.isAccepted)
        }
        if isAccepted == true {
            removeFiles()
        } else if let file {
            if isAccepted == nil || file.count != file.length, file.count > 0, let isSynchronized = try? file.synchronize() {
                if isSynchronized { try? file.rename(to: Self.anyBoot + file.name.drop { $0 != "," }) }
                removeFiles(except: file.name)
            } else {
                unlinkat(descriptor, file.name, 0)
            }
        }
        file?.close()
        if PartialFile.status(of: descriptor, at: target.keptFolder) != nil { rmdir(target.keptFolder) }
        // A process that is being started may still have the descriptor.
        flock(descriptor, LOCK_UN)
        close(descriptor)
    }
}

/// The response has another part than the requested range, or part of another version.
struct UnexpectedRange: Error {}

extension String {
    fileprivate var isStrongETag: Bool {
        let (quote, inner) = (UInt8(ascii: "\""), utf8.dropFirst().dropLast())
        return utf8.count >= 2 && utf8.first == quote && utf8.last == quote && inner.allSatisfy { 0x21...0x7E ~= $0 && $0 != quote }
    }
}

extension PartialFile.Target {
    /// `.video.mp4.partial` beside `video.mp4`. A name that is too long is cut, and ends in a hash.
    fileprivate var keptFolder: String {
        let longest = 255 - "..partial".utf8.count
        return "\(folder)/.\(name.utf8.count > longest ? name.cut(to: longest - 16) + name.fileNameHash : name).partial"
    }
}
