package import Foundation
import MiniRx

extension PartialFile {
    /// Opens the file left by an earlier download to `destination`, or a new one, and locks the file for all processes.
    ///
    /// Waits for the last write of an ended download in this process.
    ///
    /// - Parameter attempts: How often another download may end between opening and locking. Some network file systems never tell whether
    ///   two files are the same.
    /// - Returns: `nil` if the file system cannot lock files.
    package static func resumable(_ destination: URL, _ endpoint: URL, attempts: Int = 10) throws -> PartialFile? {
        let target = try Target(of: destination)
        let path = target.partialPath
        // The owner must be able to open the file again, whatever the whole file's mode.
        let mode = (target.mode ?? 0o666) | 0o600
        let descriptor = open(path, O_WRONLY | O_APPEND | O_CREAT | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC, mode)
        var isInPlace = false
        defer { if !isInPlace, descriptor >= 0 { close(descriptor) } }
        var opened = stat()
        guard descriptor >= 0, fstat(descriptor, &opened) == 0 else {
            throw [ELOOP, EISDIR, ENXIO].contains(errno) ? foreignFileError(path, destination) : CocoaError.writing(destination, errno)
        }
        // A file without a name was moved or removed after the opening.
        guard opened.isOwnFile || opened.st_nlink == 0 else { throw foreignFileError(path, destination) }
        guard attempts > 0, try lock(descriptor, path, destination) else {
            // An earlier download's bytes stay.
            if opened.st_size == 0, access(Resumption.notesPath(of: path), F_OK) != 0 { unlink(path) }
            return nil
        }
        guard let locked = status(of: descriptor, at: path) else {
            return try resumable(destination, endpoint, attempts: attempts - 1)
        }
        if let mode = target.mode { fchmod(descriptor, mode | 0o600) }
        isInPlace = true
        return PartialFile(
            destination, target, descriptor, Resumption(path, for: destination, count: Int64(locked.st_size), endpoint: endpoint))
    }

    /// Returns `false` if the file system cannot lock files.
    private static func lock(_ descriptor: Int32, _ path: String, _ destination: URL) throws -> Bool {
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        Resumption.waitForLastWrite(of: path)
        if flock(descriptor, LOCK_EX | LOCK_NB) == 0 { return true }
        guard errno == EWOULDBLOCK else { return false }
        throw CocoaError.writing(destination, .fileLocking, "another download to it is going on")
    }

    /// An open file's status; `nil` if the file at `path` was moved or removed.
    static func status(of descriptor: Int32, at path: String) -> stat? {
        var (opened, named) = (stat(), stat())
        guard fstat(descriptor, &opened) == 0, lstat(path, &named) == 0, named.st_ino == opened.st_ino, named.st_dev == opened.st_dev
        else { return nil }
        return opened
    }

    private static func foreignFileError(_ path: String, _ destination: URL) -> CocoaError {
        let name = (path as NSString).lastPathComponent
        return .writing(destination, .fileWriteFileExists, "its partial file \(name) is not a regular file of this user with one name")
    }
}

extension PartialFile.Target {
    /// `.video.mp4.partial` beside `video.mp4`. A name too long for the notes' suffix is cut, and ends in a hash.
    fileprivate var partialPath: String {
        let name = (path as NSString).lastPathComponent
        let longest = 255 - "..partial.notes.new".utf8.count
        let isLong = name.utf8.count > longest
        return "\(folder)/.\(isLong ? name.cut(to: longest - 16) + name.fileNameHash : name).partial"
    }
}
