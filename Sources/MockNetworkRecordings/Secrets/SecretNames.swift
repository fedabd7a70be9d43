import APIProvider

/// The names under which values are secret.
struct SecretNames: Sendable {
    enum Rule {
        case anyText
        /// Any text of a request, and in a response a text that is not ordinary.
        case exceptOrdinaryTextInResponses
        case onlyInRequests

        /// Whether it hides a text.
        func hides(_ text: [UInt8], inResponse isInResponse: Bool) -> Bool {
            switch self {
            case .anyText: true
            case .exceptOrdinaryTextInResponses: !isInResponse || !text.isOrdinary
            case .onlyInRequests: !isInResponse
            }
        }
    }

    /// The names that the test hides and keeps beside the list, as words without their separators.
    private var hidden: Set<String>
    private let kept: Set<String>
    /// The names whose values change with each run.
    private let ignored: Set<String>

    init(hiding hidden: [String] = [], keeping kept: [String] = [], ignoring ignored: [String] = []) {
        (self.hidden, self.kept, self.ignored) = (Self.joined(hidden), Self.joined(kept), Self.joined(ignored))
    }

    /// The same names, and those that the test hides in `other`.
    func hidingThose(of other: SecretNames) -> SecretNames {
        var names = self
        names.hidden.formUnion(other.hidden)
        return names
    }

    private static func joined(_ names: [String]) -> Set<String> { Set(names.map { words(of: $0).joined() }) }

    /// The beginning of the name that a value gets in the file, such as `token`, and when it is secret; `nil` if `name` is not on the list.
    func secret(_ name: String, isNumber: Bool) -> (base: String, rule: Rule)? {
        var words = Self.words(of: name)
        guard !words.isEmpty, !isKept(words) else { return nil }
        if let base = Self.match(words, hidden) { return (base, .anyText) }
        while words.count > 1, Self.endings.contains(words[words.count - 1]) { words.removeLast() }
        if let base = Self.match(words, Self.strong) { return isNumber && !Self.numbers.contains(base) ? nil : (base, .anyText) }
        // In a signed URL, it cannot be anything else.
        let isSigned = words.count > 2 && words[0] == "x" && ["amz", "goog"].contains(words[1])
        if isNumber { return nil }
        if let base = Self.match(words, Self.weak) { return (base, isSigned ? .anyText : .exceptOrdinaryTextInResponses) }
        // `accesstoken` and `api_keys`.
        let last = words[words.count - 1]
        let singular = last.hasSuffix("s") ? words.dropLast() + [String(last.dropLast())] : words
        let base = Self.match(singular, Self.weak) ?? Self.weakEndings.first { singular[singular.count - 1].hasSuffix($0) }
        if let base { return (base, .exceptOrdinaryTextInResponses) }
        return Self.match(words, Self.namesInRequests).map { ($0, .onlyInRequests) }
    }

    /// Whether the test keeps the values of this name.
    func keeps(_ name: String) -> Bool { !kept.isEmpty && isKept(Self.words(of: name)) }

    private func isKept(_ words: [String]) -> Bool { !kept.isEmpty && Self.match(words, kept) != nil }

    /// The beginning of the name of a value that changes with each run; `nil` if the test does not ignore `name`.
    func ignored(_ name: String) -> String? {
        guard !ignored.isEmpty else { return nil }
        let words = Self.words(of: name)
        return ignored.contains(words.joined()) ? words.joined(separator: "-") : nil
    }

    /// The last of `words` that make a name of `list`, as many as do.
    private static func match(_ words: [String], _ list: Set<String>) -> String? {
        let longest = list.map(\.utf8.count).max() ?? 0
        var (ending, start) = ("", Int?.none)
        for (index, word) in words.enumerated().reversed() {
            ending = word + ending
            guard ending.utf8.count <= longest else { break }
            if list.contains(ending) { start = index }
        }
        return start.map { words[$0...].joined(separator: "-") }
    }

    /// The words of a name, in lower case: `accessToken`, `X-API-Key` and `user[password]` have two, three and two.
    static func words(of name: String) -> [String] {
        var (words, word): ([String], [UInt8]) = ([], [])
        func end() {
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word = []
        }
        let bytes = Array(name.utf8)
        for (index, byte) in bytes.enumerated() {
            guard byte.isLetter || byte >= 0x80 else {
                end()
                continue
            }
            let isAfterLower = index > 0 && bytes[index - 1].isLowercaseLetter
            let isBeforeLower = index + 1 < bytes.count && bytes[index + 1].isLowercaseLetter
            if byte.isUppercaseLetter, isAfterLower || isBeforeLower { end() }
            word.append(byte.lowercased)
        }
        end()
        return words
    }

    /// In a response, an ordinary text is secret only under these, and under those that the test hides.
    private static let strong: Set = [
        "password", "passwd", "pwd", "passphrase", "passcode", "pin", "otp", "cvv", "cvc", "cardnumber",
    ]
    private static let weak: Set = [
        "secret", "token", "apikey", "accesskey", "privatekey", "secretkey", "credential", "authorization", "sessionid", "csrf",
        "signature", "sig",
    ]
    /// The ends of words that are written as one, such as `csrfmiddlewaretoken`.
    private static let weakEndings = ["token", "secret", "apikey", "password"]
    /// Responses use these for much else.
    private static let namesInRequests = Set(["auth", "jwt", "appid"] + String.apiKeySuffixes)
    /// A number is secret only under these, and under those that the test hides.
    private static let numbers: Set = ["pin", "otp", "passcode", "pass-code", "cvv", "cvc", "card-number", "cardnumber"]
    /// A version such as `v2` is "v" here, because the words have no digits.
    private static let endings: Set = ["confirm", "confirmation", "again", "repeat", "hash", "value", "v"]
}
