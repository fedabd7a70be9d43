import APIProvider
import APIProviderMocks
import Foundation

extension SecretReplacer {
    /// Finds values with a listed name, the texts that the program or the environment calls secret, and unmistakable keys.
    mutating func findSecrets(_ environment: [String: String]) {
        let known = environment.sorted { $0.key < $1.key }.compactMap { name, text in
            text.looksRandom ? CredentialNames.match(name).map { (label: $0.label, text: text) } : nil
        }
        for (number, message) in messages.enumerated() {
            let values = values(of: message)
            for text in message.isResponse ? [] : originals[message.exchange].markedSecrets + known.map(\.text) {
                let places = values.filter { Array($0.text.utf8).contains(text) }.map(\.place.general)
                guard !places.isEmpty else { continue }
                let label = known.first { $0.text == text }?.label ?? "secret"
                let index = add(text, label, in: number, isEverywhere: text.utf8.count >= 8)
                secrets[index].places.formUnion(places)
                secrets[index].isCertain = true
            }
            var labeled: [(value: NamedValue, label: String, isInner: Bool)] = []
            for value in values {
                seenNames.insert(value.name)
                if !options.hidden.isEmpty { seenNames.formUnion(value.outerNames) }
                if let label = options.label(of: value, inResponse: message.isResponse) {
                    labeled.append((value, label, false))
                } else if message.isResponse, let label = options.label(ofRandomText: value) {
                    labeled.append((value, label, true))
                    noteRandomTexts(of: value)
                } else {
                    note(value, in: number)
                }
            }
            labeled.sort { ($0.value.offset, $0.value.place) < ($1.value.offset, $1.value.place) }
            for (value, label, isInner) in labeled { add(value, label, isInner: isInner, in: number) }
        }
        for (label, text) in known { secrets[add(text, label, in: nil, isEverywhere: true)].isFromEnvironment = true }
        addKeys()
        findEverywhere()
        secrets = secrets.compactMap(decided).enumerated().sorted {
            ($0.element.messages.min() ?? 0, $0.offset) < ($1.element.messages.min() ?? 0, $1.offset)
        }.map(\.element)
        indices = Dictionary(secrets.enumerated().map { (Array($1.text.utf8), $0) }) { $1 }
    }

    private mutating func add(_ text: String, _ label: String, isInner: Bool = false, in message: Int?, isEverywhere: Bool) -> Int {
        let index = indices[Array(text.utf8), default: secrets.count]
        if index == secrets.count {
            indices[Array(text.utf8)] = index
            secrets.append(Secret(text: text, label: label, isInner: isInner))
        }
        if !isInner { secrets[index].isInner = false }
        if isEverywhere { secrets[index].isCommon = false }
        if let message { secrets[index].messages.insert(message) }
        return index
    }

