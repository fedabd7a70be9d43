/// The name of a header, a parameter or a field, taken apart to see whether it is that of a secret.
package struct SecretName {
    /// What a name is that of. A few words name a secret only in some places: `code` in a form, but not in JSON.
    package enum Kind: Sendable { case header, parameter, field }

    /// How much of a value is secret.
    enum Secrecy {
        case none
        /// A string or a number, but not an object or an array, which is looked into.
        case scalar
        /// All of it, with whatever is nested in it.
        case whole
    }

    /// What its value is to another that stands beside it, as in `{"name": "password", "value": "…"}`.
    enum Role { case label, value }

    /// The letters and digits in lower case, without digits at the end: `xapikey` for `X-Api-Key-2`.
    private var letters: [UInt8] = []
    /// Where in `letters` words begin.
    private var starts: [Int] = []

    /// Longer names are cut, at their beginning.
    private static let maximum = 200

    init(_ name: some BidirectionalCollection<UInt8>) {
        letters.reserveCapacity(32)
        var (isApart, wasUpper, wasLower) = (true, false, false)
        for byte in name.suffix(Self.maximum) {
            guard byte.isWordByte else {
                isApart = true
                continue
            }
            let isUpper = byte.isUppercaseLetter
            if isApart || isUpper && wasLower {
                starts.append(letters.count)
            } else if !isUpper, wasUpper, !byte.isDigit {
                // `APIKey`: the word has begun one letter before.
                starts.append(letters.count - 1)
            }
            letters.append(byte.lowercased)
            (isApart, wasUpper, wasLower) = (false, isUpper, !isUpper)
        }
        while letters.last?.isDigit == true { letters.removeLast() }
        while let start = starts.last, start >= letters.count { starts.removeLast() }
    }

    func secrecy(as kind: Kind) -> Secrecy {
        guard !letters.isEmpty, !letters.starts(with: "accesscontrol".utf8) else { return .none }
        if let word = Self.secrets.lastMatch(in: letters) {
            if isSecret(word) { return .whole }
        } else if let key = Self.keys.lastMatch(in: letters), endsWord(at: key.upperBound) {
            if isSecret(key) { return .whole }
        }
        let last = letters[(starts.last ?? 0)...]
        if Self.endings.isEnding(of: last) { return .whole }
        if Self.scalars.contains(last) || last.suffix(4).elementsEqual("pass".utf8) && !Self.passes.contains(last) { return .scalar }
        guard kind != .field else { return .none }
        if kind == .header, Self.challenges.contains(letters[...]) { return .whole }
        if last.elementsEqual("key".utf8), !Self.publicKeys.isEnding(of: letters[..<last.startIndex]) { return .whole }
        return Self.identifiers.contains(last) || kind == .parameter && letters.elementsEqual("code".utf8) ? .whole : .none
    }

    /// Whether the name is that of the secret that `word` stands for, and not that of what is told about it, such as `token_type`.
    private func isSecret(_ word: Range<Int>) -> Bool {
        let rest = letters[word.upperBound...]
        guard !rest.isEmpty, !rest.elementsEqual("s".utf8) else {
            return rest.isEmpty || !letters[word].elementsEqual("token".utf8) || !isCount(before: word.lowerBound)
        }
        let last = letters[max(word.upperBound, starts.last ?? 0)...]
        return !Self.properties.contains(last) && !Self.properties.contains(rest)
    }

    var role: Role? {
        let last = letters[(starts.last ?? 0)...]
        return Self.labels.contains(last) ? .label : Self.values.contains(last) ? .value : nil
    }

    /// Whether the tokens are counted, as those of a language model are.
    private func isCount(before end: Int) -> Bool {
        zip(starts, starts.dropFirst() + [letters.count]).contains { Self.counts.contains(letters[$0..<$1]) }
            || Self.counts.contains(letters[..<end])
    }

    /// Whether a word may end here: where another begins, or nothing more comes but an `s`.
    private func endsWord(at end: Int) -> Bool {
        let rest = letters[end...]
        return rest.isEmpty || rest.elementsEqual("s".utf8) || starts.contains(end)
    }

    /// What makes a secret of every name that it stands in.
    private static let secrets = Words(
        "token secret password passwd passphrase passcode pwd credential authorization authentication bearer cookie csrf xsrf jwt hmac",
        "signature assertion authheader authticket securityanswer sessionid sessid secretid accesskeyid connectionstring codeverifier oauthverifier samlresponse seedphrase"
    )
    /// The same, where the word ends there: `appKeyboard` is none.
    private static let keys = Words(
        "accesskey accountkey activationkey adminkey aeskey apikey appkey applicationkey authkey clientkey consumerkey decryptionkey deploykey encryptionkey",
        "functionkey functionskey hostkey licensekey masterkey networkkey passkey privatekey privkey recoverykey rootkey serverkey servicekey",
        "sesskey sessionkey sharedkey signingkey sshkey storagekey subscriptionkey webhookkey writekey",
        "accesscode authcode backupcode devicecode facode factorcode logincode oauthcode otpcode pairingcode recoverycode securitycode smscode unlockcode verificationcode"
    )
    /// What makes a secret of a name whose last word ends in it.
    private static let endings = Words("auth creds")
    /// Last words of names of secrets that are neither objects nor arrays.
    private static let scalars = Words("cred cvc cvv otp pin psk pw session sig totp")
    /// Words that end in `pass` and are harmless.
    private static let passes = Words("bypass compass encompass overpass surpass trespass underpass")
    /// Last words of names that are secret in headers and parameters alone, as `key` is.
    private static let identifiers = Words("sid")
    /// Parameters of headers that are about authentication (RFC 7616).
    private static let challenges = Words("cnonce nextnonce nonce opaque response")
    /// What stands before `key` in the names of headers and parameters that are harmless.
    private static let publicKeys = Words(
        "cache foreign idempotency issue object partition primary project public sort surrogate websocket")
    /// Last words of names that tell something about a secret.
    private static let properties = Words(
        "age alg algorithm algorithms ariat ary at budget changed consent count created cutter date decimals description duration enabled endpoint exp expiration expired",
        "expires expiry field format help id ids in issuer ization ized izer length less lifetime limit max method methods min minute mode modified name names policy",
        "prefix provider remaining required reset scheme scope scopes size standard status strength supported symbol time timestamp ttl type types updated uri url",
        "usage used valid version")
    /// Last words of names whose value is a name.
    private static let labels = Words("attribute field header id k key label n name param parameter path property type variable")
    /// Last words of names whose value belongs to a name.
    private static let values = Words("content data text v val value values")
    /// What stands with `tokens` that are counted.
    private static let counts = Words(
        "audio cached completion input limit max min num output per prompt ratelimit reasoning remaining thinking total used")
}
