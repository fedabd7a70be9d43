package import Foundation
package import MiniRx

/// Passes a downloaded file from the transport to the endpoint, because a middleware may replace the response.
package final class Download: Sendable {
    /// The URL of an endpoint that keeps a failed download's bytes; otherwise `nil`.
    package let resumableURL: URL?
    private let file = Locked<PartialFile?>(nil)
    /// The last attempt's resumable file, locked until the request's end.
    private let resumable = Locked<(file: PartialFile?, isEnded: Bool)>((nil, false))

    package init(resumableURL: URL? = nil) { self.resumableURL = resumableURL }

    func receive(_ file: PartialFile) { _ = self.file.withLock { exchange(&$0, with: file) } }

    /// Takes out the latest whole file.
    @discardableResult
    package func takeFile() -> PartialFile? { file.withLock { $0.take() } }

    /// Opens the resumable file for another attempt. Returns `nil` if the file system cannot lock files.
    ///
    /// - Throws: An error with the reason, such as another download to the same file.
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

    /// Removes an unmoved resumable file at the end: the request succeeded without that file.
    package func removeAtEnd() { resumable.withLock(\.file)?.resumption?.removeAtEnd() }

    /// Ends the request: an unmoved file is removed, or stays for another request.
    package func close() {
        resumable.withLock { $0.isEnded = true }
        releaseFiles()
    }

    private func releaseFiles() {
        takeFile()
        resumable.withLock { $0.file.take() }?.release()
    }
}

extension Single {
    /// Calls `cleanUp` before delivering the event, and again on dispose.
    package func finally(_ cleanUp: @escaping @Sendable () -> Void) -> Single {
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
