import APIProvider
import Foundation
import MockNetwork

/// Finds the secrets of a recording: what has a name of the list, what the program and the environment call secret, and what cannot be
/// anything else.
struct SecretFinder {
    /// In the order of the file, in which responses follow their requests.
    private(set) var secrets: [Secret] = []
    /// For each message, the values that are secret by their names.
    private(set) var named: [[NamedValue]]
    /// The first message that has each name.
    private(set) var seenNames: [String: Int] = [:]
    /// The names of values that look random, and these. Of each name, a few are looked at.
    private(set) var randomTexts: [String: [String]] = [:]
    /// Times at which something will end, by their names, and the exchange that has each.
    private(set) var expiries: [String: (exchange: Int, text: String)] = [:]
    let names: SecretNames
    private let messages: [Message]
    private var indices: [String: Int] = [:]
    /// For each secret, the messages that have it, in any notation or, if it is common, under its name.
    private var standing: [Set<Int>] = []
    private var fromEnvironment: Set<Int> = []
    private var inCookies: Set<Int> = []
    private var namedInRequests: Set<Int> = []
    /// The texts that the app has sent under no name of the list, and when.
    private var openTexts: [String: Int] = [:]
    /// Short texts that responses have under no name of the list.
    private var clearTexts: Set<String> = []
    private var nameCounts: [String: Int] = [:]

    /// - Parameters:
    ///   - values: Of each message.
    ///   - marked: For each exchange, the texts that the program calls secret.
    ///   - environment: Its variables may be secrets, too.
    init(in messages: [Message], _ values: [[NamedValue]], _ names: SecretNames, marked: [[String]], environment: [String: String]) {
        (self.messages, self.names) = (messages, names)
        named = Array(repeating: [], count: messages.count)
        let known = environment.sorted { $0.key < $1.key }.compactMap { name, text in
            text.looksRandom ? CredentialNames.match(name).map { (label: $0.label, text: text) } : nil
        }
        var (unmistakable, persons): ([(label: String, text: String, message: Int)], [(value: NamedValue, message: Int)]) = ([], [])
        for (number, message) in messages.enumerated() {
            for text in message.isResponse ? [] : marked[message.exchange] + known.map(\.text) {
                let lines = values[number].filter { $0.text.contains(text) }.map(\.line.general)
                guard !lines.isEmpty else { continue }
                let index = add(text, known.first { $0.text == text }?.label ?? "secret", in: number, isEverywhere: !text.isCommon)
                secrets[index].places.formUnion(lines)
            }
            unmistakable += Self.keys(in: message.bytes.decodingEscapes()).map { ($0, $1, number) }
            for value in values[number] { find(value, in: number, &persons) }
        }
        for (label, text) in known { fromEnvironment.insert(add(text, label, in: nil, isEverywhere: true)) }
        add(unmistakable)
        for (value, message) in persons where openTexts[value.text] == nil {
            add(value.text, value.name.asLabel, in: message, isEverywhere: !value.text.isCommon)
        }
        findPlaces()
        decideKinds()
    }

    // MARK: - Finding

    @discardableResult
    private mutating func add(_ text: String, _ label: String, in message: Int?, isEverywhere: Bool) -> Int {
        let index = indices[text] ?? secrets.count
        if index == secrets.count {
            indices[text] = index
            secrets.append(Secret(text: text, label: label))
            standing.append([])
        }
        if isEverywhere { secrets[index].isCommon = false }
        if let message { standing[index].insert(message) }
        return index
    }

