import APIProvider
import Foundation

/// Places in bytes, and the new texts.
typealias Edits = [(range: Range<Int>, text: [UInt8])]

extension Array {
    /// The elements with the texts of `edits`. Of overlapping edits, the first counts.
    func applying(_ edits: [(range: Range<Int>, text: [Element])]) -> [Element] {
        guard !edits.isEmpty else { return self }
        var (output, copied): ([Element], Int) = ([], 0)
        for (range, text) in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where range.lowerBound >= copied {
            output += self[copied..<range.lowerBound]
            output += text
            copied = range.upperBound
        }
        return output + self[copied...]
    }
}

extension [UInt8] {
    /// The place of the first `other`.
    func firstOffset(of other: [UInt8]) -> Int? { Data(self).range(of: Data(other))?.lowerBound }

    func contains(_ text: String) -> Bool { firstOffset(of: Array(text.utf8)) != nil }

    /// With a space for each plus sign, as in forms.
    var withSpacesForPluses: [UInt8] {
        places(ofAny: "+").reduce(into: self) { $0[$1] = UInt8(ascii: " ") }
    }

    /// The places of these ASCII characters. Calls no function in the loop, because tests run without the optimizer.
    func places(ofAny marks: String) -> [Int] {
        var table = [Bool](repeating: false, count: 256)
        for mark in marks.utf8 { table[Int(mark)] = true }
        return withUnsafeBufferPointer { buffer in
            table.withUnsafeBufferPointer { table in
                guard let bytes = buffer.baseAddress, let table = table.baseAddress else { return [] }
                var (places, place): ([Int], Int) = ([], 0)
                let count = buffer.count
                while place < count {
                    if table[Int(bytes[place])] { places.append(place) }
                    place &+= 1
                }
                return places
            }
        }
    }

    /// The text, with U+FFFD for invalid UTF-8.
    var text: String { String(decoding: self, as: UTF8.self) }

    /// Whether the bytes are text in UTF-8, without the NULs of UTF-16.
    var isUTF8: Bool { firstOffset(of: [0]) == nil && String(data: Data(self), encoding: .utf8) != nil }
}

extension UInt8 {
    var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }
}

extension Data {
    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

// MARK: - Regular expressions

struct Expression: Sendable {
    /// `nil` for a wrong pattern, which the tests would show.
    private let expression: NSRegularExpression?

    init(_ pattern: String, isCaseSensitive: Bool = true) {
        expression = try? NSRegularExpression(pattern: pattern, options: isCaseSensitive ? [] : .caseInsensitive)
    }

    func isFound(in text: String) -> Bool {
        expression?.firstMatch(in: text, range: NSRange(location: 0, length: text.utf16.count)) != nil
    }

    /// The whole and the groups of each match.
    func matches(in text: String) -> [[String?]] { results(in: text).map { $0.groups.map { $0.map(String.init) } } }

    /// The text with a replacement for each match; `nil` keeps the match.
    func replacing(in text: String, _ replacement: ([String?]) -> String?) -> String {
        var (output, end) = ("", text.startIndex)
        for (range, groups) in results(in: text) {
            guard let other = replacement(groups.map { $0.map(String.init) }) else { continue }
            output += text[end..<range.lowerBound] + other
            end = range.upperBound
        }
        return end == text.startIndex ? text : output + text[end...]
    }

    /// The last group of each match, and the place in UTF-8.
    func places(in text: String) -> [(range: Range<Int>, text: String)] {
        results(in: text).compactMap { _, groups in
            groups.last?.map { group in
                let start = text.utf8.distance(from: text.startIndex, to: group.startIndex)
                return (start..<start + group.utf8.count, String(group))
            }
        }
    }

    private func results(in text: String) -> [(range: Range<String.Index>, groups: [Substring?])] {
        (expression?.matches(in: text, range: NSRange(text.startIndex..., in: text)) ?? []).compactMap { result in
            result.range.indices(in: text).map { whole in
                (whole, (0..<result.numberOfRanges).map { result.range(at: $0).indices(in: text).map { text[$0] } })
            }
        }
    }
}
