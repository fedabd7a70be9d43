import Foundation

extension SecretScanner {
    /// Goes over a body, or over a part of one that has several.
    mutating func scanBody(_ range: Range<Int>, contentType: String?, as kind: SecretName.Kind = .field) {
        let type = contentType?.lowercased() ?? ""
        if let delimiter = delimiter(of: range, contentType: contentType) {
            let parts = self.parts(of: range, delimiter)
            for part in parts { scanPart(part) }
            if !parts.isEmpty { return }
        }
        let isForm = type.hasPrefix("application/x-www-form-urlencoded")
        let isText = isForm || type.hasPrefix("text/") || type.contains("json") || type.contains("xml") || redactor.style != .recording
        guard isText || String(bytes: bytes[range], encoding: .utf8) != nil else { return }
        if isWrittenAsForm(range) { scanForm(range) } else { scanText(range, as: isForm ? .parameter : kind) }
    }

    private static func endsForm(_ byte: UInt8) -> Bool {
        byte <= 0x20 || byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "<") || byte == UInt8(ascii: "{")
    }

    /// Whether names and values are escaped here as those of a form are.
    private func isWrittenAsForm(_ range: Range<Int>) -> Bool {
        let equals = firstIndex(from: range.lowerBound, to: range.upperBound) { $0 == UInt8(ascii: "=") || Self.endsForm($0) }
        return equals < range.upperBound && bytes[equals] == UInt8(ascii: "=")
            && bytes[range.lowerBound..<equals].firstIndex(of: "://") == nil
            && skipSpace(from: firstIndex(from: equals, to: range.upperBound, where: Self.endsForm), to: range.upperBound)
                == range.upperBound
    }
}

// Multipart bodies (RFC 2046, section 5.1, and RFC 7578), with any line breaks.
extension SecretScanner {
    /// What stands before each part: as the type says, or as the first line does.
    private func delimiter(of range: Range<Int>, contentType: String?) -> [UInt8]? {
        if let contentType, contentType.lowercased().hasPrefix("multipart/"),
            let boundary = FieldParameters(contentType).first(where: { $0.name == "boundary" })?.value
        {
            return Array("--\(boundary)".utf8)
        }
        guard hasPrefix("--", at: range.lowerBound, to: range.upperBound) else { return nil }
        let line =
            range.lowerBound..<firstIndex(from: range.lowerBound, to: min(range.upperBound, range.lowerBound + 80), where: \.isLineBreak)
        let next = skipSpace(from: line.upperBound, to: range.upperBound)
        guard next > line.upperBound, String(decoding: bytes[next...].prefix(8), as: UTF8.self).lowercased() == "content-"
        else {
            return nil
        }
        return Array(bytes[line])
    }

    /// What stands between the lines that begin with `delimiter`, and what comes before and after them.
    private func parts(of range: Range<Int>, _ delimiter: [UInt8]) -> [Range<Int>] {
        var parts: [Range<Int>] = []
        var (start, line) = (range.lowerBound, range.lowerBound)
        while line < range.upperBound {
            let end = firstIndex(from: line, to: range.upperBound, where: \.isLineBreak)
            if bytes[line..<end].starts(with: delimiter) {
                parts.append(start..<line)
                start = endOfLineBreak(at: end, to: range.upperBound)
            }
            line = endOfLineBreak(at: end, to: range.upperBound)
        }
        return parts.isEmpty ? [] : parts + [start..<max(start, range.upperBound)]
    }

