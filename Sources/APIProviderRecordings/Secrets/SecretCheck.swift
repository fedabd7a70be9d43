import APIProvider
import APIProviderMocks
import Foundation

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
        return plain + plain.map { $0.decodingEscapes().replacing([UInt8(ascii: "+")], with: [0x20]) }
    }

    /// The indices of the secrets that stand in `bytes`.
    func secrets(in bytes: [UInt8]) -> Set<Int> {
        var found: Set<Int> = []
        guard bytes.count >= 8, !owners.isEmpty else { return found }
        var texts = [bytes]
        // Base64 may have Base64 in it.
        for _ in 0..<3 {
            texts = texts.flatMap { text -> [[UInt8]] in
                let plain = text.decodingEscapes()
                // Each escape is longer than what it stands for.
                let forms =
                    [text] + (plain.count < text.count ? [plain] : [])
                    + (plain.contains("+") ? [plain.replacing([UInt8(ascii: "+")], with: [0x20])] : [])
                for match in forms.flatMap({ search.matches(in: $0) }) { found.insert(owners[match.text]) }
                return Base64Words.decodings(of: plain)
            }
        }
        return found
    }
}

// MARK: - Decoding

extension String {
    /// The text, and in both cases if it is hexadecimal.
    var inBothCases: Set<String> {
        utf8.allSatisfy { $0.hexValue != nil || $0 == UInt8(ascii: "-") } ? [self, lowercased(), uppercased()] : [self]
    }
}

/// Decodes the words of a text that may be Base64.
private struct Base64Words {
    /// With the marks that a word may have beside letters and digits: none, as a part of another word, those of RFC 4648, section 4, and those
    /// for URLs.
    private static let notations = ["", "+/", "-_"].map { (marks: $0, words: Base64Words(marks: $0)) }

    static func decodings(of text: [UInt8]) -> [[UInt8]] {
        guard text.count >= 11 else { return [] }
        return notations.filter { $0.marks.isEmpty || $0.marks.contains { text.contains("\($0)") } }.map { $0.words.decoded(text) }.filter {
            !$0.isEmpty
        }
    }

    /// The number of each character; 64 if it ends a word.
    private var values = [UInt32](repeating: 64, count: 256)

    private init(marks: String) {
        for (value, byte) in ("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789" + marks).utf8.enumerated() {
            values[Int(byte)] = UInt32(value)
        }
    }

    /// What each word of eleven characters or more would be, with a line break after each. The loop calls no function.
    func decoded(_ text: [UInt8]) -> [UInt8] {
        [UInt8](unsafeUninitializedCapacity: text.count + 1) { output, size in
            text.withUnsafeBufferPointer { text in
                values.withUnsafeBufferPointer { values in
                    guard let bytes = text.baseAddress, let values = values.baseAddress, let output = output.baseAddress else { return }
                    var (place, start, bits): (Int, Int, UInt32) = (0, 0, 0)
                    let count = text.count
                    while place <= count {
                        let value = place < count ? values[Int(bytes[place])] : 64
                        let length = place &- start
                        if value < 64 {
                            bits = bits &<< 6 | value
                            let digit = length & 3
                            if digit > 0 {
                                output[size] = UInt8(truncatingIfNeeded: bits &>> UInt32(truncatingIfNeeded: 6 &- 2 &* digit))
                                size &+= 1
                            }
                        } else {
                            // A shorter word has no secret of eight bytes.
                            if length < 11 { size &-= length &- (length &+ 3) / 4 }
                            if length >= 11 {
                                output[size] = 0x0A
                                size &+= 1
                            }
                            start = place &+ 1
                        }
                        place &+= 1
                    }
                }
            }
        }
    }
}
