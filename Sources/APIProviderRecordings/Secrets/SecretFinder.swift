import APIProvider
import APIProviderMocks
import Foundation

/// Finds a recording's secrets: values with a listed name, the texts that the program or the environment calls secret, and unmistakable
/// keys.
struct SecretFinder {
    /// In the file's order, with each response behind its request.
    private(set) var secrets: [Secret] = []
    /// For each message, the secret values with names.
    private(set) var named: [[NamedValue]]
    private(set) var seenNames: Set<String> = []
    /// The random-looking values without a listed name, by their names.
    private(set) var randomTexts: [String: [String]] = [:]
    /// The texts that the app sent without a listed name, and the first time.
    private(set) var openTexts: [[UInt8]: Int] = [:]
    let options: RecordingOptions
    private let messages: [Message]
    /// The secrets by their bytes. Equal texts may have different bytes.
    private var indices: [[UInt8]: Int] = [:]
    /// For each secret, the messages with this secret: in any notation or, for a common text, with its name.
    private var standing: [Set<Int>] = []
    private var fromEnvironment: Set<Int> = []
    /// The program's and the environment's secrets, values with a listed name in a request, and keys.
    private var given: Set<Int> = []
    /// Short texts without a listed name in responses.
    private var clearTexts: Set<[UInt8]> = []

    /// - Parameters:
    ///   - values: Each message's values.
    ///   - marked: The program's secrets for each exchange.
    ///   - environment: Variables with secrets, maybe.
    init(in messages: [Message], _ values: [[NamedValue]], _ options: RecordingOptions, marked: [[String]], environment: [String: String]) {
        (self.messages, self.options) = (messages, options)
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
                if let label = options.label(of: value, inResponse: message.isResponse) {
                    labeled.append((value, label))
                } else {
                    note(value, in: number)
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
        guard !messages[number].isResponse else { return }
        secrets[index].places.insert(value.place.general)
        if value.kind != .cookie { given.insert(index) }
    }

    /// Notes a value without a listed name.
    private mutating func note(_ value: NamedValue, in number: Int) {
        let isResponse = messages[number].isResponse
        if !isResponse, !value.isClaim, openTexts[Array(value.text.utf8)] == nil {
            openTexts[Array(value.text.utf8)] = messages[number].time
        }
        if value.text.looksRandom { randomTexts[value.name, default: []].append(value.text) }
        if isResponse, value.text.utf8.count <= 20 { clearTexts.insert(Array(value.text.utf8)) }
    }

    /// Adds unmistakable texts: a JWT, a service's key, a private key, a URL's credential, and the text after `Bearer`.
    private mutating func addKeys() {
        let texts = secrets.filter { !$0.isCommon }.map { Array($0.text.utf8) }
        let found = messages.enumerated().flatMap { number, message in
            Self.key.matches(in: message.bytes.decodingEscapes().text).compactMap {
                groups -> (label: String, text: String, message: Int)? in
                guard let group = groups.indices.dropFirst().first(where: { groups[$0] != nil }), let text = groups[group] else {
                    return nil
                }
                let label = Self.keyLabels[group - 1]
                let isKey = label == "token" ? text.isJWT : ["password", "private-key"].contains(label) || text.looksRandom
                return isKey ? (label, text.trimmingCharacters(in: .whitespacesAndNewlines), number) : nil
            }
        }
        // Other text around a known secret may match the expression, and so may a part of a secret after `Bearer`.
        let known = TextSearch(texts)
        let parts = Set(
            TextSearch(found.map { Array($0.text.utf8) }).matches(in: Array(texts.joined(separator: [0x0A]))).map { found[$0.text].text })
        for key in found where !parts.contains(key.text) && known.matches(in: Array(key.text.utf8)).isEmpty {
            given.insert(add(key.text, key.label, in: key.message, isEverywhere: true))
        }
    }

    private static let keyLabels = ["token", "key", "private-key", "password", "user", "authorization"]
    private static let key = Expression(
        #"(?<![\w-])(eyJ[\w-]{1,8192}\.[\w-]{1,65536}\.[\w-]{4,})"#
            + #"|\b((?:gh[oprsu]_|github_pat_|[prs]k_(?:live|test)_|whsec_|hf_|npm_|dop_v1_|shp(?:at|ca|pa|ss)_|lin_api_|ntn_|secret_|glpat-|sk-"#
            + #"|xox[abeoprs]-|xapp-|pypi-|sq0[a-z]{3}-|AKIA|ASIA|AIza|ya29\.|SG\.)[\w.-]{12,})"#
            + #"|BEGIN [A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?-----([^-]{8,})"#
            + #"|://[^\s/@:"'<>]*:([^\s/@"'<>]+)@|://([^\s/@:"'<>]{12,})@|[Bb]earer ([\w.~+/-]{8,}=*)"#)

    // MARK: - Kinds

    /// Looks for each uncommon secret in each message, in any notation.
    private mutating func findEverywhere() {
        let checked = secrets.indices.filter { !secrets[$0].isCommon }
        let check = SecretCheck(checked.map { secrets[$0].text })
        for (number, message) in messages.enumerated() {
            for index in check.secrets(in: message.bytes) { standing[checked[index]].insert(number) }
        }
    }

    /// Decides where each secret comes from, and drops the texts that the app itself sent in the open first.
    private mutating func decideKinds() {
        var kept: [Int] = []
        for index in secrets.indices where !standing[index].isEmpty {
            let first = standing[index].min { messages[$0].time < messages[$1].time }
            let firstResponse = standing[index].filter { messages[$0].isResponse }.map { messages[$0].time }.min()
            let bytes = Array(secrets[index].text.utf8)
            if !given.contains(index), let open = openTexts[bytes], let firstResponse, open < firstResponse { continue }
            // The app may take a common text from a response's open value, too.
            let isClear = secrets[index].isCommon && clearTexts.contains(bytes)
            secrets[index].isFromResponse = !fromEnvironment.contains(index) && !isClear && first.map { messages[$0].isResponse } == true
            if secrets[index].isFromResponse { secrets[index].places = [] }
            kept.append(index)
        }
        let firsts = standing.map { $0.min() ?? 0 }
        secrets = kept.sorted { (firsts[$0], $0) < (firsts[$1], $1) }.map { secrets[$0] }
    }
}

extension NamedValue {
    /// Whether a value of this kind is replaced without its name, too.
    fileprivate func isEverywhere(_ text: String) -> Bool {
        switch kind {
        case .cookie: !text.isCommon && text.utf8.count >= 16 && !text.isWords
        // Without a listed name, a user or a parameter may be any text.
        case .credential: names.count > 1 && CredentialNames.match(name) == nil ? name != "user" && text.looksRandom : !text.isCommon
        case .text, .number, .header: !text.isCommon
        }
    }
}
