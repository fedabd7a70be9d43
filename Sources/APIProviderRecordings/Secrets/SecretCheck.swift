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

    /// The indices of the secrets in a part of a message. A picture, an archive or a film is searched as it is.
    func secrets(in part: Message.Part) -> Set<Int> {
        part.isMedia ? Set(search.matches(in: part.bytes).map { owners[$0.text] }) : secrets(in: part.bytes)
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
        let plain = places(ofAny: "-_=").reduce(into: Data(self)) { text, place in
            text[place] = UInt8(ascii: text[place] == UInt8(ascii: "-") ? "+" : text[place] == UInt8(ascii: "_") ? "/" : " ")
        }
        func padding(_ count: Int) -> Data { Data(repeating: UInt8(ascii: "A"), count: count) }
        return (0..<4).flatMap { start -> [UInt8] in
            let decoded = (0..<4).lazy.compactMap { end in
                Data(base64Encoded: padding(start) + plain + padding(end), options: .ignoreUnknownCharacters)
            }
            return [UInt8](decoded.first ?? Data()) + [0x20]
        }
    }
}
