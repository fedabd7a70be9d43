import APIProvider
import Foundation

/// The names of secrets that a file lists. Nothing else tells them from other text.
struct RecordedNames: Sendable {
    let origins: [String: Secret.Origin]
    private let lengths: [Int]

    init(_ origins: [String: Secret.Origin]) {
        self.origins = origins
        lengths = Set(origins.keys.map(\.utf8.count)).sorted(by: >)
    }

    init(_ secrets: [Secret]) { self.init(Dictionary(secrets.map { ($0.name, $0.origin) }) { $1 }) }

    /// Whether the name matches itself alone, because a response gave it to the app.
    func isFromResponse(_ name: String) -> Bool { origins[name] == .response }

    /// The names in a text. The range of one that is the signature of a JWT has the JWT.
    func occurrences(in bytes: [UInt8]) -> [(range: Range<Int>, name: String)] {
        guard !origins.isEmpty else { return [] }
        var found: [(range: Range<Int>, name: String)] = []
        var end = 0
        while let digit = bytes[end...].firstIndex(where: \.isDigit) {
            end = bytes[digit...].firstIndex { !$0.isDigit } ?? bytes.count
            let floor = found.last?.range.upperBound ?? 0
            for length in lengths where length <= end - floor {
                let name = String(decoding: bytes[end - length..<end], as: UTF8.self)
                guard origins[name] != nil, !(bytes[end - length].isDigit && end > length && bytes[end - length - 1].isDigit) else {
                    continue
                }
                found.append((startOfJWT(bytes, before: end - length, from: floor)..<end, name))
                break
            }
        }
        return found
    }

    private func startOfJWT(_ bytes: [UInt8], before place: Int, from floor: Int) -> Int {
        guard place > floor, bytes[place - 1] == UInt8(ascii: ".") else { return place }
        let start = (bytes[floor..<place].lastIndex { !$0.isBase64URL && $0 != UInt8(ascii: ".") } ?? floor - 1) + 1
        let parts = bytes[start..<place - 1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return place }
        // Other text may stand before it.
        let head = parts[0].indices.first { index in
            parts[0][index...].starts(with: "ey".utf8)
                && Data(base64URL: String(decoding: parts[0][index...], as: UTF8.self))?.first == UInt8(ascii: "{")
        }
        return head ?? place
    }

    /// The text with the name alone for each JWT.
    func canonical(_ bytes: [UInt8]) -> [UInt8] {
        guard !origins.isEmpty else { return bytes }
        return bytes.replacing(
            occurrences(in: bytes).lazy.filter { $0.range.count > $0.name.utf8.count }.map { ($0.range, Array($0.name.utf8)) })
    }
}

/// The texts that the names stand for in one replay.
struct Bindings: Sendable {
    private(set) var values: [String: [UInt8]] = [:]
    /// How many names have got their text since `count` was last set to 0.
    var count = 0

    mutating func bind(_ name: String, to text: [UInt8], isIgnored: Bool) {
        if !isIgnored { count += 1 }
        values[name] = text
    }
}

/// A text of a file in which names of the test's or the environment's secrets match any text.
struct Pattern: Sendable, Equatable {
    private enum Piece: Equatable { case text([UInt8]), name(String) }

    /// With the name alone for each JWT.
    let bytes: [UInt8]
    private let pieces: [Piece]

    init(_ text: String, _ names: RecordedNames) {
        bytes = names.canonical(Array(text.utf8))
        var (pieces, copied): ([Piece], Int) = ([], 0)
        for (range, name) in names.occurrences(in: bytes) where !names.isFromResponse(name) {
            if range.lowerBound > copied { pieces.append(.text(Array(bytes[copied..<range.lowerBound]))) }
            pieces.append(.name(name))
            copied = range.upperBound
        }
        if copied < bytes.count { pieces.append(.text(Array(bytes[copied...]))) }
        self.pieces = pieces
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// Whether it has names that match other texts.
    var hasNames: Bool { pieces.contains { if case .name = $0 { true } else { false } } }

    func matches(_ other: Pattern, _ names: RecordedNames, _ bindings: inout Bindings) -> Bool {
        let text = other.bytes
        guard hasNames else { return bytes == text }
        var position = 0
        for (index, piece) in pieces.enumerated() {
            switch piece {
            case .text(let part):
                guard text[position...].starts(with: part) else { return false }
                position += part.count
            case .name(let name):
                guard let end = end(ofNameAt: index, in: text, from: position) else { return false }
                let captured = Array(text[position..<end])
                guard Self.bind(name, captured, names, &bindings) else { return false }
                position = end
            }
        }
        return position == text.count
    }

    /// Where the text of a name ends: before the next piece.
    private func end(ofNameAt index: Int, in text: [UInt8], from position: Int) -> Int? {
        guard index + 1 < pieces.count, case .text(let next) = pieces[index + 1] else { return text.count }
        if index + 2 == pieces.count {
            let end = text.count - next.count
            return end >= position && text[end...].elementsEqual(next) ? end : nil
        }
        return text.firstRange(of: next, from: position + 1)
    }

    /// Gives the name its text, or compares it with the text that it has.
    static func bind(_ name: String, _ text: [UInt8], _ names: RecordedNames, _ bindings: inout Bindings) -> Bool {
        let isIgnored = names.origins[name] == .ignored
        if !isIgnored {
            if let value = bindings.values[name] { return isSame(value, text) }
            guard !text.isEmpty, !names.occurrences(in: text).contains(where: { names.isFromResponse($0.name) }) else { return false }
        }
        bindings.bind(name, to: text, isIgnored: isIgnored)
        return true
    }

    /// Whether both are the same text, one of them maybe with escapes.
    private static func isSame(_ one: [UInt8], _ other: [UInt8]) -> Bool {
        func plain(_ text: [UInt8]) -> [UInt8] { SourceText(text).decodingJSON().decodingPercent(plusIsSpace: true).bytes }
        return one == other || plain(one) == plain(other)
    }
}
