import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The state of a ``PartialFile`` that stays if the download fails.
///
/// The notes beside the file are removed before the bytes, and written before the first new byte. Without notes, bytes are useless.
package final class Resumption: Sendable {
    private struct State {
        /// `nil` if the bytes do not stay.
        var notes: DownloadNotes?
        /// The number of bytes in the file.
        var count: Int64
        /// The number of bytes at the next synchronization.
        var nextSynchronization = Int64.max
    }

    /// The number of existing bytes, which need not be sent again. At most the length less one: a whole file costs one byte, and an empty
    /// range is never requested.
    package let offset: Int64
    /// The bytes' entity tag; `nil` without bytes.
    package var eTag: String? { offset > 0 ? state.withLock(\.notes)?.eTag : nil }
    let path: String
    private let notesPath: String
    private let destination: URL
    /// A hash of the endpoint's URL.
    private let endpoint: String
    private let state: Locked<State>
    private let lastWrite = DispatchGroup()

    /// - Parameters:
    ///   - path: The file's path.
    ///   - destination: The file named by errors.
    ///   - count: The number of bytes in the file.
    ///   - endpoint: The endpoint's URL.
    init(_ path: String, for destination: URL, count: Int64, endpoint: URL) {
        (self.path, notesPath, self.destination) = (path, Self.notesPath(of: path), destination)
        self.endpoint = endpoint.absoluteString.fileNameHash
        unlink(notesPath + DownloadNotes.newSuffix)
        let notes = DownloadNotes(contentsOf: notesPath)
        state = Locked(State(notes: notes, count: count))
        if let notes, notes.endpoint == self.endpoint, count <= notes.length {
            let isSameBoot = notes.boot != nil && notes.boot == DownloadNotes.currentBoot
            offset = max(min(isSameBoot ? count : min(count, notes.synchronized), notes.length - 1), 0)
        } else {
            offset = 0
        }
        lastWrite.enter()
        Self.writers.withLock { $0[path] = (lastWrite, false) }
    }

    // MARK: - A response

    /// Prepares the file for a response's body. Returns the number of existing bytes, and the whole length.
    func begin(_ response: HTTPURLResponse, in descriptor: Int32) throws -> (count: Int64, length: Int64?) {
        guard response.statusCode == 206 else {
            try discard(descriptor)
            let notes = DownloadNotes(response, endpoint: endpoint)
            return try begin(notes, at: 0, in: descriptor)
        }
        guard var notes = state.withLock(\.notes), notes.areContinued(by: response, from: offset) else { throw UnexpectedRange() }
        guard ftruncate(descriptor, off_t(offset)) == 0 else { throw CocoaError.writing(destination, errno) }
        (notes.synchronized, notes.boot) = (max(min(notes.synchronized, offset), 0), DownloadNotes.currentBoot)
        return try begin(notes, at: offset, in: descriptor)
    }

    private func begin(_ notes: DownloadNotes?, at count: Int64, in descriptor: Int32) throws -> (Int64, Int64?) {
        // Counted from the synchronized bytes, because each of many short attempts may end within the interval.
        let next = notes.map { $0.synchronized + Self.interval }
        state.withLock { $0 = State(notes: notes, count: count, nextSynchronization: next ?? .max) }
        try writeNotes(descriptor)
        return (count, notes?.length)
    }

    /// Drops the notes, and then the bytes. If the notes cannot be removed, the bytes stay, so that those notes never describe other bytes.
    func discard(_ descriptor: Int32) throws {
        try removeNotes()
        guard ftruncate(descriptor, 0) == 0 else { throw CocoaError.writing(destination, errno) }
        state.withLock { $0.count = 0 }
    }

    // MARK: - The bytes

    func didAppend(_ count: Int) { state.withLock { $0.count += Int64(count) } }

    /// Throws if bytes are missing: a server may send only part of the rest.
    func checkLength() throws {
        guard state.withLock({ $0.count == $0.notes?.length ?? $0.count }) else { throw URLError(.networkConnectionLost) }
    }

    /// Throws if the file was moved, removed or changed: without a name, the lock keeps no other download away.
    func checkPlace(_ descriptor: Int32) throws {
        guard let status = PartialFile.status(of: descriptor, at: path), Int64(status.st_size) == state.withLock(\.count) else {
            throw CocoaError.writing(destination, .fileNoSuchFile, "its partial file is no longer there")
        }
    }

    /// The number of bytes between synchronizations: at most these are lost in a power failure.
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

    /// After a failure, some bytes are lost, and nobody knows which.
    func synchronize(_ descriptor: Int32) throws -> Bool {
        do { return try PartialFile.synchronize(descriptor, destination) } catch {
            // Even if the notes cannot be removed.
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
        // A power failure must not bring the notes back beside other bytes.
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    // MARK: - The end

    /// Lets an unmoved file be removed at the end. Another thread may still be writing.
    func removeAtEnd() { state.withLock { $0.notes = nil } }

    /// This process's open files. A released file may still be written.
    private static let writers = Locked<[String: (lastWrite: DispatchGroup, isReleased: Bool)]>([:])

    func expectLastWrite() { Self.writers.withLock { if $0[path]?.lastWrite === lastWrite { $0[path]?.isReleased = true } } }

    static func waitForLastWrite(of path: String) {
        let writer = writers.withLock { $0[path] }
        if let writer, writer.isReleased { writer.lastWrite.wait() }
    }

    /// Removes the file unless it stays, and unlocks.
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

/// The response has another part than the requested range, or part of another version.
package struct UnexpectedRange: Error {}
