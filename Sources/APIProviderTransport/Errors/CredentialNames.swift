import MiniRx

extension String {
    /// Whether a header, query item or field with this name is a credential, for error texts, cURL commands and reports. These may hide too
    /// much, so a listed word may stand anywhere: `id_token_hint`, `secretAnswer`.
    package var namesCredential: Bool {
        let name = lowercased()
        return CredentialNames.contains(self) || !name.hasSuffix("type") && CredentialNames.keywords.contains(where: name.hasScalars)
    }
}

/// The names of credentials, and how certain each is. Errors, reports and recordings hide values with such names.
///
/// The last words of a name count, without endings such as `_hash` and `_v2`: `accessToken`, `user[password]`, `X-API-Key`,
/// `password_confirm`, and not `token_type`.
package enum CredentialNames {
    /// How certainly a value with this name is a secret.
    package enum Strength: Sendable {
        /// Even a number, and a short word in a response.
        case code
        /// Even a short word in a response.
        case password
        /// In a response, a word such as "none" is something else.
        case token
        /// Responses use such a name for much else, and so do requests for short words.
        case key
        /// Created by the app in each run: a request's secret if the value looks random.
        case nonce
    }

    /// Whether a value with this name is a credential, and not just created in each run.
    package static func contains(_ name: String) -> Bool { match(name).map { $0.strength != .nonce } == true }

    /// The listed words that end `name`, joined by hyphens, and how certain they are; `nil` for an unlisted name.
    package static func match(_ name: String) -> (label: String, strength: Strength)? {
        // Equal Strings may have other bytes.
        if let known = known.withLock({ $0[name] }), known.name.hasSameBytes(as: name) { return known.match }
        let match = find(name)
        // A large body has many values, each with a name to match.
        known.withLock { known in
            if known.count > 10_000 { known = [:] }
            known[name] = (name, match)
        }
        return match
    }

    private static let known = Locked<[String: (name: String, match: (label: String, strength: Strength)?)]>([:])

    private static func find(_ name: String) -> (label: String, strength: Strength)? {
        var words = words(of: name)
        while let last = words.last, endings.contains(last) { words.removeLast() }
        guard let last = words.last else { return nil }
        // Other names ending in "key", such as `sortKey` and `Idempotency-Key`, are no credentials.
        if words == ["key"] || words == ["x", "key"] { return ("key", .key) }
        if let match = match(words) { return match }
        if last.hasSuffix("s"), let match = match(words.dropLast() + [String(last.dropLast())]) { return match }
        // In one word: `accesstoken`, `newpassword`.
        let end = words.suffix(2).joined()
        return joinedEndings.first { end.hasSuffix($0) || end.hasSuffix("\($0)s") }.flatMap { match([$0]) }
    }

    private static func match(_ words: [String]) -> (label: String, strength: Strength)? {
        for count in (1...3).reversed() where count <= words.count {
            let ending = words.suffix(count)
            let name = ending.joined()
            if let list = lists.first(where: { $0.names.contains(name) }) { return (ending.joined(separator: "-"), list.strength) }
        }
        return nil
    }

    /// Of a name in two lists, the first counts.
    private static let lists: [(strength: Strength, names: Set<String>)] = {
        let keys = """
            app application auth client consumer encryption functions license master server session shared signing subscription unseal webhook \
            write
            """
        let tokens = """
            token secret credential authorization signature sig csrf xsrf apikey accesskey secretkey privatekey accountkey sessionid sessid \
            assertion secretid authorizationcode samlresponse backupcode confirmationcode devicecode mfacode oobcode recoverycode securitycode \
            verificationcode
            """
        func words(_ text: String, suffix: String = "") -> Set<String> { Set(text.parts(between: UInt8(ascii: " ")).map { $0 + suffix }) }
        return [
            (.code, words("pin otp totp passcode cvv cvc cardnumber cardsnumber")), (.password, words("password passwd pwd pw passphrase")),
            (.token, words(tokens)),
            (.key, words("auth jwt appid session cookie codeverifier codechallenge").union(words(keys, suffix: "key"))),
            (.nonce, words("state nonce")),
        ]
    }()
    /// Words that occur in no other word, unlike "sig" in "design".
    fileprivate static let keywords = [
        "token", "secret", "password", "passwd", "passphrase", "cookie", "session", "signature", "authorization", "credential", "csrf",
        "jwt",
    ]
    private static let joinedEndings = [
        "token", "secret", "apikey", "accesskey", "secretkey", "password", "passphrase", "sessionid", "sessid",
    ]
    /// A version such as `v2` is "v" here, because words have no digits.
    private static let endings: Set = ["confirm", "confirmation", "again", "repeat", "hash", "value", "v"]

    /// A name's words, in lowercase: `accessToken`, `X-API-Key` and `user[password]` have two, three and two.
    package static func words(of name: String) -> [String] {
        var (words, word): ([String], [UInt8]) = ([], [])
        func end() {
            if !word.isEmpty { words.append(String(decoding: word, as: UTF8.self)) }
            word = []
        }
        let bytes = Array(name.utf8)
        func isLower(_ byte: UInt8) -> Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= byte }
        func isUpper(_ byte: UInt8) -> Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= byte }
        for (index, byte) in bytes.enumerated() {
            guard isLower(byte) || isUpper(byte) || byte >= 0x80 else {
                end()
                continue
            }
            let isAfterLower = index > 0 && isLower(bytes[index - 1])
            let isBeforeLower = index + 1 < bytes.count && isLower(bytes[index + 1])
            if isUpper(byte), isAfterLower || isBeforeLower { end() }
            word.append(isUpper(byte) ? byte | 0x20 : byte)
        }
        end()
        return words
    }
}
