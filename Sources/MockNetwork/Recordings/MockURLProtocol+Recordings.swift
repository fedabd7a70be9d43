import APIProvider
public import Foundation

extension MockURLProtocol {
    /// Answers requests from a HAR file, which ``RecordingMiddleware``, a browser or a proxy has written.
    ///
    /// ```swift
    /// let file = try #require(
    ///     Bundle.module.url(forResource: "search", withExtension: "har"))
    /// try MockURLProtocol.replay(har: file)
    /// ```
    ///
    /// Each recorded method and URL becomes an optional stub. A request must have the same items in its query, in any order. A value that
    /// was recorded as `REDACTED` matches any value. Several entries with the same method and URL answer one after the other, and the last
    /// one then answers all further requests. Bodies and headers of requests are not compared. Newer stubs answer before the file, and
    /// older ones after it.
    ///
    /// An entry with the status 0 has no response, and its request fails with a `URLError`. Entries that are not HTTP, such as WebSockets
    /// and `data:` URLs, are ignored. Bodies were decompressed before they were recorded. They have no `Content-Encoding` and their own
    /// `Content-Length`, and arrive at once.
    ///
    /// If an entry cannot be read, or the browser did not save its body, only its request fails, and the error says why and where. Bodies that
    /// Playwright saves in files beside the recording are read from there.
    ///
    /// - Parameters:
    ///   - file: The recording.
    ///   - isForAnyHost: Whether the entries also answer requests to other hosts, schemes and ports, such as those of a staging server. In
    ///     the headers `Link` and `Location`, URLs of the recorded host then become paths, so they lead to the host that was requested.
    /// - Throws: An error with one sentence that names the file, if it is not a HAR file. Then nothing is stubbed.
    public static func replay(har file: URL, forAnyHost isForAnyHost: Bool = false) throws {
        let scope = scope
        for stub in try Stub.replaying(file, forAnyHost: isForAnyHost) { _ = scope.add(stub) }
    }

    /// The requests of the scope and their answers as a HAR 1.2 file without secrets. `nil` if no request has come.
    package static var recording: Data? {
        let requests = scope.contents.withLock(\.answered)
        let entries = requests.compactMap { try? RecordingFile.encoded(HAR.Entry($0.request, $0.answer, started: $0.started)) }
        return requests.isEmpty ? nil : RecordingFile.file(of: entries)
    }
}
