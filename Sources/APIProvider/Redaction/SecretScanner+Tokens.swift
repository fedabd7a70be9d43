import Foundation

// Secrets that no name tells.
extension SecretScanner {
    /// Leaves out what stands behind the name of a scheme such as `Bearer` (RFC 9110, section 11.4), and returns where that ends.
    mutating func hideCredential(after scheme: Range<Int>, in surroundings: Surroundings) -> Int? {
        let end = surroundings.range.upperBound
        guard hidesSecrets, 4...9 ~= scheme.count, Self.schemes.contains(bytes[scheme]) else { return nil }
        // In a form, a space is a `+`.
        let isForm = hasPrefix("+", at: scheme.upperBound, to: end)
        let start = isForm ? scheme.upperBound + 1 : skipSpace(from: scheme.upperBound, to: end, overLines: false)
        let close = firstIndex(from: start, to: end) { $0.endsURL || "',;&()[]{}".utf8.contains($0) }
        let credential = bytes[start..<close]
        guard start > scheme.upperBound, !credential.isEmpty, !credential.elementsEqual("…".utf8),
            !Self.challenges.contains(Redaction.key(credential.prefix { $0 != UInt8(ascii: "=") })[...]),
            // As a word of English, it is not always a scheme.
            bytes[scheme.lowerBound].isUppercaseLetter || credential.count > 15 || !credential.allSatisfy(\.isLowercaseLetter)
        else { return nil }
        replace(start..<close, with: redactor.mark)
        return close
    }

    private static let schemes = Words("basic bearer dpop negotiate ntlm")
    /// What stands behind a scheme and is no credential: parameters of a challenge, and words of a sentence.
    private static let challenges = Words(
        "auth authentication authorization charset credential credentials error errordescription erroruri realm resourcemetadata scheme scope",
        "token tokens")

    /// Leaves out the tokens in a word that are known by their shape.
    ///
    /// - Parameter isCut: Whether the word may go on.
    mutating func hideTokens(in word: Range<Int>, isCut: Bool = false) {
        // The shortest token has nine bytes.
        guard hidesSecrets, word.count >= 9 else { return }
        var start = word.lowerBound
        while start < word.upperBound {
            let end = firstIndex(from: start, to: word.upperBound) { !$0.isWordByte && !$0.joinsWords }
            hideToken(in: start..<end, isCut: isCut)
            start = end + 1
        }
    }

    private mutating func hideToken(in word: Range<Int>, isCut: Bool) {
        if isSignedToken(word) { return replace(word, with: redactor.mark) }
        var end = word.upperBound
        while end > word.lowerBound, bytes[end - 1] == UInt8(ascii: ".") { end -= 1 }
        // An object of JSON in Base64 begins so.
        if hasPrefix("eyJ", at: word.lowerBound, to: end), !contains(UInt8(ascii: "."), in: word.lowerBound..<end) {
            return scanBase64(word.lowerBound..<end)
        }
        for start in word.lowerBound..<end where start == word.lowerBound || !bytes[start - 1].isWordByte {
            guard TokenShape.matches(bytes[start..<end], isCut: isCut) else { continue }
            return replace(start..<end, with: redactor.mark)
        }
    }

    /// Whether a word has three long parts, as those of a signed token, which look like no names.
    private func isSignedToken(_ word: Range<Int>) -> Bool {
        guard word.count >= 50 else { return false }
        let parts = bytes[word].split(separator: UInt8(ascii: "."), maxSplits: 3, omittingEmptySubsequences: false)
        return parts.count == 3
            && parts.allSatisfy { part in
                part.count >= 16 && part.contains(where: \.isDigit) && part.contains(where: \.isUppercaseLetter)
                    && part.contains(where: \.isLowercaseLetter)
            }
    }

    /// Goes over text in Base64 (RFC 4648), which is written anew if there is a secret in it.
    mutating func scanBase64(_ range: Range<Int>) {
        let text = bytes[range].prefix(range.count / 4 * 4 + (isCut ? 0 : range.count % 4)).map { byte in
            byte == UInt8(ascii: "-") ? UInt8(ascii: "+") : byte == UInt8(ascii: "_") ? UInt8(ascii: "/") : byte
        }
        let padding = [UInt8](repeating: UInt8(ascii: "="), count: (4 - text.count % 4) % 4)
        guard let data = Data(base64Encoded: Data(text + padding)), String(data: data, encoding: .utf8) != nil,
            let result = scanner(of: Array(data))?.result
        else { return }
        replace(range, with: redactor.style == .recording ? Array(Data(result).base64EncodedData()) : redactor.mark)
    }
}
