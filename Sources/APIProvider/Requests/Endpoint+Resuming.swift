public import Foundation

extension Endpoint where Response == URL {
    /// Keeps the bytes of a download that does not succeed. The same request then goes on where it stopped, also in another process.
    ///
    /// ```swift
    /// Endpoint(.get, "/videos/\(id)", downloadingTo: file).resuming()
    /// ```
    ///
    /// The bytes are kept after a failure, a dispose and the end of the process, in a hidden file beside the destination. On success, nothing
    /// but the destination is left. Two versions of a file are never mixed: if the file has changed on the server, it is loaded anew.
    ///
    /// ### When it goes on
    ///
    /// The first response must have a strong `ETag`, a `Content-Length`, and no `Content-Encoding`, and the file system must be able to lock
    /// files. Otherwise, this is an ordinary download. The URL of the endpoint must be the same each time. If the links to a file are signed
    /// anew for each download, request a URL that redirects to them.
    ///
    /// The request is a GET without a body. It sets `Range`, `If-Range` and `Accept-Encoding` itself, so it is invalid with one of these of
    /// your own. With the head of the response, the progress begins at the number of bytes that are there already. The response that
    /// ``validating(_:)`` gets then has the status 206.
    ///
    /// ### One at a time
    ///
    /// While one request downloads to a destination, another resuming one is invalid, and fails at once, also in another process.
    ///
    /// ### What stays
    ///
    /// The hidden file may become as large as the whole, and survives a sign-out. ``removePartialDownload(for:)`` removes it. Do not use a
    /// folder that a cloud synchronizes. After a power failure, up to 16 MB are loaded again.
    public func resuming() -> Endpoint {
        var copy = self
        copy.configuration.isResuming = true
        return copy
    }

    /// Removes the bytes that ``resuming()`` has kept for `destination`, if there are any. The destination itself stays.
    ///
    /// - Throws: `CocoaError`, if the bytes cannot be removed, or a download to `destination` is going on.
    public static func removePartialDownload(for destination: URL) throws {
        let file = try PartialFile.resumable(destination, destination)
        defer { file?.release() }
        try file?.discard()
    }
}
