import APIProvider
import Foundation
import MockNetwork

/// Places in some bytes, and what stands there instead.
typealias Edits = [(range: Range<Int>, text: [UInt8])]

extension [UInt8] {
    /// These bytes with the texts of `edits`. Of edits that overlap, the first counts.
    func applying(_ edits: Edits) -> [UInt8] {
        guard !edits.isEmpty else { return self }
        var (output, copied): ([UInt8], Int) = ([], 0)
        output.reserveCapacity(count)
        for (range, text) in edits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where range.lowerBound >= copied {
            output += self[copied..<range.lowerBound]
            output += text
            copied = range.upperBound
        }
        output += self[copied...]
        return output
    }

    /// The bytes with `text` for each `byte`.
    func replacing(_ byte: UInt8, with text: [UInt8]) -> [UInt8] { applying(places(of: byte).map { ($0..<$0 + 1, text) }) }

    /// The place of the first `byte` in a part. Tests are built without the optimizer, where it is faster than `firstIndex(of:)` by far.
    func first(_ byte: UInt8, in part: Range<Int>) -> Int? {
        withUnsafeBytes { bytes in
            bytes.baseAddress.flatMap { start in
                memchr(start + part.lowerBound, Int32(byte), part.count).map { UnsafeRawPointer($0) - start }
            }
        }
    }

    func has(_ mark: Character) -> Bool { first(mark.asciiValue ?? 0, in: 0..<count) != nil }

    private func places(of byte: UInt8) -> [Int] {
        var (places, start): ([Int], Int) = ([], 0)
        while let place = first(byte, in: start..<count) {
            places.append(place)
            start = place + 1
        }
        return places
    }

    /// The parts between the bytes `mark` in a part.
    func split(_ mark: Character, in part: Range<Int>) -> [Range<Int>] {
        var (pieces, start): ([Range<Int>], Int) = ([], part.lowerBound)
        while let end = first(mark.asciiValue ?? 0, in: start..<part.upperBound) {
            pieces.append(start..<end)
            start = end + 1
        }
        return pieces + [start..<part.upperBound]
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

    func has(text: String) -> Bool { firstOffset(of: Array(text.utf8)) != nil }

    /// The place of the first byte that is no space.
    var firstWordPlace: Int { firstIndex { $0 > 0x20 } ?? count }

    /// The text. What is no UTF-8 becomes U+FFFD.
    var text: String { String(decoding: self, as: UTF8.self) }

    func text(in range: Range<Int>) -> String { String(decoding: self[range], as: UTF8.self) }

    /// Whether these are text in UTF-8. Text has no NUL: UTF-16 has.
    var isUTF8: Bool { first(0, in: 0..<count) == nil && String(data: Data(self), encoding: .utf8) != nil }

    /// Whether a body without a type may be a form.
    var looksLikeForm: Bool { has("=") && !contains { $0 <= 0x20 || "<>{}\"".utf8.contains($0) } }
}

/// Bytes at which a search stops. It looks at each byte once and calls no closure, because tests are built without the optimizer.
struct ByteSet: Sendable {
    private var table = [Bool](repeating: false, count: 256)

    init(_ bytes: String) { for byte in bytes.utf8 { table[Int(byte)] = true } }

    /// The places of the bytes of this set.
    func places(in bytes: [UInt8]) -> [Int] {
        bytes.withUnsafeBufferPointer { buffer in
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

    func contains(_ byte: UInt8) -> Bool { table[Int(byte)] }
}

/// The byte that `%XX` stands for; `nil` if no such escape begins at `place`.
func percentEscape(_ bytes: [UInt8], at place: Int) -> UInt8? {
    guard place + 2 < bytes.count, bytes[place] == UInt8(ascii: "%"), let high = bytes[place + 1].hexValue,
        let low = bytes[place + 2].hexValue
    else { return nil }
    return high << 4 | low
}

extension UInt8 {
    var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }
}

extension Data {
    /// RFC 4648, section 5, without padding.
    init?(base64URL text: String) {
        let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }

    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}
