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
                let places = places(of: text, in: values)
                guard !places.isEmpty else { continue }
                let label = known.first { $0.text == text }?.label ?? "secret"
                let index = add(text, label, .test, text.utf8.count >= 8 ? .everywhere : .named, in: number)
                secrets[index].places.formUnion(places)
            }
            var labeled: [(value: NamedValue, label: String, origin: Secret.Origin)] = []
            for value in values {
                seenNames.insert(value.name)
                if !options.hidden.isEmpty { seenNames.formUnion(value.outerNames) }
                if let label = options.label(of: value, inResponse: message.isResponse, isSent: isSent(value)) {
                    labeled.append((value, label, message.isResponse ? .response : .test))
                } else if message.isResponse, let label = options.label(ofRandomText: value) {
                    labeled.append((value, label, .object))
                    noteRandomTexts(of: value)
                } else {
                    note(value, in: number)
                }
            }
            labeled.sort { ($0.value.offset, $0.value.place) < ($1.value.offset, $1.value.place) }
            for (value, label, origin) in labeled { add(value, label, origin, in: number) }
        }
        for (label, text) in known { _ = add(text, label, .environment, .everywhere, in: nil) }
        addKeys()
        findEverywhere()
        secrets = secrets.compactMap(decided).enumerated().sorted {
            ($0.element.messages.min() ?? 0, $0.offset) < ($1.element.messages.min() ?? 0, $1.offset)
        }.map(\.element)
        indices = Dictionary(secrets.enumerated().map { (Array($1.text.utf8), $0) }) { $1 }
    }

    /// Whether the app has sent the value as a secret.
    private func isSent(_ value: NamedValue) -> Bool { secret(value.secretText)?.places.isEmpty == false }

    /// Returns the secret's index.
    private mutating func add(_ text: String, _ label: String, _ origin: Secret.Origin, _ reach: Secret.Reach, in message: Int?) -> Int {
        let index = indices[Array(text.utf8), default: secrets.count]
        if index == secrets.count {
            indices[Array(text.utf8)] = index
            secrets.append(Secret(text: text, label: label, origin: origin, reach: reach))
        }
        secrets[index].origin = max(secrets[index].origin, origin)
        if reach == .everywhere { secrets[index].reach = reach }
        if let message { secrets[index].messages.insert(message) }
        return index
    }

    private mutating func add(_ value: NamedValue, _ label: String, _ origin: Secret.Origin, in number: Int) {
        let text = value.secretText
        guard text.utf8.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 }) else { return }
        let isOpenCookie = value.kind == .cookie && openTexts[Array(text.utf8)].map { $0 < messages[number].time } == true
        let index = add(text, label, isOpenCookie ? .response : origin, value.reach(of: text), in: number)
        if !value.isClaim { named[number].append(value) }
        if !messages[number].isResponse { secrets[index].places.insert(value.place.general) }
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
        let random = (value.text.looksRandom(value.kinds) ? [value.text] : []) + value.text.randomSegmentsOfURLs(value.kinds)
        // A member may have an id as its name.
        let name = value.names.last { !$0.utf8.allSatisfy(\.isDigit) } ?? value.name
        if !random.isEmpty { randomTexts[name, default: []] += random }
    }

    /// Adds unmistakable texts: a JWT, a service's key, a private key, a URL's credential, and random-looking text after `Bearer`.
    private mutating func addKeys() {
        let texts = secrets.filter { $0.reach == .everywhere }.map { Array($0.text.utf8) }
        let found = messages.enumerated().flatMap { number, message in
            Self.key.matches(in: message.texts.decodingEscapes().text).compactMap {
                groups -> (label: String, text: String, message: Int)? in
                guard let (label, group) = zip(Self.keyLabels, groups.dropFirst()).first(where: { $1 != nil }), let text = group else {
                    return nil
                }
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
            let index = add(key.text, key.label, .test, .everywhere, in: key.message)
            guard !messages[key.message].isResponse else { continue }
            secrets[index].places.formUnion(places(of: key.text, in: values(of: messages[key.message])))
        }
    }

    /// The general places of the values that contain the text.
    private func places(of text: String, in values: [NamedValue]) -> [String] {
        values.filter { Array($0.text.utf8).contains(text) }.map(\.place.general)
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
        let checked = secrets.indices.filter { secrets[$0].reach == .everywhere }
        let check = SecretCheck(checked.map { secrets[$0].text })
        let firstTimes = checked.map { secrets[$0].messages.map { messages[$0].time }.min() ?? 0 }
        for (number, message) in messages.enumerated() {
            let found = message.parts.flatMap(check.secrets)
            for index in found { secrets[checked[index]].messages.insert(number) }
            // No earlier request gives these placeholders a text.
            let first = message.isResponse ? [] : found.filter { message.time < firstTimes[$0] }
            let values = first.isEmpty ? [] : values(of: message)
            for index in first {
                secrets[checked[index]].places.formUnion(places(of: secrets[checked[index]].text, in: values))
            }
        }
    }

    /// Decides where a secret comes from. `nil` for texts without a message, or that the app itself sent in the open first.
    private func decided(_ secret: Secret) -> Secret? {
        let times = secret.messages.map { (time: messages[$0].time, isResponse: messages[$0].isResponse) }
        guard let first = times.min(by: { $0.time < $1.time }) else { return nil }
        let bytes = Array(secret.text.utf8)
        let firstResponse = times.filter(\.isResponse).map(\.time).min()
        if secret.origin < .test, let open = openTexts[bytes], let firstResponse, open < firstResponse { return nil }
        // Also in another text, such as `filter=id:7`, it is the app's own.
        if secret.origin == .object, !first.isResponse { return nil }
        // The app may take a common text from a response's open value, too.
        let isClear = secret.reach == .named && clearTexts.contains(bytes)
        guard first.isResponse, secret.origin != .environment, !isClear else { return secret }
        var secret = secret
        secret.places = []
        return options.isFromOtherProgram ? nil : secret
    }
}

extension NamedValue {
    /// Whether a value of this kind is replaced without its name, too.
    fileprivate func reach(of text: String) -> Secret.Reach {
        let isEverywhere =
            switch kind {
            case .cookie: !text.isCommon && text.utf8.count >= 16 && !text.isWords
            // Without a listed name, a parameter may be any text, and a user a name or a key.
            case .credential where names.count > 1 && CredentialNames.match(name) == nil:
                text.looksRandom && (name != "user" || text.utf8.count >= 16)
            case .credential, .text, .number, .header: !text.isCommon
            }
        return isEverywhere ? .everywhere : .named
    }
}
