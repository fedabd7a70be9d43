import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// `404 Not Found`
    var statusDescription: String {
        HTTPStatus.reasonPhrases[statusCode].map { "\(statusCode) \($0)" } ?? "\(statusCode)"
    }

    /// `the body is not SearchResponse: expected String at items[3].name, found null (application/json, 812 bytes).` If the body is an
    /// error of the server, its message follows.
    func mismatch(with expected: String, _ error: any Error, by redactor: Redactor) -> String {
        // A stream fails to decode before any of it is read.
        if bodyStream != nil {
            let type = value(forHTTPHeaderField: "Content-Type")?.mediaType.cut(to: 100)
            return "its Content-Type is \(type ?? "missing"), and not that of \(expected)."
        }
        let size = redactor.size(of: self)
        guard !data.isEmpty else { return "\(excerptName) is empty where \(expected) was expected \(size)." }
        let summary =
            (error as? DecodingError)?.summary(of: isReadAsJSON ? data : nil, redactedBy: redactor).cut(to: 200)
            ?? redactor.explanation(of: error)
        // The error of a stream may have said it already.
        let ending = redactor.serverMessage(ofError: self).flatMap { summary.contains($0) ? nil : ", and says \"\($0)\"" } ?? ""
        return "\(excerptName) is not \(expected): \(summary) \(size)\(ending)."
    }
}

extension Redactor {
    /// The media type and the size of the body: `(application/json, 812 bytes)`.
    package func size(of response: APIResponse) -> String {
        size(response.data.count, type: response.value(forHTTPHeaderField: "Content-Type"))
    }
}

// MARK: - The error of a decoder

extension DecodingError {
    /// Describes the expected type, the coding path, and the kind of value that `json` has at that path. Pass `nil` if the body is not
    /// JSON.
    func summary(of json: Data?, redactedBy redactor: Redactor) -> String {
        switch self {
        case .typeMismatch(let type, let context), .valueNotFound(let type, let context):
            let found = json.flatMap { JSONFragment(at: context.codingPath, in: $0) }.map { ", found \($0.kind)" }
            return "expected \(name(of: type)) at \(context.codingPath.text(by: redactor))\(found ?? "")"
        case .keyNotFound(let key, let context):
            let missing = "\((context.codingPath + [key]).text(by: redactor)) is missing"
            let other = key.stringValue.snakeCased
            let isThere = json.flatMap { JSONFragment(at: context.codingPath, in: $0) }?.has(other) == true
            guard isThere, other != key.stringValue else { return missing }
            return "\(missing), but \(other) is there: set the decoder's keyDecodingStrategy to .convertFromSnakeCase"
        case .dataCorrupted(let context):
            let message = context.message(in: json, by: redactor)
            // If the data is not JSON at all, the decoder's error has no path.
            guard context.codingPath.isEmpty else { return "\(message) at \(context.codingPath.text(by: redactor))" }
            return json.flatMap { context.isSafeToShow ? nil : context.problem(of: $0, by: redactor) } ?? message
        @unknown default:
            return "\(self)"
        }
    }

    private func name(of type: Any.Type) -> String {
        let name = nameInSource(of: type)
        return name.hasPrefix("Dictionary<") ? "an object" : name.hasPrefix("Array<") ? "an array" : name
    }
}

// MARK: - JSON at a coding path

/// A JSON value at a coding path.
private struct JSONFragment {
    private let value: Any

    /// `nil` if there is no value at the path, for example because the decoder has a custom key strategy.
    init?(at path: [any CodingKey], in json: Data) {
        var value = try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)
        for key in path {
            if let index = key.intValue, let array = value as? [Any] {
                value = array.indices.contains(index) ? array[index] : nil
            } else {
                let object = value as? [String: Any]
                value = object?[key.stringValue] ?? object?[key.stringValue.snakeCased]
            }
        }
        guard let value else { return nil }
        self.value = value
    }

    /// `a string`
    var kind: String {
        switch value {
        case is NSNull: "null"
        case is String: "a string"
        case is [Any]: "an array"
        case is [String: Any]: "an object"
        case let number as NSNumber where "\(type(of: number))".contains("Boolean"): "a boolean"
        default: "a number"
        }
    }

    /// Whether it is an object with this member.
    func has(_ name: String) -> Bool { (value as? [String: Any])?[name] != nil }

    /// Replaces the value in a decoder's message. A value of one or two letters stays, because it may be part of any word.
    func redacted(in message: String) -> String {
        guard let text = value as? String, text.utf8.count > 2 else { return message }
        return message.replacingOccurrences(of: text, with: "…")
    }
}

extension String {
    /// `user_name` for `userName`.
    fileprivate var snakeCased: String {
        reduce(into: "") { $0 += $1.isUppercase ? "_\($1.lowercased())" : "\($1)" }
    }
}

extension DecodingError.Context {
    /// Whether this library has written the message.
    fileprivate var isSafeToShow: Bool { underlyingError is CharsetMismatch || underlyingError is EventTypeMismatch }

    /// What is wrong with the whole of `json`; `nil` if the decoder's message says it.
    fileprivate func problem(of json: Data, by redactor: Redactor) -> String? {
        guard (try? JSONSerialization.jsonObject(with: json, options: .fragmentsAllowed)) == nil else {
            // The data is valid JSON, so the decoder failed at a number that its type cannot hold. Foundation gives no coding path for
            // that, and says only that the data "was not valid JSON".
            return debugDescription.contains("not valid JSON") ? "a number in it does not fit its type" : nil
        }
        let start = json.first { ![9, 10, 13, 32].contains($0) }
        if start == UInt8(ascii: "<") { return "expected JSON, found HTML or XML" }
        if String(data: json, encoding: .utf8) == nil { return "it is not UTF-8 text" }
        let detail = (underlyingError as NSError?)?.userInfo[NSDebugDescriptionErrorKey] as? String
        return "it is not valid JSON" + (detail.map { ": \(redactor.message($0.withoutFullStop))" } ?? "")
    }

    /// The decoder's message, without the value that `json` has at the coding path.
    fileprivate func message(in json: Data?, by redactor: Redactor) -> String {
        let message = debugDescription.withoutFullStop
        if isSafeToShow || redactor.redaction.showsEverything { return message }
        // The standard library's message about an unknown raw value ends in the value.
        if message.hasPrefix("Cannot initialize "), let value = message.range(of: " value ") { return message[..<value.upperBound] + "…" }
        let value = json.flatMap { JSONFragment(at: codingPath, in: $0) }
        return redactor.message(value?.redacted(in: message) ?? message)
    }
}

// MARK: - Other errors

extension Redactor {
    func explanation(of error: any Error) -> String {
        // The description of a `URLError` contains the whole URL.
        if let error = error as? URLError { return error.reason(by: self) ?? message(error.localizedDescription) }
        if error.isSafeToShow { return secrets.redacted(error.explanation) }
        if let error = error as? APIError { return error.description(redacting: redaction) }
        if let error = error as? DecodingError { return error.summary(of: nil, redactedBy: self) }
        if case EncodingError.invalidValue(_, let context)? = error as? EncodingError, !context.codingPath.isEmpty {
            return "\(message(context.debugDescription.withoutFullStop)) at \(context.codingPath.text(by: self))"
        }
        return message(error.explanation)
    }
}

/// The underlying error of a body that is no event stream. The error message then does not mention JSON.
package struct EventTypeMismatch: Error { package init() {} }

/// The underlying error of text that does not fit its charset. The error message then does not mention JSON.
package struct CharsetMismatch: Error { package init() {} }