    private mutating func scanPart(_ part: Range<Int>) {
        var line = part.lowerBound
        var (disposition, type): (String?, String?)
        var fields: [String] = []
        while case let end = firstIndex(from: line, to: part.upperBound, where: \.isLineBreak), end > line {
            let field = String(decoding: bytes[line..<end], as: UTF8.self)
            // A line that begins with a space goes on with the one before (RFC 5322, section 2.2.3).
            if bytes[line].isWhitespace, let last = fields.popLast() { fields.append(last + field) } else { fields.append(field) }
            line = endOfLineBreak(at: end, to: part.upperBound)
        }
        scanText(part.lowerBound..<line)
        for field in fields {
            let lowercased = field.lowercased()
            if lowercased.hasPrefix("content-disposition:") { disposition = field }
            if lowercased.hasPrefix("content-type:") { type = field.dropFirst(13).drop(while: \.isWhitespace).description }
        }

        let content = endOfLineBreak(at: line, to: part.upperBound)..<part.upperBound
        if disposition.map(hidesPart) == true {
            var end = content.upperBound
            while end > content.lowerBound, bytes[end - 1].isLineBreak { end -= 1 }
            replace(content.lowerBound..<end, with: redactor.mark)
        } else {
            scanNested(content) { $0.scanBody(content, contentType: type) }
        }
    }

    /// Leaves out what a part holds that stands somewhere in text, if `field` is its Content-Disposition and names a secret.
    mutating func scanPart(of field: Range<Int>, from value: Int, in surroundings: Surroundings) -> Int? {
        guard field.count == 19, Redaction.key(bytes[field]).elementsEqual("contentdisposition".utf8) else { return nil }
        let end = surroundings.range.upperBound
        var line = firstIndex(from: value, to: min(end, value + 1024), where: \.isLineBreak)
        guard line < end, bytes[line].isLineBreak, hidesPart(String(decoding: bytes[value..<line], as: UTF8.self)) else { return nil }
        while line < end, case let next = endOfLineBreak(at: line, to: end), next < end, !bytes[next].isLineBreak {
            line = firstIndex(from: next, to: end, where: \.isLineBreak)
        }
        let content = skipSpace(from: line, to: end)
        while line < end, !hasPrefix("--", at: line, to: end) {
            line = endOfLineBreak(at: firstIndex(from: line, to: end, where: \.isLineBreak), to: end)
        }
        let last = bytes[content..<line].lastIndex { !$0.isWhitespace }
        replace(content..<(last.map { $0 + 1 } ?? content), with: redactor.mark)
        return line
    }

    private func hidesPart(_ disposition: String) -> Bool {
        FieldParameters(disposition).names.contains { redactor.redaction.hides($0, as: .parameter) }
    }

    func endOfLineBreak(at position: Int, to end: Int) -> Int {
        min(end, hasPrefix("\r\n", at: position, to: end) ? position + 2 : position + 1)
    }
}

/// The parameters of a header field such as `Content-Type` (RFC 9110, section 5.6.6).
struct FieldParameters: Sequence {
    private var parameters: [(name: String, value: String)] = []

    init(_ field: String) {
        var rest = field[...]
        while !rest.isEmpty {
            let name = rest.prefix { $0 != "=" && $0 != ";" }
            rest = rest[name.endIndex...]
            var value = ""
            if rest.first == "=" {
                rest = rest.dropFirst().drop(while: \.isWhitespace)
                var isQuoted = false
                while let character = rest.popFirst() {
                    if character == ";", !isQuoted { break }
                    if character == "\"" {
                        isQuoted.toggle()
                    } else {
                        value.append(character == "\\" && isQuoted ? rest.popFirst() ?? "\\" : character)
                    }
                }
            } else {
                rest = rest.dropFirst()
            }
            parameters.append((name.trimmed.lowercased(), value[...].trimmed))
        }
    }

    func makeIterator() -> AnyIterator<(name: String, value: String)> { AnyIterator(parameters.makeIterator()) }

    /// What a part of a form may be called: also as RFC 8187 writes it, and in the pieces of RFC 2231.
    var names: [String] {
        let names = filter { $0.name == "name" || $0.name.hasPrefix("name*") }
            .map { $0.value.split(separator: "'").last.map(String.init) ?? $0.value }
            .map { $0.removingPercentEncoding ?? $0 }
        return names + [names.joined()]
    }
}

extension Substring {
    fileprivate var trimmed: String {
        var text = drop(while: \.isWhitespace)
        while text.last?.isWhitespace == true { text.removeLast() }
        return String(text)
    }
}
