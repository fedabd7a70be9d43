package import Foundation

/// A file that is written beside its destination and takes the destination's place when it is whole.
///
/// It may be removed from any thread while another one writes.
package final class PartialFile: Sendable {
    private let destination: URL
    private let url: URL
    private let descriptor: Int32

    /// Creates the file, under a hidden name of its own.
    init(beside destination: URL) throws {
        try Self.check(destination)
        self.destination = destination
        url = destination.deletingLastPathComponent().appendingPathComponent(".\(UUID().uuidString).download")
        descriptor = open(url.path, O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, 0o666)
        guard descriptor >= 0 else { throw CocoaError.writing(destination, errno) }
    }

    /// Throws if no file can be written to `destination`, as far as that can be known before.
    static func check(_ destination: URL) throws {
        guard destination.isFileURL else { throw CocoaError.writing(destination, ENOTSUP) }
        var isFolder: ObjCBool = false
        if FileManager.default.fileExists(atPath: destination.path, isDirectory: &isFolder), isFolder.boolValue {
            throw CocoaError.writing(destination, EISDIR)
        }
        let folder = destination.deletingLastPathComponent().path
        guard FileManager.default.fileExists(atPath: folder, isDirectory: &isFolder), isFolder.boolValue else {
            throw CocoaError.writing(destination, ENOENT)
        }
    }

    deinit { if descriptor >= 0 { close(descriptor) } }

    func append(_ chunk: Data) throws {
        var rest = chunk[...]
        while !rest.isEmpty {
            let count = rest.withUnsafeBytes { write(descriptor, $0.baseAddress, $0.count) }
            guard count >= 0 || errno == EINTR else { throw CocoaError.writing(destination, errno) }
            rest = rest.dropFirst(max(count, 0))
        }
    }

    func moveToDestination() throws {
        // A network's file system may say no earlier than at a `close` that the disk is full.
        let copy = dup(descriptor)
        guard copy < 0 || close(copy) == 0, rename(url.path, destination.path) == 0 else { throw CocoaError.writing(destination, errno) }
    }

    func remove() { unlink(url.path) }

    /// Puts `data` in the place of `destination`, which is whole at every moment.
    package static func replace(_ destination: URL, with data: Data) throws {
        let file = try PartialFile(beside: destination)
        do {
            try file.append(data)
            try file.moveToDestination()
        } catch {
            file.remove()
            throw error
        }
    }
}

extension CocoaError {
    /// Why `file` cannot be written, by the number of a POSIX error.
    fileprivate static func writing(_ file: URL, _ number: Int32) -> CocoaError {
        let (code, reason): (CocoaError.Code, String) =
            switch number {
            case ENOENT, ENOTDIR: (.fileNoSuchFile, "its folder does not exist")
            case EISDIR: (.fileWriteFileExists, "a folder of that name is there")
            case ENOSPC, EDQUOT: (.fileWriteOutOfSpace, "the disk is full")
            case EACCES, EPERM: (.fileWriteNoPermission, "permission is denied")
            case EROFS: (.fileWriteVolumeReadOnly, "the volume is read-only")
            case ENAMETOOLONG: (.fileWriteInvalidFileName, "the name is too long")
            case ENOTSUP: (.fileWriteUnsupportedScheme, "it is no file URL")
            default: (.fileWriteUnknown, String(cString: strerror(number)))
            }
        let place = file.isFileURL ? file.path : file.redacted
        let sentence = "the file cannot be written to \(place): \(reason)."
        return CocoaError(code, userInfo: [NSLocalizedDescriptionKey: sentence, NSFilePathErrorKey: place])
    }
}
