package import Foundation
package import MiniRx

/// A request's download: tells whether a file has come, because a middleware may replace the response, and keeps the bytes of attempts.
package final class Download: Sendable {
    private struct State {
        var hasFile = false
        /// The last attempt's folder, locked until the request's end.
        var kept: KeptFolder?
        var isEnded = false
    }

    /// Where a download that goes on comes from and goes to, and the queue that opens and leaves its folder.
    private let resuming: (endpoint: URL, destination: URL, queue: DispatchQueue)?
    private let state = Locked(State())

    /// Creates an ordinary download.
    package init() { resuming = nil }

    /// Creates a download that keeps the bytes of a failed request.
    package init(resuming endpoint: URL, to destination: URL) {
        resuming = (endpoint, destination, KeptFolder.queue(for: destination))
    }

    /// Whether the transport has a file for the latest response.
    package var hasFile: Bool {
        get { state.withLock(\.hasFile) }
        set { state.withLock { $0.hasFile = newValue } }
    }

    // MARK: - Bytes that stay

    var kept: KeptFolder? { state.withLock(\.kept) }

    /// Begins another attempt, after the end of an earlier request's. The event has the header fields of a request for the rest, or `nil`
    /// without earlier bytes. Fails with the reason, such as another download to the same file.
    ///
    /// Returns `nil` for an ordinary download.
    func beginAttempt() -> Single<HTTPHeaders?>? {
        guard let (endpoint, destination, queue) = resuming else { return nil }
        return .create { [self] observer in
            queue.async { [self] in
                leave(isRefused: hasFile)
                let rest = Result {
                    if state.withLock(\.isEnded) { throw URLError(.cancelled) }
                    let folder = try APIError.explainingDestination { try KeptFolder.open(for: destination, endpoint: endpoint) }
                    state.withLock { $0.kept = folder }
                    return folder?.openRest()
                }
                DispatchQueue.global().async { observer(rest) }
            }
            return Disposables.create()
        }
    }

    /// The request succeeded: nothing needs to stay.
    package func accept() { kept?.accept() }

    /// Ends the request. Unless accepted, the bytes stay for another one.
    ///
    /// - Parameter isDisposed: Whether the caller must not wait for the disk.
    package func end(isDisposed: Bool) {
        guard let queue = resuming?.queue else { return }
        let isRefused = state.withLock { state in
            state.isEnded = true
            return state.hasFile
        }
        if isDisposed { queue.async { [self] in leave(isRefused: isRefused) } } else { queue.sync { leave(isRefused: isRefused) } }
    }

    private func leave(isRefused: Bool) { state.withLock { $0.kept.take() }?.leave(isRefused: isRefused) }
}

extension Single {
    /// Calls `cleanUp` before delivering the event, and again on dispose.
    package func finally(_ cleanUp: @escaping @Sendable (_ isDisposed: Bool) -> Void) -> Single {
        .create { observer in
            let subscription = subscribe { event in
                cleanUp(false)
                observer(event)
            }
            return Disposables.create {
                subscription.dispose()
                cleanUp(true)
            }
        }
    }
}
