import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// `the body is not SearchResponse: expected String at items[3].name, found null (application/json, 812 bytes).` Contains nothing from
    /// the body.
    func mismatch(with expected: String, _ error: any Error, by redactor: Redactor) -> String {
        // A stream fails to decode before any byte is read.
        if bodyStream != nil {
            let type = httpResponse.contentType
            let charset = type?.charset.map { "; charset=\($0)" } ?? ""
            return "its Content-Type is \((type.map { $0.mediaType + charset } ?? "missing").cut(to: 100)), and not that of \(expected)."
        }
        let size = redactor.size(of: self)
        guard !data.isEmpty else { return "\(partName) is empty where \(expected) was expected \(size)." }
        let ending = (serverMessage.map { ", and says \"\(redactor.message($0))\"" } ?? "") + (methodChange.map { "; \($0)" } ?? "")
        return "\(partName) is not \(expected): \(error.decodingProblem) \(size)\(ending)."
    }
}

extension Redactor {
    /// The body's media type and size: `(application/json, 812 bytes)`.
    func size(of response: APIResponse) -> String {
        size(response.data.count, type: response.value(forHTTPHeaderField: "Content-Type"))
    }
}

// MARK: - A decoder's error

extension Error {
    /// Describes a decoder's error without a value: another error may quote one.
    var decodingProblem: String { (self as? DecodingError)?.summary ?? "\(nameInSource(of: type(of: self))) was thrown" }
}

extension DecodingError {
    /// Describes the problem's kind and place, without a value.
    var summary: String {
        switch self {
        case .typeMismatch(let type, let context): return "expected \(name(of: type)) at \(context.codingPath.text)\(context.found)"
        case .valueNotFound(let type, let context): return "expected \(name(of: type)) at \(context.codingPath.text), found null"
        case .keyNotFound(let key, let context):
            let hint = key.snakeCased.map { "; for \($0), the decoder needs the keyDecodingStrategy .convertFromSnakeCase" } ?? ""
            return "\((context.codingPath + [key]).text) is missing\(hint)"
        case .dataCorrupted(let context):
            if let mismatch = context.underlyingError as? BodyMismatch { return mismatch.reason }
            // Foundation leaves the date's key out of the path (Swift 6.3.1).
            if context.debugDescription == "Expected date string to be ISO8601-formatted." {
                return "a date\(context.codingPath.isEmpty ? "" : " in \(context.codingPath.text)") is not in ISO 8601"
            }
            guard context.codingPath.isEmpty else { return "the value at \(context.codingPath.text) is not valid" }
            let isText = context.debugDescription.contains("not valid JSON")
            return isText ? "it is not valid JSON, or a number does not fit its type" : "a value in it is not valid"
        @unknown default: return "a value in it is not valid"
        }
    }

    private func name(of type: Any.Type) -> String {
        let name = nameInSource(of: type)
        return name.hasPrefix("Dictionary<") ? "an object" : name.hasPrefix("Array<") ? "an array" : name
    }
}

extension DecodingError.Context {
    /// `, found a string`: the value's kind, as named in Foundation's message.
    fileprivate var found: String {
        let kinds = [
            "a string": "a string", "a string/data": "a string", "number": "a number", "bool": "a boolean", "an array": "an array",
            "a dictionary": "an object", "null": "null",
        ]
        return kinds.first { debugDescription.hasSuffix("found \($0.key) instead.") }.map { ", found \($0.value)" } ?? ""
    }
}

/// The underlying error for a body that differs from the stated type or the requested one. The reason is this package's.
package struct BodyMismatch: Error {
    let reason: String

    package init(_ reason: String) { self.reason = reason }
}

/// A type's name in source code: `Search.Answer`, without the module and the marks of private types.
package func nameInSource(of type: Any.Type) -> String {
    let marks = [#"\(extension in [^)]*\):"#, #"\(unknown context at \$[0-9a-f]+\)\."#, #"(?<![\p{L}\p{N}_.)])[\p{L}_][\p{L}\p{N}_]*\."#]
    return String(reflecting: type).replacingOccurrences(of: marks.joined(separator: "|"), with: "", options: .regularExpression)
}
