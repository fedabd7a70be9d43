import Foundation

extension Error {
    /// An error that a protocol class reports, so that this one comes out at the other end of a `URLSession`.
    ///
    /// A session of Apple's hands on a copy: an `NSError` with the domain, the code and the `userInfo` alone. So the sentence stands in the
    /// `userInfo`, beside this error itself. A `URLError` is copied well as it is.
    package var carried: any Error {
        guard !(self is URLError) else { return self }
        let error = self as NSError
        var userInfo = error.userInfo
        userInfo[NSLocalizedDescriptionKey] = explanation
        userInfo[CarriedError.key] = CarriedError(error: self)
        return NSError(domain: error.domain, code: error.code, userInfo: userInfo)
    }

    /// The error that ``carried`` was made of, or this one.
    package var uncarried: any Error { ((self as NSError).userInfo[CarriedError.key] as? CarriedError)?.error ?? self }
}

/// An object, which is not turned into something else within a `userInfo`, as an error is.
private final class CarriedError: Sendable {
    static let key = "APIProvider.CarriedError"
    let error: any Error

    init(error: any Error) { self.error = error }
}
