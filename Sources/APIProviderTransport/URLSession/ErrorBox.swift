import Foundation

extension Error {
    /// The error for a `URLProtocolClient`. After the `URLSession`, ``unpackedFromSession`` recovers this error.
    ///
    /// On Apple's systems, a session delivers a copy: an `NSError` with the same domain, code and `userInfo`. So the `userInfo` contains
    /// the description and this error itself. A `URLError`'s copy needs neither.
    package var bridgedThroughSession: any Error {
        guard !(self is URLError) else { return self }
        let error = self as NSError
        var userInfo = error.userInfo
        userInfo[NSLocalizedDescriptionKey] = (self as? any LocalizedError)?.errorDescription ?? explanation
        userInfo[ErrorBox.key] = ErrorBox(error: self)
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    /// The error inside ``bridgedThroughSession``, or this one.
    var unpackedFromSession: any Error { ((self as NSError).userInfo[ErrorBox.key] as? ErrorBox)?.error ?? self }
}

/// A class instance stays unchanged in a `userInfo`. An error value may become an `NSError`.
private final class ErrorBox: Sendable {
    static let key = "APIProvider.ErrorBox"
    let error: any Error

    init(error: any Error) { self.error = error }
}
