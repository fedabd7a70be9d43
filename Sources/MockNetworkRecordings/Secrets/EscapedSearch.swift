import APIProvider
import APIProviderMocks
import Foundation

/// Finds texts in other text, also if they are escaped there for a URL, JSON or HTML, or with one of these escapes inside another.
struct EscapedSearch {
    private let texts: [[UInt8]]
    /// The texts that begin with each byte, the longest first.
    private var starting: [[Int]] = Array(repeating: [], count: 256)
    /// What may begin one of the texts.
    private var beginnings = BytePairs()

    init(_ texts: [[UInt8]]) {
        self.texts = texts
        for escape in Self.escapes { beginnings.insert(escape, nil) }
        for index in texts.indices.sorted(by: { texts[$0].count > texts[$1].count }) {
            guard let first = texts[index].first else { continue }
            starting[Int(first)].append(index)
            beginnings.insert(texts[index])
            for escape in Self.escapes { beginnings.insert(first, escape) }
        }
    }

    /// The characters with which an escape begins.
    private static let escapes = Array("%\\+&".utf8)

    /// The places of the texts, and the index of each.
    func matches(in bytes: [UInt8]) -> [(range: Range<Int>, index: Int)] {
        guard !texts.isEmpty else { return [] }
        var found: [(range: Range<Int>, index: Int)] = []
        for place in beginnings.places(in: bytes) {
            var candidates = starting[Int(bytes[place])]
            if Self.escapes.contains(bytes[place]) {
                let firsts = Set(Self.units(bytes, at: place).compactMap { $0.bytes.first })
                candidates = firsts.flatMap { starting[Int($0)] }.sorted { texts[$0].count > texts[$1].count }
            }
            for index in candidates {
                guard let end = Self.end(of: texts[index], in: bytes, at: place) else { continue }
                if texts[index].allSatisfy(\.isDigit), place > 0 && bytes[place - 1].isDigit || end < bytes.count && bytes[end].isDigit {
                    continue
                }
                found.append((place..<end, index))
                break
            }
        }
        return found
    }

    private static func end(of text: [UInt8], in bytes: [UInt8], at start: Int) -> Int? {
        // No escape is shorter than what it stands for.
        guard text.count <= bytes.count - start else { return nil }
        var (position, matched) = (start, 0)
        while matched < text.count {
            if position < bytes.count, bytes[position] == text[matched], !Self.escapes.contains(bytes[position]) {
                (position, matched) = (position + 1, matched + 1)
                continue
            }
            guard position < bytes.count, Self.escapes.contains(bytes[position]) else { return nil }
            guard let unit = units(bytes, at: position).first(where: { text[matched...].starts(with: $0.bytes) }) else { return nil }
            position = unit.end
            matched += unit.bytes.count
        }
        return position
    }

    /// The bytes that those at `place` may stand for. The escapes come first.
    private static func units(_ bytes: [UInt8], at place: Int) -> [(bytes: [UInt8], end: Int)] {
        guard place < bytes.count else { return [] }
        let plain = (bytes: [bytes[place]], end: place + 1)
        switch bytes[place] {
        case UInt8(ascii: "%"):
            var (units, position) = ([plain], place)
            // `%2541` is `%41`, which is `A`.
            while let byte = percentEscape(bytes, at: position) {
                units.insert(([byte], position + 3), at: 0)
                guard byte == UInt8(ascii: "%"), position + 4 < bytes.count, let high = bytes[position + 3].hexValue,
                    let low = bytes[position + 4].hexValue
                else { break }
                units.insert(([high << 4 | low], position + 5), at: 0)
                guard high << 4 | low == UInt8(ascii: "%") else { break }
                position += 2
            }
            return units
        case UInt8(ascii: "\\"):
            // A quote is \", in JSON in JSON \\\", and so on: of the backslashes before a letter, the escape may begin
            // at the first, the second, the fourth, or the last.
            let last = place + bytes[place...].prefix(8).prefix { $0 == UInt8(ascii: "\\") }.count - 1
            let ends = Set([place, place + 1, place + 3, last]).filter { $0 <= last }
            return ends.sorted(by: >).compactMap { JSONEscape(bytes, at: $0) }.map { (Array(String($0.scalar).utf8), $0.end) }
                + (last > place ? [([UInt8(ascii: "\\")], place + 2), ([UInt8(ascii: "\\")], min(place + 4, last + 1))] : []) + [plain]
        case UInt8(ascii: "+"): return [plain, ([0x20], place + 1)]
        case UInt8(ascii: "&"):
            let entities: KeyValuePairs = [
                "&amp;": "&", "&lt;": "<", "&gt;": ">", "&quot;": "\"", "&#39;": "'", "&#x27;": "'", "&#x2F;": "/",
            ]
            let rest = bytes[place...].prefix(6)
            return entities.filter { rest.starts(with: $0.key.utf8) }.map { (Array($0.value.utf8), place + $0.key.utf8.count) } + [plain]
        default: return [plain]
        }
    }
}
