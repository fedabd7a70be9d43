import APIProvider
import MockNetwork

/// The bytes of a value within a message, without their escapes, and the place in the message that each byte comes from.
struct SourceText {
    /// How a value is written where it stands.
    enum Escaping { case json, percent }

    let bytes: [UInt8]
    /// For each byte and for the end, its place in the message; `nil` if nothing was decoded.
    private let places: [Int]?
    private let start: Int
    /// The outermost first.
    let escapings: [Escaping]

    init(_ bytes: some Sequence<UInt8>) { self.init(Array(bytes), places: nil, start: 0, escapings: []) }

    private init(_ bytes: [UInt8], places: [Int]?, start: Int, escapings: [Escaping]) {
        (self.bytes, self.places, self.start, self.escapings) = (bytes, places, start, escapings)
    }

    var string: String { String(decoding: bytes, as: UTF8.self) }

    /// The place of the whole value in the message.
    var range: Range<Int> { range(of: 0..<bytes.count) }

    func range(of part: Range<Int>) -> Range<Int> {
        guard let places else { return start + part.lowerBound..<start + part.upperBound }
        return places[part.lowerBound]..<places[part.upperBound]
    }

    subscript(part: Range<Int>) -> SourceText {
        let inner = places.map { Array($0[part.lowerBound...part.upperBound]) }
        return SourceText(Array(bytes[part]), places: inner, start: start + part.lowerBound, escapings: escapings)
    }

    // MARK: - Parts

    /// The pieces between the bytes `mark`.
    func split(_ mark: Character, in part: Range<Int>? = nil) -> [Range<Int>] {
        var (pieces, begin, part): ([Range<Int>], Int, Range<Int>) = ([], (part ?? 0..<bytes.count).lowerBound, part ?? 0..<bytes.count)
        while let end = bytes[begin..<part.upperBound].firstIndex(of: mark.asciiValue ?? 0) {
            pieces.append(begin..<end)
            begin = end + 1
        }
        part = begin..<part.upperBound
        return pieces + [part]
    }

    func first(_ mark: Character, in part: Range<Int>) -> Int? { bytes[part].firstIndex(of: mark.asciiValue ?? 0) }

    func first(of text: String, from position: Int = 0) -> Int? { bytes.firstRange(of: Array(text.utf8), from: position) }

    // MARK: - Escapes

    /// The content of a JSON string, decoded.
    func decodingJSON() -> SourceText {
        decoding(.json, where: { $0 == UInt8(ascii: "\\") }) { bytes, place in
            JSONEscape(bytes, at: place).map { (Array(String($0.scalar).utf8), $0.end) }
        }
    }

    /// A part of a URL or a form, decoded.
    func decodingPercent(plusIsSpace: Bool = false) -> SourceText {
        decoding(.percent, where: { $0 == UInt8(ascii: "%") || plusIsSpace && $0 == UInt8(ascii: "+") }) { bytes, place in
            if bytes[place] == UInt8(ascii: "+") { return ([0x20], place + 1) }
            return percentEscape(bytes, at: place).map { ([$0], place + 3) }
        }
    }

    private func decoding(
        _ escaping: Escaping, where isEscape: (UInt8) -> Bool, _ decode: ([UInt8], Int) -> (bytes: [UInt8], end: Int)?
    ) -> SourceText {
        guard bytes.contains(where: isEscape) else {
            return SourceText(bytes, places: places, start: start, escapings: escapings + [escaping])
        }
        var (decoded, origins, position): ([UInt8], [Int], Int) = ([], [], 0)
        while position < bytes.count {
            let place = places?[position] ?? start + position
            guard isEscape(bytes[position]), let unit = decode(bytes, position) else {
                decoded.append(bytes[position])
                origins.append(place)
                position += 1
                continue
            }
            decoded += unit.bytes
            origins += repeatElement(place, count: unit.bytes.count)
            position = unit.end
        }
        return SourceText(decoded, places: origins + [places?.last ?? start + bytes.count], start: start, escapings: escapings + [escaping])
    }

    /// `text` as it is written in the place of this value.
    func escaped(_ text: String) -> String {
        escapings.reversed().reduce(text) { text, escaping in
            switch escaping {
            case .json: String(decoding: text.jsonString.dropFirst().dropLast(), as: UTF8.self)
            case .percent: text.escapedAsValue
            }
        }
    }
}

/// The byte that `%XX` stands for; `nil` if no such escape begins at `place`.
func percentEscape(_ bytes: [UInt8], at place: Int) -> UInt8? {
    guard place + 2 < bytes.count, bytes[place] == UInt8(ascii: "%"), let high = bytes[place + 1].hexValue,
        let low = bytes[place + 2].hexValue
    else { return nil }
    return high << 4 | low
}

// MARK: - Bytes

extension UInt8 {
    var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }

    var isWordByte: Bool { isLetter || isDigit || self >= 0x80 }
}

extension [UInt8] {
    /// These bytes with a text in place of each range. Of ranges that overlap, the first counts.
    func replacing(_ replacements: some Sequence<(range: Range<Int>, text: [UInt8])>) -> [UInt8] {
        var (output, copied): ([UInt8], Int) = ([], 0)
        for (range, text) in replacements.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where range.lowerBound >= copied {
            output += self[copied..<range.lowerBound] + text
            copied = range.upperBound
        }
        return output + self[copied...]
    }

    /// The place of the first `other` at or after `position`.
    func firstRange(of other: [UInt8], from position: Int = 0) -> Int? {
        guard let first = other.first else { return nil }
        var position = position
        while position + other.count <= count, let place = self[position...].firstIndex(of: first), place + other.count <= count {
            if self[place..<place + other.count].elementsEqual(other) { return place }
            position = place + 1
        }
        return nil
    }
}