    private mutating func find(_ value: NamedValue, in number: Int, _ persons: inout [(value: NamedValue, message: Int)]) {
        let isResponse = messages[number].isResponse
        seenNames[value.name] = seenNames[value.name] ?? number
        if let label = names.label(of: value, inResponse: isResponse) {
            let text = value.text.splittingScheme.text
            guard text.utf8.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 }) else { return }
            let index = add(text, label, in: number, isEverywhere: value.isEverywhere(text))
            if !value.isClaim { named[number].append(value) }
            if value.kind == .cookie { inCookies.insert(index) }
            guard !isResponse else { return }
            secrets[index].places.insert(value.line.general)
            if value.kind != .cookie { namedInRequests.insert(index) }
        } else if names.redacts(claim: value) {
            if !SecretNames.claimsOfClients.contains(value.name) { persons.append((value, number)) }
        } else {
            if !isResponse, openTexts[value.text] == nil { openTexts[value.text] = messages[number].time }
            nameCounts[value.name, default: 0] += 1
            guard nameCounts[value.name, default: 0] <= 20 else { return }
            if value.text.looksRandom { randomTexts[value.name, default: []].append(value.text) }
            guard isResponse else { return }
            if value.text.utf8.count <= 20 { clearTexts.insert(value.text) }
            if value.line.names.start == "body", value.name.isExpiry, let end = value.text.time, end > Date() {
                expiries[value.name] = (messages[number].exchange, value.text)
            }
        }
    }

    /// What cannot be anything else, and the beginning of its placeholder.
    private static func keys(in bytes: [UInt8]) -> [(label: String, text: String)] {
        let text = bytes.text
        return expressions.filter { bytes.contains($0.mark) }.flatMap { label, _, expression in
            expression.matches(in: text).compactMap { match in
                guard let key = (match.last ?? match[0])?.text.trimmingCharacters(in: .whitespacesAndNewlines) else { return nil }
                let hasDigit = key.utf8.contains(where: \.isDigit)
                switch label {
                case "token": return key.isJWT ? (label, key) : nil
                case "key": return hasDigit || key.utf8.count >= 24 ? (label, key) : nil
                case "user": return key.looksRandom ? (label, key) : nil
                case "authorization": return hasDigit && !key.isCommon ? (label, key) : nil
                default: return (label, key)
                }
            }
        }
    }

    /// With a text that stands in each match.
    private static let expressions: [(label: String, mark: String, expression: Expression)] = [
        ("token", "eyJ", Expression(#"eyJ[\w-]+\.[\w-]+\.[\w-]{4,}"#)),
        (
            "key", "_",
            Expression(
                #"\b(?:gh[oprsu]_|github_pat_|[prs]k_(?:live|test)_|whsec_|hf_|npm_|dop_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|secret_)[\w.-]{12,}"#)
        ), ("key", "-", Expression(#"\b(?:glpat-|sk-|xox[abeoprs]-|xapp-|pypi-|sq0[a-z]{3}-)[\w.-]{12,}"#)),
        ("key", "A", Expression(#"\b(?:AKIA|ASIA|AIza)[\w-]{12,}"#)), ("key", ".", Expression(#"\b(?:ya29\.|SG\.)[\w.-]{12,}"#)),
        ("private-key", "PRIVATE KEY", Expression(#"BEGIN [A-Z ]*PRIVATE KEY(?: BLOCK)?-----([^-]{8,})"#)),
        ("password", "@", Expression(#"://[^\s/@:"'<>]*:([^\s/@"'<>]+)@"#)), ("user", "@", Expression(#"://([^\s/@:"'<>]{12,})@"#)),
        ("authorization", "earer ", Expression(#"[Bb]earer ([\w.~+/-]{8,}=*)"#)),
    ]

    /// A known secret may have more text around it that looks as if it belonged to it, and what comes after `Bearer` may go on.
    private mutating func add(_ unmistakable: [(label: String, text: String, message: Int)]) {
        let found = Set(unmistakable.map(\.text))
        let texts = secrets.filter { !$0.isCommon }.map { Array($0.text.utf8) }
        let known = TextSearch(texts + found.map { Array($0.utf8) })
        let bearers = Set(unmistakable.filter { $0.label == "authorization" }.map(\.text)).sorted()
        let search = TextSearch(bearers.map { Array($0.utf8) })
        var others = Set(texts.flatMap { text in search.matches(in: text).filter { $0.range.count < text.count }.map { bearers[$0.text] } })
        others.formUnion(
            found.filter { text in
                let bytes = Array(text.utf8)
                return !known.matches(in: Array(bytes.dropFirst())).isEmpty || !known.matches(in: bytes.dropLast()).isEmpty
            })
        for (label, text, message) in unmistakable where !others.contains(text) { add(text, label, in: message, isEverywhere: true) }
    }

    // MARK: - Where they stand

    private mutating func findPlaces() {
        let checked = secrets.indices.filter { !secrets[$0].isCommon }
        let check = SecretCheck(checked.map { secrets[$0].text })
        for (number, message) in messages.enumerated() {
            let found = check.secrets(in: message.bytes)
            for index in found.all { standing[checked[index]].insert(number) }
            // What is Base64 and has a secret in it is one, such as the key of an API beside its secret.
            guard let first = found.inBase64.min() else { continue }
            for match in Self.base64Word.matches(in: message.bytes.decodingEscapes().text) {
                guard let word = match[0]?.text, !check.secrets(in: Array(word.utf8)).all.isEmpty else { continue }
                add(word, secrets[checked[first]].label, in: number, isEverywhere: true)
            }
        }
    }

    private static let base64Word = Expression(#"[A-Za-z0-9+/_-]{11,}={0,2}"#)

    private mutating func decideKinds() {
        var kept: [Int] = []
        for index in secrets.indices where !standing[index].isEmpty {
            let first = standing[index].min { messages[$0].time < messages[$1].time }
            let firstResponse = standing[index].filter { messages[$0].isResponse }.map { messages[$0].time }.min()
            // What a response also has in clear, the app may have from there.
            let isClear = secrets[index].isCommon && clearTexts.contains(secrets[index].text)
            secrets[index].isFromResponse = !fromEnvironment.contains(index) && !isClear && first.map { messages[$0].isResponse } == true
            if let open = openTexts[secrets[index].text], let firstResponse, open < firstResponse, !namedInRequests.contains(index) {
                // The app knows it by itself, and has sent it in the open.
                guard inCookies.contains(index) else { continue }
                secrets[index].isCommon = true
            }
            if secrets[index].isFromResponse { secrets[index].places = [] }
            kept.append(index)
        }
        let firsts = standing.map { $0.min() ?? 0 }
        secrets = kept.sorted { (firsts[$0], $0) < (firsts[$1], $1) }.map { secrets[$0] }
    }
}

extension NamedValue {
    /// Whether what it is says that it is a secret wherever else it stands.
    fileprivate func isEverywhere(_ text: String) -> Bool {
        switch kind {
        case .cookie: !text.isCommon && text.utf8.count >= 16 && !text.isWords
        // A user and a parameter may be anything, unless they are what a name of the list says.
        case .credential: names.count > 1 && CredentialNames.match(name) == nil ? name != "user" && text.looksRandom : !text.isCommon
        case .text, .number, .header: !text.isCommon
        }
    }
}

extension String {
    /// Whether a value of this name says when something ends.
    fileprivate var isExpiry: Bool {
        let name = CredentialNames.words(of: self).joined()
        return ["expires", "expiry", "expiration", "exp", "expiresat", "expireson", "expirydate", "expirationdate", "validuntil"].contains {
            name.hasSuffix($0)
        }
    }
}
