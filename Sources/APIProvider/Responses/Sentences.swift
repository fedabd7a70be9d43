package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// `404 Not Found`
    var statusLine: String {
        HTTPStatus.reasons[statusCode].map { "\(statusCode) \($0)" } ?? "\(statusCode)"
    }

    /// `the body is not SearchResponse: expected String at items[3].name, found null (application/json, 812 bytes).`
    func mismatch(with expected: String, _ error: any Error, by redactor: Redactor) -> String {
        let type = value(forHTTPHeaderField: "Content-Type")?.split(separator: ";").first.map {
            "\($0.trimmingCharacters(in: .whitespaces).cut(to: 100)), "
        }
        // A stream is refused before any of it is read.
        if unreadStream != nil { return "its Content-Type is \(type?.dropLast(2) ?? "missing"), and not that of \(expected)." }
        let size = "(\(type ?? "")\(data.count) bytes)"
        guard !data.isEmpty else { return "\(part) is empty where \(expected) was expected \(size)." }
        guard let error = error as? DecodingError else { return "\(part) is not \(expected): \(redactor.explanation(of: error)) \(size)." }
        let finding = error.finding(in: isReadAsJSON ? data : nil, by: redactor)
        return "\(part) is not \(expected): \(finding.cut(to: 200)) \(size)."
    }
}

extension Redactor {
    /// The beginning of a body on one line of at most 200 bytes; `nil` if it is empty.
    func excerpt(of response: APIResponse, maximum: Int = 200) -> String? {
        guard !response.data.isEmpty else { return nil }
        let type = response.value(forHTTPHeaderField: "Content-Type")
        return body(response.data, contentType: type, isAnswer: true, maximum: maximum).onOneLine.cut(to: maximum)
    }
}

extension DecodingError {
    /// What was expected where, and what `json` has there; `nil` is another format.
    ///
    package func finding(in json: Data?, by redactor: Redactor = Redactor()) -> String {
        switch self {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            let found = json.flatMap { JSONValue(at: context.codingPath, in: $0) }.map { ", found \($0)" }
            return "expected \(name(of: type)) at \(context.codingPath.text)\(found ?? "")"
        case .keyNotFound(let key, let context):
            return "\((context.codingPath + [key]).text) is missing"
        case .dataCorrupted(let context):
            let words = redactor.words(of: context)
            // If the data is not JSON at all, the decoder's error has no path.
            guard context.codingPath.isEmpty else { return "\(words) at \(context.codingPath.text)" }
            guard let json, !(context.underlyingError is CharsetMismatch) else { return words }
            guard (try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)) == nil else {
                // Foundation gives no place for such a number, and says only that the data "was not valid JSON".
                return context.debugDescription.contains("not valid JSON") ? "a number in it does not fit its type" : words
            }
            let start = json.first { ![9, 10, 13, 32].contains($0) }
            if start == UInt8(ascii: "<") { return "expected JSON, found HTML or XML" }
            if String(data: json, encoding: .utf8) == nil { return "it is not UTF-8 text" }
            let detail = (context.underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
            return "it is not valid JSON" + (detail.map { ": \(redactor.message($0.withoutFullStop))" } ?? "")
        @unknown default:
            return "\(self)"
        }
    }

    private func name(of type: Any.Type) -> String {
        let name = "\(type)"
        return name.hasPrefix("Dictionary<") ? "an object" : name.hasPrefix("Array<") ? "an array" : name
    }
}

/// What kind of JSON value stands at a coding path.
private struct JSONValue: CustomStringConvertible {
    let description: String

    /// `nil` where the path leads nowhere, as that of a decoder that converts keys does.
    init?(at path: [any CodingKey], in json: Data) {
        var value = try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
        for key in path {
            if let index = key.intValue, let array = value as? [Any] {
                value = array.indices.contains(index) ? array[index] : nil
            } else {
                value = (value as? [String: Any])?[key.stringValue]
            }
        }
        switch value {
        case nil: return nil
        case is NSNull: description = "null"
        case is String: description = "a string"
        case is [Any]: description = "an array"
        case is [String: Any]: description = "an object"
        case let number as NSNumber where "\(type(of: number))".contains("Boolean"): description = "a boolean"
        default: description = "a number"
        }
    }
}

extension [any CodingKey] {
    /// `items[3].owner.login`
    var text: String {
        guard !isEmpty else { return "the top level" }
        return reduce(into: "") { text, key in
            if let index = key.intValue {
                text += "[\(index)]"
            } else {
                text += text.isEmpty ? key.stringValue : ".\(key.stringValue)"
            }
        }
    }
}

extension Error {
    /// What the error says of itself, for use in a sentence.
    var explanation: String {
        if case EncodingError.invalidValue(_, let context)? = self as? EncodingError {
            return context.codingPath.isEmpty
                ? context.debugDescription : "\(context.debugDescription.withoutFullStop) at \(context.codingPath.text)"
        }
        if let error = self as? CocoaError {
            // Linux says of a file no more than that "the operation could not be completed", and Apple's systems say it in the user's language.
            let reason = error.userInfo[NSUnderlyingErrorKey] as? POSIXError
            return reason.map { String(cString: strerror($0.code.rawValue)) } ?? error.localizedDescription
        }
        if let text = (self as? any LocalizedError)?.errorDescription { return text }
        return type(of: self) is NSError.Type ? localizedDescription : "\(self)"
    }
}

extension Redactor {
    /// Where an error says that its description has been redacted for those who read it.
    package static let isRedactedKey = "APIProvider.isRedacted"

    /// Whether this library, or a mock, has written the words of `error` so that they may be shown as they are.
    static func hasRedacted(_ error: any Error) -> Bool { (error as NSError).userInfo[isRedactedKey] as? Bool == true }

    func explanation(of error: any Error) -> String {
        if Self.hasRedacted(error) { return error.explanation }
        if let error = error as? APIError { return error.sentence(redacting: redaction) }
        if let error = error as? DecodingError { return error.finding(in: nil, by: self) }
        return message(error.explanation)
    }

    /// What a decoder says of a value. Under the name of a secret, the value is not part of it.
    fileprivate func words(of context: DecodingError.Context) -> String {
        let isSecret = context.codingPath.contains { Redaction.isSecret($0.stringValue.utf8) && !redaction.shows($0.stringValue) }
        guard !isSecret else { return "an unexpected value" }
        let words = context.debugDescription.withoutFullStop
        return words.hasPrefix("expected a number ") ? words : message(words)
    }
}

extension String {
    /// The text with a space for whatever could start a line or command a terminal.
    package var onOneLine: String {
        let unwanted: Set<Unicode.GeneralCategory> = [.control, .lineSeparator, .paragraphSeparator]
        return String(map { $0.unicodeScalars.contains { unwanted.contains($0.properties.generalCategory) } ? " " : $0 })
    }

    var withoutFullStop: String { hasSuffix(".") ? String(dropLast()) : self }

    /// At most `maximum` bytes of whole characters, with `…` where some are left out.
    func cut(to maximum: Int) -> String {
        guard utf8.count > maximum else { return self }
        var end = startIndex
        while utf8.distance(from: startIndex, to: index(after: end)) <= maximum - 3 { end = index(after: end) }
        return self[..<end] + "…"
    }
}
