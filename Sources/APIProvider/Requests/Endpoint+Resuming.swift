public import Foundation

extension Endpoint where Response == URL {
    /// Keeps an unfinished download's bytes. The same request then continues where the download stopped, even in another process.
    ///
    /// ```swift
    /// Endpoint(.get, "/videos/\(id)", downloadingTo: file).resuming()
    /// ```
    ///
    /// The bytes are kept after a failure, a dispose and the process's end, in a hidden folder beside the destination. On success, only the
    /// destination is left. Two versions of a file are never mixed: a file changed on the server is loaded again. The old bytes stay
    /// until the new ones break off, or are accepted by ``validating(_:)``. A whole file that ``validating(_:)`` refuses is not kept.
    ///
    /// ### When a download continues
    ///
    /// The first response must have a strong `ETag`, a `Content-Length`, and no `Content-Encoding`, and the file system must be able to
    /// lock folders. Otherwise, this is an ordinary download. The endpoint's URL must be the same each time. For links that are signed for
    /// each download, request a URL that redirects to them.
    ///
    /// The request is a GET without a body. With a `Range`, `If-Range` or `Accept-Encoding` of your own, the request is invalid. After the
    /// response's head, the progress begins at the number of existing bytes. In ``validating(_:)``, the status is then 206.
    ///
    /// ### One at a time
    ///
    /// While one request downloads to a destination, another resuming one is invalid, and fails at once, even in another process. After a
    /// dispose, the next one waits until the disk has the last bytes. In a process, 32 such requests run at once, and others wait, also for
    /// those to other servers. Do not begin one in a middleware of another.
    ///
    /// ### What stays
    ///
    /// The hidden folder may become as large as the whole file, and survives a sign-out and a restart of the system. After a killed process
    /// and a restart, the file is loaded again. ``removePartialDownload(for:)`` removes what is kept. Call it, too, if the process was
    /// killed and an external volume was then removed without being ejected: the last bytes may be missing.
    ///
    /// Do not use a folder that a cloud synchronizes. On Apple's systems, an app that is suspended while it holds a lock in a shared
    /// container may be ended.
    public func resuming() -> Endpoint {
        var copy = self
        copy.configuration.isResuming = true
        return copy
    }

    /// Removes the bytes kept by ``resuming()`` for `destination`, if any. The destination itself stays.
    ///
    /// This may wait for the disk, so do not call it on the main thread.
    ///
    /// - Throws: `CocoaError`, if the bytes cannot be removed, or during a download to `destination`.
    public static func removePartialDownload(for destination: URL) throws {
        try KeptFolder.remove(for: destination)
    }
}
