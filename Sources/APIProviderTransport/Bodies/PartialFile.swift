package import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A file written next to the destination. When complete, the file replaces the destination. An unmoved file is removed with the last
/// reference, unless a ``Resumption`` keeps the bytes.
///
/// Replaces only a regular file, and keeps that file's mode. A link to a regular file is followed. A killed process leaves a hidden file,
/// with a name ending in `.download`. One thread at a time may write.
package final class PartialFile: Sendable {
    private struct State {
        /// `nil` when closed.
        var descriptor: Int32?
        var isMoved = false
        /// Whether a call is using the descriptor. If the file is released meanwhile, the call closes the file at the end.
        var isInUse = false
        var isReleased = false
    }

    private let destination: URL
    private let target: Target
    private let path: String
    private let state: Locked<State>
    /// Set for a file that stays if the download fails.
    package let resumption: Resumption?

    /// Creates the file, under a hidden name.
    ///
    /// - Parameters:
    ///   - destination: The file to replace.
    ///   - mode: A new file's permissions, before the process's umask.
    ///   - name: The hidden name; `nil` means a unique name.
    init(beside destination: URL, mode: mode_t = 0o666, name: String? = nil) throws {
        (self.destination, resumption) = (destination, nil)
        target = try Target(of: destination)
        path = "\(target.folder)/\(name ?? ".\(UUID().uuidString).download")"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target.mode ?? mode)
        guard descriptor >= 0 else { throw CocoaError.writing(destination, errno) }
        if let mode = target.mode { fchmod(descriptor, mode) }
        state = Locked(State(descriptor: descriptor))
    }

    /// Throws if no file can be written to `destination`, as far as that is known in advance.
    package static func check(_ destination: URL) throws { _ = try Target(of: destination) }

    /// - Parameter descriptor: A file locked by this process.
    init(_ destination: URL, _ target: Target, _ descriptor: Int32, _ resumption: Resumption) {
        (self.destination, self.target, self.resumption) = (destination, target, resumption)
        (path, state) = (resumption.path, Locked(State(descriptor: descriptor)))
    }

    deinit {
        if resumption == nil, !state.withLock(\.isMoved) { unlink(path) }
        close()
    }

    // MARK: - Closing

    /// Closes the file: at once, or at the end of another thread's running call. Later calls fail.
    package func release() {
        resumption?.expectLastWrite()
        let isInUse = state.withLock { state in
            state.isReleased = true
            return state.isInUse
        }
        if !isInUse { close() }
    }

    private func close() {
        guard let descriptor = state.withLock({ $0.descriptor.take() }) else { return }
        resumption?.willClose(descriptor)
        _ = Foundation.close(descriptor)
        resumption?.didClose()
    }

    private func withDescriptor<Result>(_ body: (Int32) throws -> Result) throws -> Result {
        let descriptor = state.withLock { state in
            let descriptor = state.isReleased ? nil : state.descriptor
            state.isInUse = descriptor != nil
            return descriptor
        }
        guard let descriptor else { throw URLError(.cancelled) }
        defer {
            let isReleased = state.withLock { state in
                state.isInUse = false
                return state.isReleased
            }
            if isReleased { close() }
        }
        return try body(descriptor)
    }

    // MARK: - Writing

    /// Prepares a resumable file for the body of `response`: to continue, or to start over.
    ///
    /// - Returns: The number of existing bytes, and the whole length: `nil` if the bytes do not stay.
    /// - Throws: ``UnexpectedRange`` for another part than the missing one.
    func begin(_ response: HTTPURLResponse) throws -> (count: Int64, length: Int64?) {
        try withDescriptor { try resumption?.begin(response, in: $0) ?? (0, nil) }
    }

    /// Drops a resumable file's bytes.
    package func discard() throws { try withDescriptor { try resumption?.discard($0) } }

    func append(_ chunk: Data) throws {
        try withDescriptor { descriptor in
            var rest = chunk[...]
            while !rest.isEmpty {
                let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
                guard count >= 0 || errno == EINTR else { throw CocoaError.writing(destination, errno) }
                rest = rest.dropFirst(max(count, 0))
                resumption?.didAppend(max(count, 0))
            }
            try resumption?.synchronizeIfDue(descriptor)
        }
    }

    /// Closes the whole file. A resumable file is closed after the move, so that nobody else writes to it before.
    ///
    /// - Parameter isDurable: Whether to wait until the file reaches the disk before the move. Otherwise the destination may be empty after
    ///   a power failure. This is also where a network file system may report a full disk.
    func finish(isDurable: Bool = true) throws {
        defer { if resumption == nil { close() } }
        try withDescriptor { descriptor in
            try resumption?.checkLength()
            if isDurable { _ = try resumption?.synchronize(descriptor) ?? Self.synchronize(descriptor, destination) }
        }
    }

    /// Waits until the bytes reach the disk. Returns `false` if the file system cannot do that.
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
        guard let resumption else { return try move() }
        if state.withLock(\.isMoved) { return }
        try withDescriptor { descriptor in
            try resumption.checkPlace(descriptor)
            try move()
            // Only now, because the next attempt must be able to open an unmoved file.
            if let mode = target.mode { fchmod(descriptor, mode) }
            try? resumption.removeNotes()
        }
        close()
    }

    private func move() throws {
        try state.withLock { state in
            if state.isMoved { return }
            // By now, something else may be there.
            _ = try Target.mode(of: target.path, for: destination)
            guard rename(path, target.path) == 0 else { throw CocoaError.writing(destination, errno) }
            state.isMoved = true
        }
    }

    /// Atomically replaces the contents of `destination` with `data`. A new file gets `mode`.
    ///
    /// - Parameters:
    ///   - name: The hidden name; `nil` means a unique name.
    ///   - isDurable: Whether the file is complete even after a power failure.
    package static func replace(
        _ destination: URL, with data: Data, mode: mode_t = 0o666, name: String? = nil, isDurable: Bool = true
    ) throws {
        let file = try PartialFile(beside: destination, mode: mode, name: name)
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

        var folder: String { (path as NSString).deletingLastPathComponent }

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
            mode = try Self.mode(of: path, for: destination)
            guard mode == nil else { return }
            guard stat(folder, &status) == 0, status.st_mode & S_IFMT == S_IFDIR else { throw CocoaError.writing(destination, ENOENT) }
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

    static func writing(_ file: URL, _ code: CocoaError.Code, _ reason: String) -> CocoaError {
        let place = file.isFileURL ? file.path : file.redacted
        let message = "the file cannot be written to \(place): \(reason)."
        return CocoaError(code, userInfo: [NSLocalizedDescriptionKey: message, NSFilePathErrorKey: place])
    }
}
