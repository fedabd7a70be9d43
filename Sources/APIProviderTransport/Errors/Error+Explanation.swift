import Foundation

extension [any CodingKey] {
    /// `items[3].owner.login`. A key of a dictionary is hidden as a word is. The name of a property, which stands in the code, is not.
    func text(by redactor: Redactor) -> String {
        guard !isEmpty else { return "the top level" }
        return reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                let key = Mirror(reflecting: key).isEnumCase ? key.stringValue : redactor.message(key.stringValue)
                text += text.isEmpty ? key : ".\(key)"
            }
        }
    }
}

extension Mirror {
    /// Whether the value is a case of an enumeration without a value of its own.
    fileprivate var isEnumCase: Bool { displayStyle == .enum && children.isEmpty }
}

extension Error {
    /// The error's own words for a developer, for use in a description.
    package var explanation: String {
        if case EncodingError.invalidValue(_, let context)? = self as? EncodingError {
            let place = context.codingPath.isEmpty ? "" : " at \(context.codingPath.text(by: Redactor()))"
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

    /// Whether this library or a mock has written the description, so that it needs no redaction.
    var isSafeToShow: Bool { (self as NSError).userInfo[NSError.isSafeToShowKey] as? Bool == true }
}

extension NSError {
    /// The key in `userInfo` that says that the description shows no secret, and needs no redaction.
    package static let isSafeToShowKey = "APIProvider.isSafeToShow"
}

extension String {
    /// The text with a space for each control character, line separator and paragraph separator.
    package var onOneLine: String {
        let unwanted: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
        return String(map { $0.unicodeScalars.contains { unwanted.contains($0.properties.generalCategory) } ? " " : $0 })
    }

    var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }
}
