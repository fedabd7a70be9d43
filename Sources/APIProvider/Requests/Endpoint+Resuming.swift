public import Foundation

extension Endpoint where Response == URL {
    /// Keeps an unfinished download's bytes. The same request then continues where the download stopped, even in another process.
    ///
    /// ```swift
    /// Endpoint(.get, "/videos/\(id)", downloadingTo: file).resuming()
    /// ```
    ///
    /// The bytes are kept after a failure, a dispose and the process's end, in a hidden file beside the destination. On success, nothing
    /// but the destination is left. Two versions of a file are never mixed: a file changed on the server is loaded again.
    ///
    /// ### When a download continues
    ///
    /// The first response must have a strong `ETag`, a `Content-Length`, and no `Content-Encoding`, and the file system must be able to
    /// lock files. Otherwise, this is an ordinary download. The endpoint's URL must be the same each time. For links that are signed for
    /// each download, request a URL that redirects to them.
    ///
    /// The request is a GET without a body. Do not set `Range`, `If-Range` or `Accept-Encoding`, which are set here: otherwise the request
    /// is invalid. After the response's head, the progress begins at the number of existing bytes. In ``validating(_:)``, the status is
    /// then 206.
    ///
    /// ### One at a time
    ///
    /// While one request downloads to a destination, another resuming one is invalid, and fails at once, even in another process.
    ///
    /// ### What stays
    ///
    /// The hidden file may become as large as the whole, and survives a sign-out. ``removePartialDownload(for:)`` removes that file. Do not
    /// use a folder that a cloud synchronizes. After a power failure, up to 16 MB are loaded again.
    public func resuming() -> Endpoint {
        var copy = self
        copy.configuration.isResuming = true
        return copy
    }

    /// Removes the bytes kept by ``resuming()`` for `destination`, if any. The destination itself stays.
    ///
    /// - Throws: `CocoaError`, if the bytes cannot be removed, or during a download to `destination`.
    public static func removePartialDownload(for destination: URL) throws {
        try KeptFolder.remove(for: destination)
    }
}