    private mutating func add(_ value: NamedValue, _ label: String, isInner: Bool, in number: Int) {
        let text = value.secretText
        guard text.utf8.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 }) else { return }
        let index = add(text, label, isInner: isInner, in: number, isEverywhere: value.isEverywhere(text))
        if !value.isClaim { named[number].append(value) }
        guard !messages[number].isResponse else { return }
        secrets[index].places.insert(value.place.general)
        let isOpen = openTexts[Array(text.utf8)].map { $0 < messages[number].time } == true
        if value.kind != .cookie || !isOpen { secrets[index].isCertain = true }
    }

    /// Notes a value without a listed name.
    private mutating func note(_ value: NamedValue, in number: Int) {
        let isResponse = messages[number].isResponse
        if !isResponse, !value.isClaim, openTexts[Array(value.text.utf8)] == nil {
            openTexts[Array(value.text.utf8)] = messages[number].time
        }
        noteRandomTexts(of: value)
        if isResponse, value.text.utf8.count <= 20 { clearTexts.insert(Array(value.text.utf8)) }
    }

    private mutating func noteRandomTexts(of value: NamedValue) {
        let random = ([value.text] + value.text.segmentsOfURLs).filter(\.looksRandom)
        if !random.isEmpty { randomTexts[value.name, default: []] += random }
    }

    /// Adds unmistakable texts: a JWT, a service's key, a private key, a URL's credential, and random-looking text after `Bearer`.
    private mutating func addKeys() {
        let texts = secrets.filter { !$0.isCommon }.map { Array($0.text.utf8) }
        let found = messages.enumerated().flatMap { number, message in
            Self.key.matches(in: message.bytes.decodingEscapes().text).compactMap {
                groups -> (label: String, text: String, message: Int)? in
                guard let group = groups.indices.dropFirst().first(where: { groups[$0] != nil }), let text = groups[group] else {
                    return nil
                }
                let label = Self.keyLabels[group - 1]
                let isKey =
                    switch label {
                    case "token": text.isJWT
                    case "key": text.utf8.contains(where: \.isDigit) || text.utf8.count >= 24
                    case "user", "authorization": text.looksRandom
                    default: true
                    }
                return isKey ? (label, text.trimmingCharacters(in: .whitespacesAndNewlines), number) : nil
            }
        }
        // Other text around a known secret may match the expression, and so may a part of a secret after `Bearer`.
        let known = TextSearch(texts)
        let parts = Set(
            TextSearch(found.map { Array($0.text.utf8) }).matches(in: Array(texts.joined(separator: [0x0A]))).map {
                Array(found[$0.text].text.utf8)
            })
        for key in found where !parts.contains(Array(key.text.utf8)) && known.matches(in: Array(key.text.utf8)).isEmpty {
            secrets[add(key.text, key.label, in: key.message, isEverywhere: true)].isCertain = true
        }
    }

    private static let keyLabels = ["token", "key", "private-key", "password", "user", "authorization"]
    private static let key = Expression(
        #"(?<![A-Za-z0-9_-])(eyJ[A-Za-z0-9_-]{1,8192}\.[A-Za-z0-9_-]{1,65536}\.[A-Za-z0-9_-]{4,})"#
            + #"|\b((?:gh[oprsu]_|github_pat_|[prs]k_(?:live|test)_|whsec_|hf_|npm_|dop_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|secret_|glpat-|sk-"#
            + #"|xox[abeoprs]-|xapp-|pypi-|sq0[a-z]{3}-|AKIA|ASIA|AIza|ya29\.|SG\.)[A-Za-z0-9_.-]{12,})"#
            + #"|BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----([^-]{8,})"#
            + #"|://[^\s/@:"'<>]*:([^\s/@"'<>]+)@|://([^\s/@:"'<>]{12,})@|[Bb]earer ([A-Za-z0-9_.~+/-]{8,}=*)"#)

    /// Looks for each uncommon secret in each message, in any notation.
    private mutating func findEverywhere() {
        let checked = secrets.indices.filter { !secrets[$0].isCommon }
        let check = SecretCheck(checked.map { secrets[$0].text })
        for (number, message) in messages.enumerated() {
            for index in check.secrets(in: message.bytes) { secrets[checked[index]].messages.insert(number) }
        }
    }

    /// Decides where a secret comes from. `nil` for texts without a message, or that the app itself sent in the open first.
    private func decided(_ secret: Secret) -> Secret? {
        let times = secret.messages.map { (time: messages[$0].time, isResponse: messages[$0].isResponse) }
        guard let first = times.min(by: { $0.time < $1.time }) else { return nil }
        let bytes = Array(secret.text.utf8)
        if !secret.isCertain, let open = openTexts[bytes], let response = times.filter(\.isResponse).map(\.time).min(), open < response {
            return nil
        }
        // Also in another text, such as `filter=id:7`, it is the app's own.
        if secret.isInner, !secret.isCertain, !first.isResponse { return nil }
        var secret = secret
        // The app may take a common text from a response's open value, too.
        let isClear = secret.isCommon && clearTexts.contains(bytes)
        secret.isFromResponse = !secret.isFromEnvironment && !isClear && first.isResponse
        if secret.isFromResponse { secret.places = [] }
        return secret.isFromResponse && options.isFromOtherProgram ? nil : secret
    }
}

extension NamedValue {
    /// Whether a value of this kind is replaced without its name, too.
    fileprivate func isEverywhere(_ text: String) -> Bool {
        switch kind {
        case .cookie: !text.isCommon && text.utf8.count >= 16 && !text.isWords()
        // Without a listed name, a user or a parameter may be any text.
        case .credential: names.count > 1 && CredentialNames.match(name) == nil ? name != "user" && text.looksRandom : !text.isCommon
        case .text, .number, .header: !text.isCommon
        }
    }
}
