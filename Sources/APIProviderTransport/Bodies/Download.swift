package import Foundation
package import MiniRx

/// A request's download: passes on whether a file has come, because a middleware may replace the response, and ends the attempts.
package final class Download: Sendable {
    private struct State {
        var hasFile = false
        /// The last attempt's right to its folder, and the locked folder, until the request's end.
        var claim: Claim?
        var kept: KeptFolder?
        var isEnded = false
    }

    /// The URL of an endpoint that keeps a failed download's bytes; otherwise `nil`.
    package let resumableURL: URL?
    private let state = Locked(State())

    package init(resumableURL: URL? = nil) { self.resumableURL = resumableURL }

    /// Whether the transport has a file for the latest response.
    package var hasFile: Bool {
        get { state.withLock(\.hasFile) }
        set { state.withLock { $0.hasFile = newValue } }
    }

    // MARK: - Bytes that stay

    var kept: KeptFolder? { state.withLock(\.kept) }

    /// Begins another attempt. The event has the header fields of a request for the rest; `nil` without earlier bytes.
    ///
    /// Waits for the last write of an ended attempt in this process. Fails with the reason, such as another download to the same file.
    func beginAttempt(_ destination: URL, _ endpoint: URL) -> Single<HTTPHeaders?> {
        endAttempt(inBackground: false)
        return .create { [self] observer in
            do { open(try Claim(to: destination), endpoint, observer) } catch { observer(.failure(error)) }
            return Disposables.create()
        }
    }

    private func open(_ claim: Claim, _ endpoint: URL, _ observer: @escaping Single<HTTPHeaders?>.SingleObserver) {
        do {
            try adopt(claim)
            if let other = try APIError.explainingDestination(claim.take) {
                return other.notify(queue: .global()) { [self] in open(claim, endpoint, observer) }
            }
            let folder = try APIError.explainingDestination { try KeptFolder.open(claim, endpoint: endpoint) }
            let rest = folder?.openRest()
            try adopt(claim, folder)
            observer(.success(rest))
        } catch {
            observer(.failure(error))
        }
    }

    private func adopt(_ claim: Claim, _ kept: KeptFolder? = nil) throws {
        let isEnded = state.withLock { state in
            (state.claim, state.kept) = (claim, kept)
            return state.isEnded
        }
        guard isEnded else { return }
        // The request was disposed meanwhile.
        endAttempt(inBackground: true)
        throw URLError(.cancelled)
    }

    /// The request succeeded: nothing needs to stay.
    package func accept() { kept?.accept() }

    /// Ends the request. Unless accepted, the bytes stay for another one.
    ///
    /// - Parameter isDisposed: Whether the caller must not wait for the disk.
    package func end(isDisposed: Bool) {
        state.withLock { $0.isEnded = true }
        endAttempt(inBackground: isDisposed)
    }

    private func endAttempt(inBackground: Bool) {
        let (claim, kept) = state.withLock { ($0.claim.take(), $0.kept.take()) }
        claim?.end()
        kept?.end(inBackground: inBackground)
    }
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
