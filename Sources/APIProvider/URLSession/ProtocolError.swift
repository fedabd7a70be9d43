import Foundation

extension Error {
    /// An error that a protocol class reports, so that this one comes out at the other end of a `URLSession`.
    ///
    /// On Apple's systems, a session hands on a copy: an `NSError` with the same domain, code and `userInfo`. So the `userInfo` has the
    /// sentence, and this error itself. A `URLError` is copied well as it is.
    package var packedForSession: any Error {
        guard !(self is URLError) else { return self }
        let error = self as NSError
        var userInfo = error.userInfo
        userInfo[NSLocalizedDescriptionKey] = explanation
        userInfo[PackedError.key] = PackedError(error: self)
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    /// The error that ``packedForSession`` was made of, or this one.
    package var unpackedFromSession: any Error { ((self as NSError).userInfo[PackedError.key] as? PackedError)?.error ?? self }
}

/// An object stays as it is in a `userInfo`. An error may be turned into another one.
private final class PackedError: Sendable {
    static let key = "APIProvider.PackedError"
    let error: any Error

    init(error: any Error) { self.error = error }
}
