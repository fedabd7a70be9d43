package import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A file written next to the destination. When complete, the file replaces the destination. An unmoved file is removed with the last
/// reference, except in a ``KeptFolder``, which decides about its files.
///
/// Replaces only a regular file, and keeps that file's mode. A link to a regular file is followed. A killed process leaves a hidden file,
/// with a name ending in `.download`. One thread at a time may write.
package final class PartialFile: Sendable {
    private struct State {
        /// `nil` when closed.
        var descriptor: Int32?
        /// The file's path, or its name in the kept folder.
        var name: String
        /// The number of bytes in the file.
        var count: Int64 = 0
        var isMoved = false
    }

    private let destination: URL
    private let target: Target
    /// The kept folder's descriptor; `nil` for an ordinary file.
    private let folder: Int32?
    /// The number of bytes from earlier attempts.
    let start: Int64
    /// The whole file's number of bytes, if known.
    let length: Int64?
    /// Locked during a write, so that nobody closes the file meanwhile. Every call may wait for the disk.
    private let state: Locked<State>

    /// Creates the file, under a unique hidden name.
    ///
    /// - Parameters:
    ///   - destination: The file to replace.
    ///   - mode: A new file's permissions, before the process's umask.
    init(beside destination: URL, mode: mode_t = 0o666) throws {
        (self.destination, folder, start, length) = (destination, nil, 0, nil)
        target = try Target(of: destination)
        let path = "\(target.folder)/.\(UUID().uuidString).download"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target.mode ?? mode)
        guard descriptor >= 0 else { throw CocoaError.writing(destination, errno) }
        if let mode = target.mode { fchmod(descriptor, mode) }
        state = Locked(State(descriptor: descriptor, name: path))
    }

    /// Continues a file of a kept folder.
    init(_ destination: URL, _ target: Target, _ descriptor: Int32, in folder: Int32, _ name: String, from start: Int64, length: Int64?) {
        (self.destination, self.target, self.folder, self.start, self.length) = (destination, target, folder, start, length)
        lseek(descriptor, off_t(start), SEEK_SET)
        state = Locked(State(descriptor: descriptor, name: name, count: start))
    }

    /// Throws if no file can be written to `destination`, as far as that is known in advance.
    static func check(_ destination: URL) throws { _ = try Target(of: destination) }

    deinit {
        if folder == nil, !state.withLock(\.isMoved) { unlink(name) }
        close()
    }

    var name: String { state.withLock(\.name) }

    /// The number of bytes in the file.
    var count: Int64 { state.withLock(\.count) }

    /// Closes the file, after another thread's running call. Later calls fail.
    func close() { state.withLock { $0.descriptor.take().map { _ = Foundation.close($0) } } }

    // MARK: - Writing

    private func withDescriptor<Result>(_ body: (_ descriptor: Int32, _ state: inout State) throws -> Result) throws -> Result {
        try state.withLock { state in
            guard let descriptor = state.descriptor else { throw URLError(.cancelled) }
            return try body(descriptor, &state)
        }
    }

    func append(_ chunk: Data) throws {
        try withDescriptor { descriptor, state in
            var rest = chunk[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                guard count >= 0 || errno == EINTR else { throw CocoaError.writing(destination, errno) }
                rest = rest.dropFirst(max(count, 0))
                state.count += Int64(max(count, 0))
            }
        }
    }

    /// Ends the writing of the whole file. An ordinary file is closed. A kept file is closed when its folder is left.
    ///
    /// - Parameter isDurable: Whether to wait until the file reaches the disk before the move. Otherwise the destination may be empty after
    ///   a power failure. This is also where a network file system may report a full disk.
    func finish(isDurable: Bool = true) throws {
        defer { if folder == nil { close() } }
        if let length, case let count = count, count != length {
            // A server may send only part of the rest.
            let part = count > start ? "bytes \(start)-\(count - 1) of \(length)" : "no bytes of the rest"
            throw URLError(.networkConnectionLost, reason: "the server sent \(part); the same request asks for the rest")
        }
        if isDurable { _ = try synchronize() }
    }

    /// Waits until the bytes reach the disk. Returns `false` if the file system cannot do that.
    func synchronize() throws -> Bool {
        do { return try withDescriptor { descriptor, _ in try Self.synchronize(descriptor, destination) } } catch {
            // Some bytes are lost, and nobody knows which. A second call would succeed.
            close()
            throw error
        }
    }

    static func synchronize(_ descriptor: Int32, _ destination: URL) throws -> Bool {
        #if canImport(Darwin)
        // Apple's `fsync` does not make the drive write. Some file systems have no barrier, and some no other way, either.
        if fcntl(descriptor, F_BARRIERFSYNC) == 0 || fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        let reachesDisk = false
        #else
        let reachesDisk = true
        #endif
        while fsync(descriptor) != 0 {
            // Some file systems cannot synchronize.
            if errno == EINVAL { return false }
            guard errno == EINTR else { throw CocoaError.writing(destination, errno) }
        }
        return reachesDisk
    }

    /// Moves the whole file to the destination, unless already moved.
    package func moveToDestination() throws {
        try state.withLock { state in
            if state.isMoved { return }
            // By now, something else may be there.
            _ = try Target.mode(of: target.path, for: destination)
            // In a folder that was left, and where locks do not reach other machines, the name may be another download's.
            if let folder, state.descriptor.flatMap({ Self.status(of: $0, at: state.name, in: folder) }) == nil {
                throw CocoaError.writing(destination, .fileNoSuchFile, "its partial file is no longer there")
            }
            guard renameat(folder ?? AT_FDCWD, state.name, AT_FDCWD, target.path) == 0 else {
                if errno != ENOENT { throw CocoaError.writing(destination, errno) }
                throw CocoaError.writing(destination, .fileNoSuchFile, "its partial file is no longer there")
            }
            state.isMoved = true
            // Only now, because the next attempt must be able to open an unmoved file.
            if let descriptor = state.descriptor, let mode = target.mode { fchmod(descriptor, mode) }
        }
    }

    /// Renames a file of the kept folder.
    func rename(to name: String) throws {
        try state.withLock { state in
            guard let folder, renameat(folder, state.name, folder, name) == 0 else { throw CocoaError.writing(destination, errno) }
            state.name = name
        }
    }

    /// An open file's status; `nil` if the file at `path` was moved or removed.
    static func status(of descriptor: Int32, at path: String, in folder: Int32 = AT_FDCWD) -> stat? {
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, fstatat(folder, path, &named, AT_SYMLINK_NOFOLLOW) == 0, named.st_ino == opened.st_ino,
            named.st_dev == opened.st_dev
        else { return nil }
        return opened
    }

    /// Atomically replaces the contents of `destination` with `data`. A new file gets `mode`.
    ///
    /// - Parameter isDurable: Whether the file is complete even after a power failure.
    package static func replace(_ destination: URL, with data: Data, mode: mode_t = 0o666, isDurable: Bool = true) throws {
        let file = try PartialFile(beside: destination, mode: mode)
        try file.append(data)
        try file.finish(isDurable: isDurable)
        try file.moveToDestination()
    }
}

