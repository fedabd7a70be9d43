package import Foundation
package import MiniRx

/// Hands a download's file over from the transport to the provider: a middleware may replace the response between them.
///
/// A download that goes on also keeps the bytes of failed attempts, in a folder. Each attempt ends the one before.
package final class DownloadHandoff: Sendable {
    private struct State {
        var hasFile = false
        /// The last attempt's folder, locked until the request's end.
        var kept: KeptFolder?
        var isEnded = false
    }

    /// Where a download that goes on comes from and goes to, and the queue that opens and leaves its folder.
    private let resuming: (endpoint: URL, destination: URL, queue: DispatchQueue)?
    private let state = Locked(State())

    /// - Parameter endpoint: The URL of a download that keeps the bytes of a failed request; `nil` for an ordinary one.
    package init(resuming endpoint: URL?, to destination: URL) {
        resuming = endpoint.map { ($0, destination, KeptFolder.queue(for: destination)) }
    }

    /// Whether the transport has a file for the latest response.
    package var hasFile: Bool {
        get { state.withLock(\.hasFile) }
        set { state.withLock { $0.hasFile = newValue } }
    }

    // MARK: - Bytes that stay

    /// Begins another attempt, after the end of an earlier request's. The event has the attempt's folder, or `nil` if its bytes cannot stay,
    /// and the header fields of a request for the rest, or `nil` without earlier bytes. Fails with the reason, such as another download to
    /// the same file.
    ///
    /// Returns `nil` for an ordinary download.
    func beginAttempt() -> Single<(KeptFolder?, HTTPHeaders?)>? {
        guard let (endpoint, destination, queue) = resuming else { return nil }
        return .create { [self] observer in
            // Nothing else runs on this queue, not even a teardown: that may end another request, which waits for the queue.
            queue.async { [self] in
                // A middleware that has a whole file and asks again did not accept the file.
                if hasFile { judge(isAccepted: false) }
                leave()
                let attempt = Result {
                    if state.withLock(\.isEnded) { throw URLError(.cancelled) }
                    let folder = try APIError.wrappingDestinationError { try KeptFolder.open(for: destination, endpoint: endpoint) }
                    state.withLock { $0.kept = folder }
                    return (folder, folder?.openRest())
                }
                DispatchQueue.global().async { observer(attempt) }
            }
            return Disposables.create()
        }
    }

    /// After an accepted response, nothing needs to stay. After a refused one, a whole file does not stay.
    package func judge(isAccepted: Bool) { state.withLock(\.kept)?.judge(isAccepted: isAccepted) }

    /// Each download that goes on holds descriptors from its beginning, and a Mac's app has 256. Dispatch on Linux ends a process without
    /// a free one.
    private static let limiter = RequestLimiter(limit: 32)
    /// The destinations of running and waiting requests, in bytes.
    private static let destinations = Locked<Set<[UInt8]>>([])

    /// Runs the whole request, and then leaves the folder: unless accepted, the bytes stay for another request. A download that goes on may
    /// have to wait for others, but not for one to the same file.
    package func running<Value>(_ request: Single<Value>) -> Single<Value> {
        guard let (_, destination, queue) = resuming else { return request }
        return .deferred { [self] in
            guard Self.destinations.withLock({ $0.insert(Array(destination.path.utf8)).inserted }) else {
                return try APIError.wrappingDestinationError { throw CocoaError.goingOn(destination) }
            }
            return Self.limiter.running { [self] in
                request.finally { [self] isDisposed in
                    state.withLock { $0.isEnded = true }
                    // A dispose waits for no disk.
                    if isDisposed { queue.async { [self] in leave() } } else { queue.sync { leave() } }
                }
            }
            .finally { _ in Self.destinations.withLock { _ = $0.remove(Array(destination.path.utf8)) } }
        }
    }

    /// Throws if no file can be written to `destination`, as far as that is known in advance.
    package static func check(_ destination: URL) throws { try APIError.wrappingDestinationError { try PartialFile.check(destination) } }

    private func leave() { state.withLock { $0.kept.take() }?.leave() }
}
