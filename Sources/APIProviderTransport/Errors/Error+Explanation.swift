import Foundation

extension Error {
    /// The error's own words for a developer's description.
    package var explanation: String {
        if case EncodingError.invalidValue(_, let context)? = self as? EncodingError {
            let place = context.codingPath.isEmpty ? "" : " at \(context.codingPath.text)"
            return place.isEmpty ? context.debugDescription : context.debugDescription.withoutFullStop + place
        }
        if let error = self as? CocoaError {
            // On Linux, a file error's description is only "the operation could not be completed". On Apple's systems, the description is
            // localized.
            let cause = (error.userInfo[NSUnderlyingErrorKey] as? any Error).map { $0 as NSError }
            guard let cause, cause.domain == NSPOSIXErrorDomain else { return error.localizedDescription }
            return String(cString: strerror(Int32(cause.code)))
        }
        // The error's words for users are in `errorDescription`.
        if let error = self as? any LocalizedError & CustomStringConvertible { return error.description }
        if let text = (self as? any LocalizedError)?.errorDescription { return text }
        return type(of: self) is NSError.Type ? localizedDescription : "\(self)"
    }
}