// MARK: - The destination

extension PartialFile {
    /// The file to replace: the destination with symbolic links resolved.
    struct Target {
        let path: String
        /// The old file's mode, if any.
        let mode: mode_t?

        // By bytes: for NSString on Linux, a slash and a combining mark behind it are one character.
        var folder: String { path.parts(between: UInt8(ascii: "/")).dropLast().joined(separator: "/") }
        var name: String { String(path.parts(between: UInt8(ascii: "/")).last ?? "") }

        init(of destination: URL) throws {
            guard destination.isFileURL else { throw CocoaError.writing(destination, ENOTSUP) }
            var status = stat()
            if lstat(destination.path, &status) == 0, status.st_mode & S_IFMT == S_IFLNK {
                guard let real = realpath(destination.path, nil) else {
                    throw CocoaError.writing(destination, .fileNoSuchFile, "it is a link that leads nowhere")
                }
                defer { free(real) }
                path = String(cString: real)
            } else {
                path = destination.path
            }
            guard path.utf8.first == UInt8(ascii: "/") else { throw CocoaError.writing(destination, ENOENT) }
            mode = try Self.mode(of: path, for: destination)
            guard mode != nil || stat("\(folder)/", &status) == 0 else { throw CocoaError.writing(destination, ENOENT) }
        }

        /// A regular file's mode, or `nil` if nothing is there. Throws if something else is there.
        static func mode(of path: String, for destination: URL) throws -> mode_t? {
            var status = stat()
            guard lstat(path, &status) == 0 else {
                if errno == ENOENT { return nil }
                throw CocoaError.writing(destination, errno)
            }
            let kind: String
            switch status.st_mode & S_IFMT {
            case S_IFREG: return status.st_mode & 0o777
            case S_IFDIR: throw CocoaError.writing(destination, EISDIR)
            case S_IFIFO: kind = "a pipe"
            case S_IFSOCK: kind = "a socket"
            case S_IFLNK: kind = "a link"
            default: kind = "a device"
            }
            throw CocoaError.writing(destination, .fileWriteFileExists, "it is \(kind) and not a regular file")
        }
    }
}

// MARK: - Errors

extension CocoaError {
    /// The error for an unwritable `file`, by a POSIX error number.
    static func writing(_ file: URL, _ number: Int32) -> CocoaError {
        let (code, reason): (CocoaError.Code, String) =
            switch number {
            case ENOENT, ENOTDIR: (.fileNoSuchFile, "its folder does not exist")
            case EISDIR: (.fileWriteFileExists, "a folder of that name is there")
            case ENOSPC, EDQUOT: (.fileWriteOutOfSpace, "the disk is full")
            case EACCES, EPERM: (.fileWriteNoPermission, "permission is denied")
            case EROFS: (.fileWriteVolumeReadOnly, "the volume is read-only")
            case ENAMETOOLONG: (.fileWriteInvalidFileName, "the name is too long")
            case ENOTSUP: (.fileWriteUnsupportedScheme, "it is not a file URL")
            default: (.fileWriteUnknown, String(cString: strerror(number)))
            }
        return writing(file, code, reason)
    }

    static func goingOn(_ file: URL) -> CocoaError { writing(file, .fileLocking, "another download to it is going on") }

    static func writing(_ file: URL, _ code: CocoaError.Code, _ reason: String) -> CocoaError {
        let place = file.isFileURL ? file.path : file.redacted
        let message = "the file cannot be written to \(place): \(reason)."
        return CocoaError(code, userInfo: [NSLocalizedDescriptionKey: message, NSFilePathErrorKey: place])
    }
}
