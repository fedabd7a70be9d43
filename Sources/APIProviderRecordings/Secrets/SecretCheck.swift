import APIProvider
import APIProviderMocks
import Foundation

/// Finds secrets of eight bytes or more in any notation.
///
/// Decodes the escapes of JSON, JavaScript, URLs and HTML in any order, UTF-16, and Base64. Does not find a secret split over two texts.
struct SecretCheck: Sendable {
    private let search: TextSearch
    /// The index of the secret for each text of the search.
    private let owners: [Int]

    init(_ secrets: [String]) {
        // A variant may be another secret.
        let known = Set(secrets.map { Array($0.utf8) })
        let texts = secrets.enumerated().flatMap { index, secret in
            Self.forms(of: secret).filter { $0.elementsEqual(secret.utf8) || !known.contains($0) }.map { (text: $0, secret: index) }
        }
        (search, owners) = (TextSearch(texts.map(\.text)), texts.map(\.secret))
    }

    /// The decoded bytes of each variant, in UTF-8 and other charsets.
    private static func forms(of secret: String) -> Set<[UInt8]> {
        let encodings: [String.Encoding] = secret.utf8.allSatisfy { $0 < 0x80 } ? [] : [.utf16LittleEndian, .utf16BigEndian, .isoLatin1]
        let plain = secret.variants.flatMap { text -> [[UInt8]] in
            [Array(text.utf8)] + encodings.compactMap { text.data(using: $0) }.map { $0.filter { $0 != 0 } }
        }
        return Set(plain + plain.map { $0.decodingEscapes().withSpacesForPluses })
    }

    /// The secrets' places in a text, in any notation but Base64.
    func places(in bytes: [UInt8]) -> [(range: Range<Int>, secret: Int)] {
        guard !owners.isEmpty else { return [] }
        let decoded = DecodedText(bytes)
        let found = Self.forms(of: bytes, decoded.bytes).enumerated().flatMap { index, text in
            search.matches(in: text).map { (range: index == 0 ? $0.range : decoded.sourceRange($0.range), secret: owners[$0.text]) }
        }
        // The longest first, of several with one beginning.
        return found.sorted { ($0.range.lowerBound, $1.range.count) < ($1.range.lowerBound, $0.range.count) }
    }

    /// The text, the decoded text, and the latter with a form's spaces.
    private static func forms(of text: [UInt8], _ plain: [UInt8]) -> [[UInt8]] {
        // Each escape is longer than its character.
        [text] + (plain.count < text.count ? [plain] : [])
            + (plain.contains("+") ? [plain.withSpacesForPluses] : [])
    }

    /// The indices of the secrets in `bytes`.
    func secrets(in bytes: [UInt8]) -> Set<Int> {
        var (text, found): ([UInt8], Set<Int>) = (bytes, [])
        guard !owners.isEmpty else { return found }
        // Base64 may contain Base64.
        for _ in 0..<3 where text.count >= 8 {
            let plain = text.decodingEscapes()
            for match in Self.forms(of: text, plain).flatMap({ search.matches(in: $0) }) { found.insert(owners[match.text]) }
            text = plain.decodingBase64()
        }
        return found
    }
}

extension String {
    /// The text: hexadecimal digits in both cases, and each `é` with one scalar and with two.
    fileprivate var variants: [String] {
        if utf8.allSatisfy({ $0.hexValue != nil || $0 == UInt8(ascii: "-") }) { return [self, lowercased(), uppercased()] }
        return [self]
            + (utf8.allSatisfy { $0 < 0x80 } ? [] : [precomposedStringWithCanonicalMapping, decomposedStringWithCanonicalMapping])
    }
}

// MARK: - Base64

extension [UInt8] {
    /// The text's Base64 characters, decoded from each of the first four. Other characters, such as line breaks, do not count.
    fileprivate func decodingBase64() -> [UInt8] {
        let alphabet = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/-_"
        let digits = places(ofAny: alphabet).map { place in
            switch self[place] {
            case UInt8(ascii: "-"): UInt8(ascii: "+")
            case UInt8(ascii: "_"): UInt8(ascii: "/")
            case let byte: byte
            }
        }
        return (0..<4).flatMap { start -> [UInt8] in
            let text = Data(digits.dropFirst(start)) + Data("AAAA".utf8)
            return [UInt8](Data(base64Encoded: text.prefix(text.count / 4 * 4)) ?? Data()) + [0x20]
        }
    }
}
