import APIProvider
import APIProviderMocks
import Foundation

/// Tries to find secrets in what is about to be written, however they are written there.
///
/// Text is decoded until nothing changes: escapes of JSON, JavaScript, URLs and HTML in any order, UTF-16, and Base64. A secret of fewer
/// than eight bytes is not looked for, and one that is split over two texts is not found.
struct SecretCheck: Sendable {
    private let search: TextSearch
    /// For each text of the search, the index of its secret.
    private let owners: [Int]

    init(_ secrets: [String]) {
        // A variant may be a secret of its own.
        let known = Set(secrets.map { Array($0.utf8) })
        let texts = secrets.enumerated().flatMap { index, secret in
            Self.forms(of: secret).filter { $0.elementsEqual(secret.utf8) || !known.contains($0) }.map { (text: $0, secret: index) }
        }
        (search, owners) = (TextSearch(texts.map(\.text)), texts.map(\.secret))
    }

    /// The bytes that the secret has where all is decoded: each variant of it, as it is and in other charsets.
    private static func forms(of secret: String) -> Set<[UInt8]> {
        let encodings: [String.Encoding] = secret.utf8.allSatisfy { $0 < 0x80 } ? [] : [.utf16LittleEndian, .utf16BigEndian, .isoLatin1]
        let plain = secret.variants.flatMap { text -> [[UInt8]] in
            [Array(text.utf8)] + encodings.compactMap { text.data(using: $0) }.map { $0.filter { $0 != 0 } }
        }
        return Set(plain + plain.map { $0.decodingEscapes().replacing([UInt8(ascii: "+")], with: [0x20]) })
    }

    /// The places of secrets in a text, in any notation but Base64.
    func places(in bytes: [UInt8]) -> [(range: Range<Int>, secret: Int)] {
        guard !owners.isEmpty else { return [] }
        let decoded = DecodedText(bytes)
        let found = Self.forms(of: bytes, decoded.bytes).enumerated().flatMap { index, text in
            search.matches(in: text).map { (range: index == 0 ? $0.range : decoded.sourceRange($0.range), secret: owners[$0.text]) }
        }
        // Longer ones first, where several begin.
        return found.sorted { ($0.range.lowerBound, $1.range.count) < ($1.range.lowerBound, $0.range.count) }
    }

    /// The text as it came, decoded, and with spaces as forms have them.
    private static func forms(of text: [UInt8], _ plain: [UInt8]) -> [[UInt8]] {
        // Each escape is longer than what it stands for.
        [text] + (plain.count < text.count ? [plain] : [])
            + (plain.contains("+") ? [plain.replacing([UInt8(ascii: "+")], with: [0x20])] : [])
    }

    /// The indices of the secrets that stand in `bytes`.
    func secrets(in bytes: [UInt8]) -> Set<Int> {
        var (text, found): ([UInt8], Set<Int>) = (bytes, [])
        guard !owners.isEmpty else { return found }
        // Base64 may have Base64 in it.
        for _ in 0..<3 where text.count >= 8 {
            let plain = text.decodingEscapes()
            for match in Self.forms(of: text, plain).flatMap({ search.matches(in: $0) }) { found.insert(owners[match.text]) }
            text = plain.decodingBase64()
        }
        return found
    }
}

extension String {
    /// The text, in both cases if it is hexadecimal, and with each `é` of one scalar and of two.
    fileprivate var variants: [String] {
        if utf8.allSatisfy({ $0.hexValue != nil || $0 == UInt8(ascii: "-") }) { return [self, lowercased(), uppercased()] }
        return [self]
            + (utf8.allSatisfy { $0 < 0x80 } ? [] : [precomposedStringWithCanonicalMapping, decomposedStringWithCanonicalMapping])
    }
}

// MARK: - Base64

/// The number of each character of Base64, that of RFC 4648 and that for URLs.
private let sextets: [UInt8] = {
    var sextets = [UInt8](repeating: 0xFF, count: 256)
    for (value, byte) in "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/".utf8.enumerated() {
        sextets[Int(byte)] = UInt8(value)
    }
    (sextets[Int(UInt8(ascii: "-"))], sextets[Int(UInt8(ascii: "_"))]) = (62, 63)
    return sextets
}()

extension [UInt8] {
    /// What each word of eleven characters or more would be in Base64. A shorter one has no secret of eight bytes.
    ///
    /// A word goes on behind a line break and the spaces after it. Other characters may stand right in front of the Base64, so a word is
    /// decoded four times: from each of its first four characters.
    fileprivate func decodingBase64() -> [UInt8] {
        // The loops call no function, because tests are built without the optimizer.
        [UInt8](unsafeUninitializedCapacity: 4 * count) { output, size in
            var buffer = [UInt8](repeating: 0, count: count)
            withUnsafeBufferPointer { text in
                sextets.withUnsafeBufferPointer { sextets in
                    buffer.withUnsafeMutableBufferPointer { buffer in
                        guard let bytes = text.baseAddress, let sextets = sextets.baseAddress, let word = buffer.baseAddress,
                            let output = output.baseAddress
                        else { return }
                        var (place, length, isAfterBreak) = (0, 0, false)
                        let count = text.count
                        while place <= count {
                            let byte = place < count ? bytes[place] : 0
                            place &+= 1
                            if sextets[Int(byte)] < 64 {
                                word[length] = sextets[Int(byte)]
                                length &+= 1
                                isAfterBreak = false
                                continue
                            }
                            if byte == 0x0A || byte == 0x0D { isAfterBreak = true }
                            if isAfterBreak, byte == 0x0A || byte == 0x0D || byte == 0x20 || byte == 0x09 { continue }
                            isAfterBreak = false
                            var start = length < 11 ? 4 : 0
                            while start < 4 {
                                var (next, bits): (Int, UInt32) = (start, 0)
                                while next < length {
                                    bits = bits &<< 6 | UInt32(truncatingIfNeeded: word[next])
                                    let digit = (next &- start) & 3
                                    if digit > 0 {
                                        output[size] = UInt8(truncatingIfNeeded: bits &>> UInt32(truncatingIfNeeded: 6 &- 2 &* digit))
                                        size &+= 1
                                    }
                                    next &+= 1
                                }
                                output[size] = 0x20
                                size &+= 1
                                start &+= 1
                            }
                            length = 0
                        }
                    }
                }
            }
        }
    }
}
