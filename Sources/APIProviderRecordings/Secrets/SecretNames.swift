import APIProvider

/// The names under which the values of a recording are secret: those of the list, and what the test hides and keeps.
struct SecretNames: Sendable {
    /// Names that the test gives, exactly as they are written. Those of headers are case-insensitive.
    struct Given: Sendable {
        let names: Set<String>
        private let lowercased: Set<String>

        init(_ names: [String]) { (self.names, lowercased) = (Set(names), Set(names.map { $0.lowercased() })) }

        func contains(_ name: String, isHeader: Bool) -> Bool {
            !names.isEmpty && (isHeader ? lowercased.contains(name.lowercased()) : names.contains(name))
        }
    }

    let hidden: Given
    let kept: Given

    init(hiding hidden: [String] = [], keeping kept: [String] = []) { (self.hidden, self.kept) = (Given(hidden), Given(kept)) }

    /// The beginning of the placeholder of a value, such as `token`; `nil` if its names say nothing.
    func label(of value: NamedValue, inResponse isInResponse: Bool) -> String? {
        let isHeader = value.kind == .header
        if value.kind == .credential { return CredentialNames.match(value.name)?.label ?? "authorization" }
        if hidden.contains(value.name, isHeader: isHeader) { return Self.hiddenLabel(value.name) }
        if let name = value.enclosing.last(where: { hidden.contains($0, isHeader: false) }) { return Self.hiddenLabel(name) }
        guard !kept.contains(value.name, isHeader: isHeader) else { return nil }
        if value.kind == .cookie { return CredentialNames.match(value.name)?.label ?? "cookie" }
        if let (label, strength) = CredentialNames.match(value.name) {
            return hides(value, strength, inResponse: isInResponse) ? label : nil
        }
        // What stands in an object stands there as if it had the object's name, but for numbers.
        guard value.kind != .number else { return nil }
        return value.enclosing.reversed().lazy.compactMap { CredentialNames.match($0) }.first.flatMap { label, strength in
            hides(value, strength, inResponse: isInResponse) ? label : nil
        }
    }

    private static func hiddenLabel(_ name: String) -> String {
        let words = CredentialNames.words(of: name).joined(separator: "-")
        return words.isEmpty ? "hidden" : words
    }

    private func hides(_ value: NamedValue, _ strength: CredentialNames.Strength, inResponse isInResponse: Bool) -> Bool {
        let text = value.text
        if value.kind == .number { return strength == .code }
        // A sentence is for the user: "is too short".
        if isInResponse, text.utf8.contains(0x20) { return false }
        switch strength {
        case .code, .password: return true
        case .token: return !isInResponse || !text.isCommon
        case .key: return !isInResponse && (value.kind == .header || !text.isCommon && !text.isWords)
        case .nonce: return !isInResponse && text.looksRandom
        }
    }
}

// MARK: - Kinds of texts

extension String {
    /// Whether it may stand elsewhere by chance: it has under 8 bytes, or is a word of letters of one case.
    var isCommon: Bool { utf8.count < 8 || utf8.count <= 20 && (utf8.allSatisfy(\.isLowercaseLetter) || utf8.allSatisfy(\.isUppercaseLetter)) }

    /// Whether it is words and numbers, joined by the marks of names: `eu-west-1`, `Europe/Berlin`, `octocat-dev42`.
    var isWords: Bool {
        utf8.split(omittingEmptySubsequences: false) { "-_./".utf8.contains($0) }.allSatisfy { part in
            let letters = part.prefix { $0.isLowercaseLetter || $0.isUppercaseLetter }, digits = part.dropFirst(letters.count)
            let isOneCase = letters.dropFirst().allSatisfy(\.isLowercaseLetter) || letters.allSatisfy(\.isUppercaseLetter)
            return letters.count <= 20 && isOneCase && digits.count <= (letters.isEmpty ? 10 : 4) && digits.allSatisfy(\.isDigit)
        }
    }

    /// Whether a program may have made it by chance: 12 bytes or more with letters and digits, and neither a space, words, a date nor a URL.
    var looksRandom: Bool {
        let bytes = utf8
        return bytes.count >= 12 && !bytes.contains { $0 <= 0x20 } && bytes.contains(where: \.isDigit)
            && bytes.contains { $0.isLowercaseLetter || $0.isUppercaseLetter } && !isWords && !contains("://")
            && wholeMatch(of: /[0-9]{4}-[0-9]{2}-[0-9]{2}T[0-9:.+Z-]+/) == nil
    }
}
