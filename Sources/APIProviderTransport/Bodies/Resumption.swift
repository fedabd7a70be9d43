import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is known of the bytes of a ``PartialFile`` that stays if the download fails.
///
/// The notes beside the file go before the bytes do, and come before the first new byte. Without notes, bytes are worth nothing.
package final class Resumption: Sendable {
    private struct State {
        /// `nil` if the bytes do not stay.
        var notes: DownloadNotes?
        /// The number of bytes in the file.
        var count: Int64
        /// The number of bytes at which they are synchronized again.
        var nextSynchronization = Int64.max
    }

    /// The number of bytes that are already there and need not be sent again. At most the length less one, so that a whole file costs one
    /// byte, and a range that does not exist is never asked for.
    package let offset: Int64
    /// The entity tag of these bytes; `nil` if there are none.
    package var eTag: String? { offset > 0 ? state.withLock(\.notes)?.eTag : nil }
    let path: String
    private let notesPath: String
    private let destination: URL
    /// Stands for the URL of the endpoint.
    private let endpoint: String
    private let state: Locked<State>
    private let lastWrite = DispatchGroup()

    /// - Parameters:
    ///   - path: The path of the file.
    ///   - destination: The file that errors name.
    ///   - count: The number of bytes in the file.
    ///   - endpoint: The URL of the endpoint.
    init(_ path: String, for destination: URL, count: Int64, endpoint: URL) {
        (self.path, notesPath, self.destination) = (path, Self.notesPath(of: path), destination)
        self.endpoint = endpoint.absoluteString.fileNameHash
        unlink(notesPath + DownloadNotes.newSuffix)
        let notes = DownloadNotes(contentsOf: notesPath)
        state = Locked(State(notes: notes, count: count))
        if let notes, notes.endpoint == self.endpoint, count <= notes.length {
            let isOfThisBoot = notes.boot != nil && notes.boot == DownloadNotes.currentBoot
            offset = max(min(isOfThisBoot ? count : min(count, notes.synchronized), notes.length - 1), 0)
        } else {
            offset = 0
        }
        lastWrite.enter()
        Self.writers.withLock { $0[path] = (lastWrite, false) }
    }

    // MARK: - A response

    /// Prepares the file for the body of a response. Returns the number of bytes that are there, and of the whole.
    func begin(_ response: HTTPURLResponse, in descriptor: Int32) throws -> (count: Int64, length: Int64?) {
        guard response.statusCode == 206 else {
            try discard(descriptor)
            let notes = DownloadNotes(response, endpoint: endpoint)
            return try begin(notes, at: 0, in: descriptor)
        }
        guard var notes = state.withLock(\.notes), notes.areContinued(by: response, from: offset) else { throw UnfitPart() }
        guard ftruncate(descriptor, off_t(offset)) == 0 else { throw CocoaError.writing(destination, errno) }
        (notes.synchronized, notes.boot) = (max(min(notes.synchronized, offset), 0), DownloadNotes.currentBoot)
        return try begin(notes, at: offset, in: descriptor)
    }

    private func begin(_ notes: DownloadNotes?, at count: Int64, in descriptor: Int32) throws -> (Int64, Int64?) {
        // From what is synchronized, and not from here: each of many short attempts may end before the interval does.
        let next = notes.map { $0.synchronized + Self.interval }
        state.withLock { $0 = State(notes: notes, count: count, nextSynchronization: next ?? .max) }
        try writeNotes(descriptor)
        return (count, notes?.length)
    }

    /// Drops the notes, and then the bytes. If the notes cannot go, the bytes stay, so that no others come under the same notes.
    func discard(_ descriptor: Int32) throws {
        try removeNotes()
        guard ftruncate(descriptor, 0) == 0 else { throw CocoaError.writing(destination, errno) }
        state.withLock { $0.count = 0 }
    }

    // MARK: - Its bytes

    func didAppend(_ count: Int) { state.withLock { $0.count += Int64(count) } }

    /// Throws if bytes are missing: a server may send less than the rest.
    func checkLength() throws {
        guard state.withLock({ $0.count == $0.notes?.length ?? $0.count }) else { throw URLError(.networkConnectionLost) }
    }

    /// Throws if the file is no longer under its name, with its bytes: without a name, it does not keep another download away.
    func checkPlace(_ descriptor: Int32) throws {
        guard let status = PartialFile.status(of: descriptor, at: path), Int64(status.st_size) == state.withLock(\.count) else {
            throw CocoaError.writing(destination, .fileNoSuchFile, "its partial file is no longer there")
        }
    }

    /// The number of bytes after which they are synchronized: that many are lost in a power failure.
    private static let interval: Int64 = 16_777_216

    func synchronizeIfDue(_ descriptor: Int32) throws {
        guard state.withLock({ $0.count >= $0.nextSynchronization }) else { return }
        let isSynchronized = try synchronize(descriptor)
        state.withLock { state in
            state.nextSynchronization = state.count + Self.interval
            if isSynchronized { state.notes?.synchronized = state.count }
        }
        if isSynchronized { try writeNotes(descriptor) }
    }

    /// Bytes that the disk has not taken are lost, and nobody knows which.
    func synchronize(_ descriptor: Int32) throws -> Bool {
        do { return try PartialFile.synchronize(descriptor, destination) } catch {
            // Also where the notes cannot go.
            ftruncate(descriptor, 0)
            try? removeNotes()
            throw error
        }
    }

    // MARK: - The notes

    static func notesPath(of path: String) -> String { path + ".notes" }

    private func writeNotes(_ descriptor: Int32) throws {
        try checkPlace(descriptor)
        try state.withLock(\.notes)?.write(to: notesPath)
    }

    func removeNotes() throws {
        let isRemoved = unlink(notesPath) == 0
        guard isRemoved || errno == ENOENT else { throw CocoaError.writing(destination, errno) }
        state.withLock { $0.notes = nil }
        guard isRemoved else { return }
        // A power failure must not bring them back beside other bytes.
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    // MARK: - The end

    /// The file does not stay if it is not moved. Another thread may still write it.
    func removeAtEnd() { state.withLock { $0.notes = nil } }

    /// The files of this process that are open. A released one may still be written.
    private static let writers = Locked<[String: (lastWrite: DispatchGroup, isReleased: Bool)]>([:])

    func expectLastWrite() { Self.writers.withLock { if $0[path]?.lastWrite === lastWrite { $0[path]?.isReleased = true } } }

    static func waitForLastWrite(of path: String) {
        let writer = writers.withLock { $0[path] }
        if let writer, writer.isReleased { writer.lastWrite.wait() }
    }

    /// Removes a file that does not stay, and lets others have it.
    func willClose(_ descriptor: Int32) {
        if state.withLock({ $0.notes == nil || $0.count == 0 }), PartialFile.status(of: descriptor, at: path) != nil {
            unlink(notesPath)
            unlink(path)
        }
        flock(descriptor, LOCK_UN)
    }

    func didClose() {
        Self.writers.withLock { if $0[path]?.lastWrite === lastWrite { $0[path] = nil } }
        lastWrite.leave()
    }
}

/// The response to a range has another part than the one that was asked for, or one of another version.
package struct UnfitPart: Error {}
