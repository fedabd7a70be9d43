package import Foundation
package import MiniRx

/// Keeps the file of a download on its way from the transport to the endpoint, because a middleware may make the response anew.
package final class Download: Sendable {
    /// The URL of an endpoint whose bytes stay if the download fails; otherwise `nil`.
    package let resumableURL: URL?
    private let file = Locked<PartialFile?>(nil)
    /// The resumable file of the last attempt, which is locked until the end of the request.
    private let resumable = Locked<(file: PartialFile?, isEnded: Bool)>((nil, false))

    package init(resumableURL: URL? = nil) { self.resumableURL = resumableURL }

    func receive(_ file: PartialFile) { _ = self.file.withLock { exchange(&$0, with: file) } }

    /// Returns the whole file that has come last, and keeps it no longer.
    @discardableResult
    package func take() -> PartialFile? { file.withLock { $0.take() } }

    /// Opens the resumable file for another attempt. Returns `nil` if the file system cannot lock files.
    ///
    /// - Throws: An error that says why the file cannot be written, such as that another download writes it.
    package func openResumable(_ destination: URL, _ url: URL) throws -> PartialFile? {
        releaseFiles()
        let file = try PartialFile.resumable(destination, url)
        let isEnded = resumable.withLock { resumable in
            resumable.file = file
            return resumable.isEnded
        }
        guard !isEnded else {
            // The request was disposed meanwhile.
            releaseFiles()
            throw URLError(.cancelled)
        }
        return file
    }

    /// Removes a resumable file at its end, if it was not moved: the request has succeeded without it.
    package func removeAtEnd() { resumable.withLock(\.file)?.resumption?.removeAtEnd() }

    /// Ends the request: a file that was not moved is removed, or stays for another request.
    package func close() {
        resumable.withLock { $0.isEnded = true }
        releaseFiles()
    }

    private func releaseFiles() {
        take()
        resumable.withLock { $0.file.take() }?.release()
    }
}

extension Single {
    /// Calls `cleanUp` before the event is delivered, and again when the single is disposed.
    package func cleaningUp(_ cleanUp: @escaping @Sendable () -> Void) -> Single {
        .create { observer in
            let subscription = subscribe { event in
                cleanUp()
                observer(event)
            }
            return Disposables.create {
                subscription.dispose()
                cleanUp()
            }
        }
    }
}
