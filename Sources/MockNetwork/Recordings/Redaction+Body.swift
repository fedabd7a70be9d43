import APIProvider
import Foundation

extension Redaction {
    /// A body with its secrets left out. One that is neither JSON nor a form nor multipart, nor has JSON in it, stays as it is.
    func body(_ body: Data, contentType: String?) -> Data {
        let type = contentType?.lowercased() ?? ""
        if type.hasPrefix("multipart/"), let boundary = contentType?.parameter("boundary") { return multipart(body, boundary: boundary) }
        let isForm = type.hasPrefix("application/x-www-form-urlencoded")
        if let text = String(data: body, encoding: .utf8) {
            let shown = withoutSecretSegments(text)
            let redacted = isForm || shown.isForm ? form(shown) : json(shown)
            return redacted == text ? body : Data(redacted.utf8)
        }
        guard isForm || type.contains("json"), let text = String(data: body, encoding: .isoLatin1) else { return body }
        return (isForm ? form(text) : json(text)).data(using: .isoLatin1) ?? body
    }

    /// RFC 2046, section 5.1.1.
    private func multipart(_ body: Data, boundary: String) -> Data {
        let delimiter = Data("--\(boundary)".utf8)
        var (result, rest) = (Data(), body)
        while let found = rest.range(of: delimiter) {
            result += part(rest[..<found.lowerBound]) + delimiter
            rest = rest[found.upperBound...]
        }
        return result + rest
    }

    /// What stands between two boundaries: a head, its line break, and what the head is about (RFC 7578).
    private func part(_ part: Data) -> Data {
        guard let gap = part.range(of: Data("\r\n\r\n".utf8)) else { return part }
        let fields = String(decoding: part[..<gap.lowerBound], as: UTF8.self).components(separatedBy: "\r\n")
        let field = { (name: String) in fields.first { $0.lowercased().hasPrefix("\(name):") }?.dropFirst(name.count + 1) }
        let head = part[..<gap.upperBound]
        let content = part[gap.upperBound...].dropLast(2)
        let end = part[content.endIndex...]
        if let name = field("content-disposition")?.parameter("name"), hidesParameter(name) {
            return head + (content.isEmpty ? Data() : Data(Self.placeholder.utf8)) + end
        }
        let type = field("content-type").map { $0.trimmingCharacters(in: .whitespaces) }
        guard type?.lowercased().hasPrefix("multipart/") != true else { return part }  // Nested without end, it would take the stack.
        return head + body(content, contentType: type) + end
    }
}

extension String {
    /// Whether a form stands here, though nobody has said so: names and values that are escaped as one.
    fileprivate var isForm: Bool {
        contains("=") && !utf8.contains { $0 <= 0x20 || $0 == UInt8(ascii: "\"") || $0 == UInt8(ascii: "<") || $0 == UInt8(ascii: "{") }
    }
}

extension StringProtocol {
    /// A parameter of a field's value (RFC 9110, section 5.6.6).
    fileprivate func parameter(_ name: String) -> String? {
        for item in split(separator: ";").dropFirst() {
            let parts = item.split(separator: "=", maxSplits: 1).map { $0.trimmingCharacters(in: .whitespaces) }
            guard parts.count == 2, parts[0].lowercased() == name else { continue }
            return parts[1].trimmingCharacters(in: CharacterSet(charactersIn: "\""))
        }
        return nil
    }
}
