import APIProvider
import APIProviderMocks
import Foundation

/// Finds the secrets of a recording: what has a name of the list, what the program and the environment call secret, and what cannot be
/// anything else.
struct SecretFinder {
    /// In the order of the file, in which responses follow their requests.
    private(set) var secrets: [Secret] = []
    /// For each message, the values that are secret by their names.
    private(set) var named: [[NamedValue]]
    private(set) var seenNames: Set<String> = []
    /// The names of values that look random, and these.
    private(set) var randomTexts: [String: [String]] = [:]
    let names: SecretNames
    private let messages: [Message]
    /// The secrets by their bytes. Two texts may be equal and have other bytes.
    private var indices: [[UInt8]: Int] = [:]
    /// For each secret, the messages that have it, in any notation or, if it is common, under its name.
    private var standing: [Set<Int>] = []
    private var fromEnvironment: Set<Int> = []
    /// Those that the program or the environment calls secret, that have their names in requests, and what cannot be anything else.
    private var given: Set<Int> = []
    private var inCookies: Set<Int> = []
    /// Those with another reason than that they are of the person in a JWT.
    private var notOfPersons: Set<Int> = []
    /// The texts that the app has sent under no name of the list, and when.
    private var openTexts: [[UInt8]: Int] = [:]
    /// Short texts that responses have under no name of the list.
    private var clearTexts: Set<[UInt8]> = []

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
        for (number, message) in messages.enumerated() {
            for text in message.isResponse ? [] : marked[message.exchange] + known.map(\.text) {
                let places = values[number].filter { Array($0.text.utf8).contains(text) }.map(\.place.general)
                guard !places.isEmpty else { continue }
                let label = known.first { $0.text == text }?.label ?? "secret"
                let index = add(text, label, in: number, isEverywhere: text.utf8.count >= 8)
                secrets[index].places.formUnion(places)
                given.insert(index)
            }
            var labeled: [(value: NamedValue, label: String)] = []
            for value in values[number] {
                seenNames.insert(value.name)
                if let label = names.label(of: value, inResponse: message.isResponse) {
                    labeled.append((value, label))
                } else {
                    see(value, in: number)
                }
            }
            labeled.sort { ($0.value.offset, $0.value.place) < ($1.value.offset, $1.value.place) }
            for (value, label) in labeled { add(value, label, in: number) }
        }
        for (label, text) in known { fromEnvironment.insert(add(text, label, in: nil, isEverywhere: true)) }
        addKeys()
        findEverywhere()
        decideKinds()
    }

    // MARK: - Finding

    @discardableResult
    private mutating func add(_ text: String, _ label: String, in message: Int?, isEverywhere: Bool) -> Int {
        let index = indices[Array(text.utf8), default: secrets.count]
        if index == secrets.count {
            indices[Array(text.utf8)] = index
            secrets.append(Secret(text: text, label: label))
            standing.append([])
        }
        if isEverywhere { secrets[index].isCommon = false }
        if let message { standing[index].insert(message) }
        return index
    }

    private mutating func add(_ value: NamedValue, _ label: String, in number: Int) {
        let text = value.secretText
        guard text.utf8.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 }) else { return }
        let index = add(text, label, in: number, isEverywhere: value.isEverywhere(text))
        if !value.isClaim { named[number].append(value) }
        if value.kind == .cookie { inCookies.insert(index) }
        if !value.isOfPerson { notOfPersons.insert(index) }
        guard !messages[number].isResponse, !value.isOfPerson else { return }
        secrets[index].places.insert(value.place.general)
        if value.kind != .cookie { given.insert(index) }
    }

    /// Keeps what is to be known of a value that is no secret by its name.
    private mutating func see(_ value: NamedValue, in number: Int) {
        let isResponse = messages[number].isResponse
        if !isResponse, openTexts[Array(value.text.utf8)] == nil { openTexts[Array(value.text.utf8)] = messages[number].time }
        if value.text.looksRandom { randomTexts[value.name, default: []].append(value.text) }
        if isResponse, value.text.utf8.count <= 20 { clearTexts.insert(Array(value.text.utf8)) }
    }

    /// Adds what cannot be anything else: a JWT, the key of a service, a private key, the credential in a URL, and what comes after
    /// `Bearer`.
    private mutating func addKeys() {
        let texts = secrets.filter { !$0.isCommon }.map { Array($0.text.utf8) }
        let found = messages.enumerated().flatMap { number, message in
            Self.key.matches(in: message.bytes.decodingEscapes().text).compactMap {
                groups -> (label: String, text: String, message: Int)? in
                guard let group = groups.indices.dropFirst().first(where: { groups[$0] != nil }), let text = groups[group] else {
                    return nil
                }
                let label = Self.labelsOfKeys[group - 1], hasDigit = text.utf8.contains(where: \.isDigit)
                let isKey =
                    switch label {
                    case "token": text.isJWT
                    case "key": hasDigit || text.utf8.count >= 24
                    case "user": text.looksRandom
                    case "authorization": hasDigit && !text.isCommon
                    default: true
                    }
                return isKey ? (label, text.trimmingCharacters(in: .whitespacesAndNewlines), number) : nil
            }
        }
        // Other text around a known secret may look as if it belonged to it, and `Bearer` may have a part of one.
        let known = TextSearch(texts)
        let parts = Set(
            TextSearch(found.map { Array($0.text.utf8) }).matches(in: Array(texts.joined(separator: [0x0A]))).map { found[$0.text].text })
        for key in found where !parts.contains(key.text) && known.matches(in: Array(key.text.utf8)).isEmpty {
            given.insert(add(key.text, key.label, in: key.message, isEverywhere: true))
        }
    }

    private static let labelsOfKeys = ["token", "key", "private-key", "password", "user", "authorization"]
    private static let key = Expression(
        #"(?<![\w-])(eyJ[\w-]{1,8192}\.[\w-]{1,65536}\.[\w-]{4,})"#
            + #"|\b((?:gh[oprsu]_|github_pat_|[prs]k_(?:live|test)_|whsec_|hf_|npm_|dop_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|secret_|glpat-|sk-"#
            + #"|xox[abeoprs]-|xapp-|pypi-|sq0[a-z]{3}-|AKIA|ASIA|AIza|ya29\.|SG\.)[\w.-]{12,})"#
            + #"|BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----([^-]{8,})"#
            + #"|://[^\s/@:"'<>]*:([^\s/@"'<>]+)@|://([^\s/@:"'<>]{12,})@|[Bb]earer ([\w.~+/-]{8,}=*)"#)

    // MARK: - Where they stand

    /// Looks for those that may stand anywhere in each message, in any notation.
    private mutating func findEverywhere() {
        let checked = secrets.indices.filter { !secrets[$0].isCommon }
        let check = SecretCheck(checked.map { secrets[$0].text })
        for (number, message) in messages.enumerated() {
            for index in check.secrets(in: message.bytes) { standing[checked[index]].insert(number) }
        }
    }

    private mutating func decideKinds() {
        var kept: [Int] = []
        for index in secrets.indices where !standing[index].isEmpty {
            let first = standing[index].min { messages[$0].time < messages[$1].time }
            let firstResponse = standing[index].filter { messages[$0].isResponse }.map { messages[$0].time }.min()
            // What a response also has in clear, the app may have from there.
            let isClear = secrets[index].isCommon && clearTexts.contains(Array(secrets[index].text.utf8))
            secrets[index].isFromResponse = !fromEnvironment.contains(index) && !isClear && first.map { messages[$0].isResponse } == true
            // The app sends a person's text itself, and in a replay, too.
            if !given.contains(index), !notOfPersons.contains(index), openTexts[Array(secrets[index].text.utf8)] != nil { continue }
            if !given.contains(index), let open = openTexts[Array(secrets[index].text.utf8)], let firstResponse, open < firstResponse {
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
