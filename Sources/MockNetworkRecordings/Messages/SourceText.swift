import APIProvider
import APIProviderMocks
import Foundation

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
        while let end = first(mark, in: begin..<part.upperBound) {
            pieces.append(begin..<end)
            begin = end + 1
        }
        part = begin..<part.upperBound
        return pieces + [part]
    }

    func first(_ mark: Character, in part: Range<Int>? = nil) -> Int? {
        bytes.first(mark.asciiValue ?? 0, in: part ?? 0..<bytes.count)
    }

    func first(of text: String, from position: Int = 0) -> Int? { bytes.firstOffset(of: Array(text.utf8), from: position) }

    func has(_ mark: Character) -> Bool { first(mark) != nil }

    // MARK: - Escapes

    /// The content of a JSON string, decoded.
    func decodingJSON() -> SourceText {
        decoding(.json, Self.jsonEscapes) { bytes, place in JSONEscape(bytes, at: place).map { (Array(String($0.scalar).utf8), $0.end) } }
    }

    /// A part of a URL or a form, decoded.
    func decodingPercent(plusIsSpace: Bool = false) -> SourceText {
        decoding(.percent, plusIsSpace ? Self.formEscapes : Self.percentEscapes) { bytes, place in
            if bytes[place] == UInt8(ascii: "+") { return ([0x20], place + 1) }
            return percentEscape(bytes, at: place).map { ([$0], place + 3) }
        }
    }

    private static let (jsonEscapes, percentEscapes, formEscapes) = (BytePairs("\\"), BytePairs("%"), BytePairs("%+"))

    /// - Parameter marks: What an escape begins with.
    private func decoding(
        _ escaping: Escaping, _ marks: BytePairs, _ decode: ([UInt8], Int) -> (bytes: [UInt8], end: Int)?
    ) -> SourceText {
        let escapes = marks.places(in: bytes)
        guard !escapes.isEmpty else {
            return SourceText(bytes, places: places, start: start, escapings: escapings + [escaping])
        }
        var (decoded, origins, position): ([UInt8], [Int], Int) = ([], [], 0)
        func copy(to end: Int) {
            decoded += bytes[position..<end]
            while position < end {
                origins.append(places?[position] ?? start + position)
                position += 1
            }
        }
        for mark in escapes where mark >= position {
            guard let unit = decode(bytes, mark) else { continue }
            copy(to: mark)
            decoded += unit.bytes
            origins += repeatElement(places?[mark] ?? start + mark, count: unit.bytes.count)
            position = unit.end
        }
        copy(to: bytes.count)
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

    /// The place of the first `byte` in a part. Tests are built without the optimizer, where it is faster than `firstIndex(of:)` by far.
    func first(_ byte: UInt8, in part: Range<Int>) -> Int? {
        withUnsafeBytes { bytes in
            bytes.baseAddress.flatMap { start in
                memchr(start + part.lowerBound, Int32(byte), part.count).map { UnsafeRawPointer($0) - start }
            }
        }
    }

    /// The place of the first `other` at or after `position`.
    func firstOffset(of other: [UInt8], from position: Int = 0) -> Int? {
        guard let last = other.last else { return nil }
        var end = position + other.count - 1
        while end < count, let place = first(last, in: end..<count) {
            let start = place + 1 - other.count
            if self[start...place].elementsEqual(other) { return start }
            end = place + 1
        }
        return nil
    }
}

/// Pairs of bytes at which a search stops. It looks at each byte once and calls no closure, because tests are built without the optimizer.
struct BytePairs: Sendable {
    private var table = [Bool](repeating: false, count: 1 << 16)

    /// - Parameter marks: Any byte may follow them.
    init(_ marks: String = "") { for mark in marks.utf8 { insert(mark, nil) } }

    /// - Parameter second: `nil` for any byte.
    mutating func insert(_ first: UInt8, _ second: UInt8?) {
        for second in second.map({ $0...$0 }) ?? 0...255 { table[Int(first) << 8 | Int(second)] = true }
    }

    /// Inserts what a text begins with.
    mutating func insert(_ text: some Collection<UInt8>) { if let first = text.first { insert(first, text.dropFirst().first) } }

    /// The places of the first bytes, as if a NUL followed the last.
    func places(in bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBufferPointer { buffer in
            table.withUnsafeBufferPointer { table in
                guard let bytes = buffer.baseAddress, let table = table.baseAddress else { return [] }
                var (places, place): ([Int], Int) = ([], 0)
                let count = buffer.count
                while place < count {
                    let next = place &+ 1 < count ? bytes[place &+ 1] : 0
                    if table[Int(bytes[place]) << 8 | Int(next)] { places.append(place) }
                    place &+= 1
                }
                return places
            }
        }
    }
}
