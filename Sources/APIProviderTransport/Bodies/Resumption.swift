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
        /// The number of bytes after the response at most.
        var end = Int64.max
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
        (self.path, notesPath, self.destination) = (path, path + ".notes", destination)
        self.endpoint = endpoint.absoluteString.fileNameHash
        unlink(notesPath + DownloadNotes.newSuffix)
        let notes = DownloadNotes(contentsOf: notesPath)
        state = Locked(State(notes: notes, count: count))
        lastWrite.enter()
        if let notes, notes.endpoint == self.endpoint, count <= notes.length {
            let isOfThisBoot = notes.boot != nil && notes.boot == DownloadNotes.currentBoot
            offset = max(min(isOfThisBoot ? count : min(count, notes.synchronized), notes.length - 1), 0)
        } else {
            offset = 0
        }
    }

    // MARK: - A response

    /// Prepares the file for the body of a response. Returns the number of bytes that are there, and of the whole.
    func begin(_ response: HTTPURLResponse, in descriptor: Int32) throws -> (count: Int64, length: Int64?) {
        guard response.statusCode == 206 else {
            try discard(descriptor)
            let notes = DownloadNotes(response, endpoint: endpoint)
            try notes?.write(to: notesPath)
            return begin(notes, at: 0, end: notes?.length)
        }
        guard var notes = state.withLock(\.notes), let end = notes.end(of: response, from: offset) else { throw UnfitPart() }
        guard ftruncate(descriptor, off_t(offset)) == 0 else { throw CocoaError.writing(destination, errno) }
        if notes.boot != DownloadNotes.currentBoot {
            notes.boot = DownloadNotes.currentBoot
            try notes.write(to: notesPath)
        }
        return begin(notes, at: offset, end: end)
    }

    private func begin(_ notes: DownloadNotes?, at count: Int64, end: Int64?) -> (Int64, Int64?) {
        let next = notes == nil ? .max : count + Self.interval
        state.withLock { $0 = State(notes: notes, count: count, end: end ?? .max, nextSynchronization: next) }
        return (count, notes?.length)
    }

    /// Drops the notes, and then the bytes.
    func discard(_ descriptor: Int32) throws {
        removeNotes()
        guard ftruncate(descriptor, 0) == 0 else { throw CocoaError.writing(destination, errno) }
        state.withLock { $0.count = 0 }
    }

    // MARK: - Its bytes

    /// Throws if the response has more bytes than its head says.
    func willAppend(_ count: Int) throws {
        guard state.withLock({ Int64(count) <= $0.end - $0.count }) else {
            removeNotes()
            throw URLError(.cannotParseResponse, reason: "the response has more bytes than its head says")
        }
    }

    func didAppend(_ count: Int) { state.withLock { $0.count += Int64(count) } }

    /// Throws if bytes are missing: a server may send less than the rest.
    func checkLength() throws {
        guard state.withLock({ $0.count == $0.notes?.length ?? $0.count }) else { throw URLError(.networkConnectionLost) }
    }

    /// The number of bytes after which they are synchronized: that many are lost in a power failure.
    private static let interval: Int64 = 16_777_216

    func synchronizeIfDue(_ descriptor: Int32) throws {
        guard state.withLock({ $0.count >= $0.nextSynchronization }) else { return }
        let isSynchronized = try synchronize(descriptor)
        let notes = state.withLock { state in
            state.nextSynchronization = state.count + Self.interval
            if isSynchronized { state.notes?.synchronized = state.count }
            return isSynchronized ? state.notes : nil
        }
        try notes?.write(to: notesPath)
    }

    /// Bytes that the disk has not taken are lost, and nobody knows which.
    func synchronize(_ descriptor: Int32) throws -> Bool {
        do { return try PartialFile.synchronize(descriptor, destination) } catch {
            removeNotes()
            throw error
        }
    }

    // MARK: - The notes

    func removeNotes() {
        state.withLock { $0.notes = nil }
        guard unlink(notesPath) == 0 else { return }
        // A power failure must not bring them back beside other bytes.
        let folder = open((path as NSString).deletingLastPathComponent, O_RDONLY | O_CLOEXEC)
        if folder >= 0 {
            fsync(folder)
            close(folder)
        }
    }

    // MARK: - The end

    /// The files of this process that were released, and may still be written.
    private static let released = Locked<[String: DispatchGroup]>([:])

    func expectLastWrite() { Self.released.withLock { $0[path] = lastWrite } }

    static func waitForLastWrite(of path: String) { released.withLock { $0[path] }?.wait() }

    /// Removes a file that does not stay, and lets others have it.
    func willClose(_ descriptor: Int32, isMoved: Bool) {
        if !isMoved, state.withLock({ $0.notes == nil || $0.count == 0 }) {
            unlink(notesPath)
            unlink(path)
        }
        flock(descriptor, LOCK_UN)
    }

    /// - Parameter wasOpen: Whether this call has closed the file.
    func didClose(wasOpen: Bool) {
        Self.released.withLock { if $0[path] === lastWrite { $0[path] = nil } }
        if wasOpen { lastWrite.leave() }
    }
}

/// The response to a range has another part than the one that was asked for, or one of another version.
package struct UnfitPart: Error {}
