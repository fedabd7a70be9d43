import APIProvider
import Foundation
import MockNetwork

/// Tries to find secrets in what is about to be written, however they are written there. It knows nothing of how they were replaced.
///
/// Text is decoded until nothing changes: escapes of JSON, URLs and HTML in any order, UTF-16, and Base64. A secret of fewer than eight
/// bytes is not looked for, and one that is split over two texts is not found.
struct SecretCheck: Sendable {
    private let search: TextSearch
    /// For each text of the search, the index of its secret.
    private let owners: [Int]

    init(_ secrets: [String]) {
        var (texts, owners): ([[UInt8]], [Int]) = ([], [])
        for (index, secret) in secrets.enumerated() {
            for text in Set(Self.forms(of: secret)) {
                texts.append(text)
                owners.append(index)
            }
        }
        (search, self.owners) = (TextSearch(texts), owners)
    }

    /// The bytes that the secret has where all is decoded: as it is, in other charsets, and in both cases if it is hexadecimal.
    private static func forms(of secret: String) -> [[UInt8]] {
        let texts = secret.inBothCases
        let encodings: [String.Encoding] = secret.utf8.allSatisfy { $0 < 0x80 } ? [] : [.utf16LittleEndian, .utf16BigEndian, .isoLatin1]
        let others = encodings.compactMap { secret.data(using: $0) }.map { $0.filter { $0 != 0 } }
        let plain = texts.map { Array($0.utf8) } + others.map { Array($0) }
        return plain + plain.map { $0.decodingEscapes().replacing(UInt8(ascii: "+"), with: [0x20]) }
    }

    /// The indices of the secrets that stand in `bytes`, and of those that stand there in Base64.
    func secrets(in bytes: [UInt8]) -> (all: Set<Int>, inBase64: Set<Int>) {
        var (all, inBase64): (Set<Int>, Set<Int>) = ([], [])
        var texts = [bytes]
        // Base64 may have Base64 in it.
        for level in 0..<3 {
            texts = texts.flatMap { text -> [[UInt8]] in
                let plain = text.decodingEscapes()
                let found = [text, plain, plain.replacing(UInt8(ascii: "+"), with: [0x20])].flatMap { search.matches(in: $0) }
                for match in found {
                    all.insert(owners[match.text])
                    if level > 0 { inBase64.insert(owners[match.text]) }
                }
                return ["", "+/", "-_"].map { plain.decodingBase64Words(marks: $0) }.filter { !$0.isEmpty }
            }
        }
        return (all, inBase64)
    }
}

// MARK: - Decoding

extension String {
    /// The text, and in both cases if it is hexadecimal.
    var inBothCases: Set<String> {
        utf8.allSatisfy { $0.hexValue != nil || $0 == UInt8(ascii: "-") } ? [self, lowercased(), uppercased()] : [self]
    }
}

extension [UInt8] {
    /// What each word of twelve characters or more is if it is Base64, with a line break between two words.
    ///
    /// - Parameter marks: The characters that a word may have beside letters and digits, such as `-` and `_`.
    fileprivate func decodingBase64Words(marks: String) -> [UInt8] {
        var values = [UInt32](repeating: 64, count: 256)
        for (value, byte) in ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + marks).utf8.enumerated() {
            values[Int(byte)] = UInt32(value)
        }
        return [UInt8](unsafeUninitializedCapacity: count + 1) { output, size in
            withUnsafeBufferPointer { buffer in
                values.withUnsafeBufferPointer { table in
                    guard let bytes = buffer.baseAddress, let values = table.baseAddress, let output = output.baseAddress else { return }
                    var (place, start, written, bits): (Int, Int, Int, UInt32) = (0, 0, 0, 0)
                    let count = buffer.count
                    while place <= count {
                        let value = place < count ? values[Int(bytes[place])] : 64
                        if value < 64 {
                            bits = bits &<< 6 | value
                            let digit = (place &- start) & 3
                            if digit > 0 {
                                output[written] = UInt8(truncatingIfNeeded: bits &>> UInt32(truncatingIfNeeded: 6 &- 2 &* digit))
                                written &+= 1
                            }
                        } else {
                            let length = place &- start
                            // A shorter word has no secret of eight bytes.
                            if length < 11 {
                                written &-= length &- (length &+ 3) / 4
                            } else {
                                output[written] = 0x0A
                                written &+= 1
                            }
                            start = place &+ 1
                        }
                        place &+= 1
                    }
                    size = written
                }
            }
        }
    }
}
