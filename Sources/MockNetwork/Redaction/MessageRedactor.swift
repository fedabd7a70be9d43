import APIProvider
import Foundation

/// Removes words that look like a token from text in reports: words in which letters and digits are mixed, and long numbers.
enum MessageRedactor {
    /// The text with `mark` for words that look like a token, and for the values in the queries of URLs.
    static func redacted(_ text: String, as mark: String = "…") -> String {
        let bytes = Array(text.utf8)
        var output: [UInt8] = []
        var position = 0
        while position < bytes.count {
            let end = bytes[position...].firstIndex(where: \.endsWord) ?? bytes.count
            if end < bytes.count, end > position, bytes[end...].starts(with: "://".utf8) {
                let close = bytes[end...].firstIndex(where: \.endsURL) ?? bytes.count
                output += redacted(url: String(decoding: bytes[position..<close], as: UTF8.self), as: mark).utf8
                position = close
            } else if end == position {
                // JSON within text cannot be checked word by word, so the rest is left out.
                if bytes[end] == UInt8(ascii: "{"), bytes[(end + 1)...].first(where: { $0 != 0x20 && $0 != UInt8(ascii: "\\") }) == 0x22 {
                    return String(decoding: output, as: UTF8.self) + "{" + mark
                }
                output.append(bytes[end])
                position += 1
            } else {
                output += redacted(bytes[position..<end], as: mark)
                position = end
            }
        }
        return String(decoding: output, as: UTF8.self)
    }

    /// A word, or a path whose segments are words.
    private static func redacted(_ word: ArraySlice<UInt8>, as mark: String) -> [UInt8] {
        guard word.first == UInt8(ascii: "/") else { return looksSecret(word) ? Array(mark.utf8) : Array(word) }
        let segments = word.split(separator: UInt8(ascii: "/"), omittingEmptySubsequences: false)
        return Array(segments.map { looksSecret($0) ? Array(mark.utf8) : Array($0) }.joined(separator: [UInt8(ascii: "/")]))
    }

    /// A URL without the values of its query. A fragment stays if it names a place in the page.
    private static func redacted(url: String, as mark: String) -> String {
        let url = URLText(url)
        let fragment = url.fragment.map { !$0.contains("=") && !looksSecret($0) ? "#\($0)" : "#\(mark)" } ?? ""
        return url.redacted {
            String(decoding: redacted(Array($0.utf8)[...], as: mark), as: UTF8.self)
        } query: {
            URLText.items($0) { name, value in value == nil ? mark : "\(redacted(itemName: name, hasValue: true, as: mark))=\(mark)" }
        } + fragment
    }

    /// Returns the name of an item in a query or a form, or `mark` if it looks like a token.
    static func redacted(itemName name: Substring, hasValue: Bool, as mark: String = "…") -> Substring {
        looksSecret(name.formDecoded) && (!hasValue || name.utf8.count >= 16) ? mark[...] : name
    }

    // MARK: - Words

    static func looksSecret(_ text: some StringProtocol) -> Bool { looksSecret(Array(text.utf8)[...]) }

    static func looksSecret(_ word: ArraySlice<UInt8>) -> Bool {
        guard word.contains(where: \.isDigit) else { return false }
        let pieces = word.split { !$0.isLetterOrDigit }
        let length = pieces.reduce(0) { $0 + $1.count }
        let numbers = pieces.filter { $0.allSatisfy(\.isDigit) }
        if numbers.contains(where: { $0.count >= 13 }) || pieces.contains(where: isMixed) { return true }
        // The parts of a licence key or of a token with hyphens may each be letters or digits alone: `ABCD-1234-EFGH-5678`.
        let isIdentifier = word.allSatisfy { $0.isLetterOrDigit || $0 == UInt8(ascii: "_") || $0 == UInt8(ascii: ".") }
        return length >= 16 && !numbers.isEmpty && numbers.count < pieces.count && (!isIdentifier || numbers.contains { $0.count >= 5 })
    }

    /// Whether letters and digits are mixed.
    private static func isMixed(_ piece: ArraySlice<UInt8>) -> Bool {
        guard piece.count > 4, piece.contains(where: \.isDigit), !piece.allSatisfy(\.isDigit) else { return false }
        // A number with a unit, such as 1024px.
        let unit = piece.drop(while: \.isDigit)
        if piece.first?.isDigit == true, unit.count <= 2, piece.count <= 8, !unit.contains(where: \.isDigit) { return false }
        // Short words are often a name with a number, such as item1 or http2.
        return piece.count > 5 || piece.first?.isDigit == false && piece.last?.isDigit == false
    }
}

extension UInt8 {
    /// Every byte that is not ASCII counts as a part of a letter.
    fileprivate var isLetterOrDigit: Bool { isDigit || isLowercaseLetter || isUppercaseLetter || self >= 0x80 }

    fileprivate var endsWord: Bool { wordEnds[Int(self)] }

    fileprivate var endsURL: Bool { urlEnds[Int(self)] }
}

private let wordEnds = table("\"'`()[]{}<>,;:=|")
private let urlEnds = table("\"'`()<>{}|\\")

/// For each byte, whether it is white space or one of `marks`.
private func table(_ marks: String) -> [Bool] { (0...255).map { $0 <= 0x20 || marks.utf8.contains($0) } }
