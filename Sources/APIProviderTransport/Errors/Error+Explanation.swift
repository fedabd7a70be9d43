import Foundation

extension Redactor {
    /// The words of an error of the app, a transport or the system, for a developer.
    func explanation(of error: any Error) -> String {
        switch error {
        case let error as URLError: error.reason.map(redacted) ?? redactedURLs(in: error.localizedDescription)
        case let error as APIError: error.description(redacting: redaction)
        case let error as DecodingError: error.summary()
        case let error as CocoaError: redactedURLs(in: error.explanation)
        default: type(of: error) is NSError.Type ? redactedURLs(in: error.explanation) : redacted(error.explanation)
        }
    }
}

extension Error {
    /// The error's own words for a developer, for use in a description.
    package var explanation: String {
        if case EncodingError.invalidValue(_, let context)? = self as? EncodingError {
            let place = context.codingPath.isEmpty ? "" : " at \(context.codingPath.text())"
            return place.isEmpty ? context.debugDescription : context.debugDescription.withoutFullStop + place
        }
        if let error = self as? CocoaError {
            // On Linux, the description of a file error is only "the operation could not be completed". On Apple's systems, it is
            // localized.
            let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
            guard let cause, cause.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
            return String(cString: strerror(Int32(cause.code)))
        }
        // Such an error has other words for people, in `errorDescription`.
        if let error = self as? any LocalizedError & CustomStringConvertible { return error.description }
        if let text = (self as? any LocalizedError)?.errorDescription { return text }
        return type(of: self) is NSError.Type ? localizedDescription : "\(self)"
    }
}
