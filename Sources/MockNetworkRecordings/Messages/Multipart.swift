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
        while let next = bytes.firstOffset(of: line, from: start + line.count) {
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
            start = next
        }
    }
}

extension String {
    fileprivate func parameter(_ name: String) -> String? {
        guard let range = range(of: " \(name)=\"", options: .caseInsensitive) else { return nil }
        return String(self[range.upperBound...].prefix { $0 != "\"" })
    }

    fileprivate func field(_ name: String) -> String? {
        split(whereSeparator: \.isNewline).first { $0.lowercased().hasPrefix("\(name):") }
            .map { $0.dropFirst(name.count + 1).trimmingCharacters(in: .whitespaces) }
    }
}
