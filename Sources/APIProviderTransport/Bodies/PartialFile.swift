package import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A file that is written next to its destination, and replaces the destination when it is complete. If it has not been moved, it is removed with
/// its last reference, unless its ``Resumption`` keeps it.
///
/// It only replaces a regular file, and keeps its mode. A link to one is followed. A process that is killed leaves it there: it is hidden, and its
/// name ends in `.download`. One thread at a time may write.
package final class PartialFile: Sendable {
    private struct State {
        /// `nil` once it is closed.
        var descriptor: Int32?
        var isMoved = false
        /// Whether a call on the descriptor is going on, which closes the file at its end if it was released meanwhile.
        var isInUse = false
        var isReleased = false
    }

    private let destination: URL
    private let target: Target
    private let path: String
    private let state: Locked<State>
    /// What is known of the bytes of a file that stays if the download fails.
    package let resumption: Resumption?

    /// Creates the file, under a hidden name.
    ///
    /// - Parameters:
    ///   - destination: The file to replace.
    ///   - mode: The permissions of a new file, before the process's umask is applied.
    ///   - name: The hidden name; `nil` is one that no other file has.
    init(beside destination: URL, mode: mode_t = 0o666, name: String? = nil) throws {
        (self.destination, resumption) = (destination, nil)
        target = try Target(of: destination)
        path = "\(target.folder)/\(name ?? ".\(UUID().uuidString).download")"
        let descriptor = open(path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, target.mode ?? mode)
        guard descriptor >= 0 else { throw CocoaError.writing(destination, errno) }
        if let mode = target.mode { fchmod(descriptor, mode) }
        state = Locked(State(descriptor: descriptor))
    }

    /// Throws if no file can be written to `destination`, as far as that can be known before.
    package static func check(_ destination: URL) throws { _ = try Target(of: destination) }

    /// - Parameter descriptor: A file that this process has locked.
    init(_ destination: URL, _ target: Target, _ descriptor: Int32, _ resumption: Resumption) {
        (self.destination, self.target, self.resumption) = (destination, target, resumption)
        (path, state) = (resumption.path, Locked(State(descriptor: descriptor)))
    }

    deinit {
        if resumption == nil, !state.withLock(\.isMoved) { unlink(path) }
        close()
    }

    // MARK: - Closing

    /// Closes the file: at once, or at the end of the call that another thread makes. Later calls fail.
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

    /// Prepares a resumable file for the body of `response`: to go on, or to begin anew.
    ///
    /// - Returns: The number of bytes that are there, and of the whole. The whole is `nil` if the bytes do not stay.
    /// - Throws: ``UnfitPart`` if the response is another part than the one that is missing.
    func begin(_ response: HTTPURLResponse) throws -> (count: Int64, length: Int64?) {
        try withDescriptor { try resumption?.begin(response, in: $0) ?? (0, nil) }
    }

    /// Drops the bytes of a resumable file.
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

    /// Closes the whole file. A resumable one is closed after it was moved, so that nobody else writes it until then.
    ///
    /// - Parameter isDurable: Whether to wait until the file reaches the disk before it is moved. Otherwise the destination may be empty
    ///   after a power failure. This is also the call in which a network file system may report that the disk is full.
    func finish(isDurable: Bool = true) throws {
        defer { if resumption == nil { close() } }
        try withDescriptor { descriptor in
            try resumption?.checkLength()
            if isDurable { _ = try resumption?.synchronize(descriptor) ?? Self.synchronize(descriptor, destination) }
        }
    }

    /// Waits until the bytes reach the disk. Returns `false` if the file system cannot do it.
    static func synchronize(_ descriptor: Int32, _ destination: URL) throws -> Bool {
        #if canImport(Darwin)
        // Apple's `fsync` does not make the drive write. Some file systems have no barrier, and some have no other way, either.
        if fcntl(descriptor, F_BARRIERFSYNC) == 0 || fcntl(descriptor, F_FULLFSYNC) == 0 { return true }
        let reachesDisk = false
        #else
        let reachesDisk = true
        #endif
        while fsync(descriptor) != 0 {
            // Some file systems cannot do it.
            if errno == EINVAL { return false }
            guard errno == EINTR else { throw CocoaError.writing(destination, errno) }
        }
        return reachesDisk
    }

    /// Moves the whole file to its destination, unless that was done before.
    package func moveToDestination() throws {
        guard let resumption else { return try move() }
        if state.withLock(\.isMoved) { return }
        try withDescriptor { descriptor in
            try resumption.checkPlace(descriptor)
            try move()
            // Only now, because the next attempt must be able to open a file that was not moved.
            if let mode = target.mode { fchmod(descriptor, mode) }
            try? resumption.removeNotes()
        }
        close()
    }

    private func move() throws {
        try state.withLock { state in
            if state.isMoved { return }
            // Something else may stand there by now.
            _ = try Target.mode(of: target.path, for: destination)
            guard rename(path, target.path) == 0 else { throw CocoaError.writing(destination, errno) }
            state.isMoved = true
        }
    }

    /// Atomically replaces the contents of `destination` with `data`. A new file gets `mode`.
    ///
    /// - Parameters:
    ///   - name: The hidden name; `nil` is one that no other file has.
    ///   - isDurable: Whether the file is also complete after a power failure.
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
    /// The file that is replaced: the destination after symbolic links are resolved.
    struct Target {
        let path: String
        /// The mode of the old file, if there is one.
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

        /// The mode of a regular file, or `nil` if nothing is there. Throws if something else is there.
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
    /// The error for a `file` that cannot be written, by the number of a POSIX error.
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
