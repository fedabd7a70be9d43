import APIProvider

/// The names under which values are secret.
enum SecretNames {
    /// Whether values of this name are secret. Its last word decides, or its last two: `userPassword`, `X-Api-Key` and `user[password]` are
    /// secret, and `token_type` is not.
    static func contains(_ name: some Collection<UInt8>, inQuery: Bool = false) -> Bool {
        var letters: [UInt8] = []
        var starts: [Int] = []
        var isInWord = false
        var wasLowercase = false
        for byte in name {
            let isLetter = byte.isLowercaseLetter || byte.isUppercaseLetter
            if isLetter, !isInWord || wasLowercase && byte.isUppercaseLetter { starts.append(letters.count) }
            if isLetter { letters.append(byte.lowercased) }
            (isInWord, wasLowercase) = (isLetter, byte.isLowercaseLetter)
        }
        guard let start = starts.last else { return false }
        let last = Array(letters[start...])
        if secretWords.contains(last) || inQuery && queryWords.contains(last) { return true }
        // Words without a boundary between them: `accesstoken`, `phpsessid`.
        if last.count > 6, endings.contains(where: { last.count > $0.count && last.suffix($0.count).elementsEqual($0) }) { return true }
        return starts.count > 1 && secretPairs.contains(Array(letters[starts[starts.count - 2]...]))
    }

    private static let secretWords = words(
        """
        apikey assertion auth authorization bearer contrasena cookie cookies credential credentials csrf cvc cvv geheimnis hmac jwt kennwort mdp
        motdepasse otp pass passcode passphrase passwd password passwords passwort pin privatekey pwd secret secrets senha session sessionid
        sessionkey sid sig signature ssn token tokens totp verifier wachtwoord xsrf
        """)

    /// Secret only in queries and forms. In JSON, values of these names are often harmless.
    private static let queryWords = words("code key nonce samlresponse")

    private static let secretPairs = words(
        """
        accesscode accesskey accountkey apikey appkey authcode authkey authorizationcode backupcode clientkey depasse devicecode encryptionkey functionskey
        masterkey passwordconfirmation privatekey recoverycode secretkey serverkey sessionid sharedkey signingkey subscriptionkey usercode userpin
        verificationcode
        """)

    private static let endings = words("apikey cookie passwd password passwort secret sessid sessionid token")

    private static func words(_ text: String) -> Set<[UInt8]> { Set(text.split(whereSeparator: \.isWhitespace).map { Array($0.utf8) }) }
}
