import APIProvider
import Foundation

/// The places of the parts of a multipart body (RFC 2046, section 5.1).
struct Multipart {
    struct Part {
        let head: Range<Int>
        let body: Range<Int>
        let name: String
        let type: String
    }

    private(set) var parts: [Part] = []

    /// `nil` if the type has no boundary, or the body does not have it.
    init?(_ bytes: [UInt8], type: String) {
        guard let mark = type.range(of: "boundary=", options: .caseInsensitive) else { return nil }
        let value = type[mark.upperBound...].prefix { $0 != ";" }.trimmingCharacters(in: .init(charactersIn: "\" "))
        let line = Array("--\(value)".utf8)
        guard !value.isEmpty, var start = bytes.firstOffset(of: line) else { return nil }
        while true {
            let delimiter = bytes.firstOffset(of: line, from: start + line.count)
            // A body that was cut off ends in a part.
            if delimiter == nil, bytes[(start + line.count)...].starts(with: "--".utf8) { break }
            let next = delimiter ?? bytes.count
            let begin = min((bytes[(start + line.count)...].firstIndex(of: 0x0A) ?? next) + 1, next)
            var end = next
            if end > begin, bytes[end - 1] == 0x0A { end -= 1 }
            if end > begin, bytes[end - 1] == 0x0D { end -= 1 }
            let blank = ["\r\n\r\n", "\n\n"].compactMap { mark in
                bytes.firstOffset(of: Array(mark.utf8), from: max(begin - 2, 0)).map { ($0, $0 + mark.utf8.count) }
            }.filter { $0.1 <= end }.min { $0.0 < $1.0 }
            let head = begin..<max(begin, blank?.0 ?? begin)
            let fields = String(decoding: bytes[head], as: UTF8.self)
            parts.append(
                Part(
                    head: head, body: min(blank?.1 ?? begin, end)..<end, name: fields.parameter("name") ?? "",
                    type: fields.field("content-type") ?? ""))
            guard let delimiter else { break }
            start = delimiter
        }
    }
}

extension String {
    /// The value of a parameter such as `name="a"`, with or without quotes.
    fileprivate func parameter(_ name: String) -> String? {
        var rest = self[...]
        while let range = rest.range(of: "\(name)=", options: .caseInsensitive) {
            let isWhole = rest[..<range.lowerBound].last.map { $0 == ";" || $0.isWhitespace } ?? true
            rest = rest[range.upperBound...]
            guard isWhole else { continue }
            return String(rest.first == "\"" ? rest.dropFirst().prefix { $0 != "\"" } : rest.prefix { $0 != ";" && !$0.isWhitespace })
        }
        return nil
    }

    fileprivate func field(_ name: String) -> String? {
        split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("\(name):") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}
