import APIProvider
import Foundation

/// Finds the secrets of a recording: what has a name of the list, what the program and the environment call secret, and what cannot be
/// anything else.
struct SecretFinder {
    private(set) var secrets: [Secret] = []
    /// All names in the recording.
    var seenNames: Set<String> { Set(valueCounts.keys).union(keys.keys).union(listedNames) }
    private var listedNames: Set<String> = []
    /// The names of members of JSON, and the part that has each.
    private(set) var keys: [String: MessagePart] = [:]
    /// Values that look random, by their names, which are not on the list. Of each name, a few are looked at.
    private(set) var randomValues: [String: [String]] = [:]
    /// Times in responses at which something will end, by their names.
    private(set) var expiries: [String: (part: MessagePart, text: String)] = [:]
    private var valueCounts: [String: Int] = [:]
    private let names: SecretNames
    private let parts: [MessagePart]
    private var indices: [String: Int] = [:]
    /// For each secret, the parts in which it has its name.
    private var namedPlaces: [[Int]] = []
    /// The parts in which a secret has its name that is replaced only there.
    private(set) var partsOfCommonSecrets: Set<Int> = []
    /// For each secret, the parts that have it in any notation.
    private var places: [Set<Int>] = []
    /// The secrets that are named in a response or in cookies only.
    private var foundOutsideOfRequests: Set<Int> = []
    private var cookies: Set<Int> = []
    private var environment: Set<Int> = []
    /// The texts that the app has sent under no name of the list, and the first part that has each.
    private var openTexts: [String: Int] = [:]
    /// Short texts that responses have under no name of the list.
    private var clearTexts: Set<String> = []
    /// What cannot be anything else than a secret.
    private var unmistakable: [(label: String, text: String, place: Int)] = []
    /// Claims that say who has recorded.
    private var persons: [(value: NamedValue, place: Int)] = []

    /// - Parameters:
    ///   - parts: In the order of the file, in which responses follow their requests.
    ///   - times: The place of each part in the order in which they came.
    ///   - marked: For each exchange, the texts that the program calls secret.
    init(in parts: [MessagePart], times: [Int], _ names: SecretNames, marked: [[String]], environment: [String: String]) {
        (self.parts, self.names) = (parts, names)
        for (place, part) in parts.enumerated() {
            if part.field == .url { for text in marked[part.exchange] { add(text, "secret", at: place, .marked) } }
            find(in: part, at: place)
        }
        addUnmistakable()
        for (value, place) in persons where openTexts[value.text] == nil { add(value.text, value.name.asLabel, at: place, .named) }
        for (name, text) in environment.sorted(by: { $0.key < $1.key }) where text.looksRandom {
            guard let (label, _) = CredentialNames.match(name) else { continue }
            add(text, label, at: nil, .marked)
            if let index = indices[text] { self.environment.insert(index) }
        }
        findPlaces()
        decideKinds(times)
    }

    // MARK: - Finding

    fileprivate enum Evidence { case named, marked, partOfCredential, cookie }

    private mutating func add(_ text: String, _ label: String, at place: Int?, _ evidence: Evidence) {
        guard text.utf8.contains(where: { $0.isLetter || $0.isDigit || $0 >= 0x80 }) else { return }
        let index = indices[text] ?? secrets.count
        if index == secrets.count {
            indices[text] = index
            secrets.append(Secret(text: text, label: label))
            namedPlaces.append([])
            foundOutsideOfRequests.insert(index)
        }
        let isWhatItIsEverywhere =
            switch evidence {
            case .named, .marked: !text.isCommon
            case .partOfCredential: text.looksRandom
            case .cookie: !text.isCommon && text.utf8.count >= 16 && !text.isWords
            }
        if isWhatItIsEverywhere { secrets[index].isCommon = false }
        if evidence == .marked { secrets[index].isMarked = true }
        if evidence == .cookie { cookies.insert(index) }
        guard let place else { return }
        namedPlaces[index].append(place)
        if evidence != .cookie, !parts[place].isResponse { foundOutsideOfRequests.remove(index) }
    }

    private mutating func find(in part: MessagePart, at place: Int) {
        // The closure of a reader cannot change this value.
        var found: [NamedValue] = []
        let reader = ValueReader { value in
            found.append(value)
            return nil
        }
        _ = part.edits(reader)
        for (label, key) in Self.keys(in: part.bytes.decodingEscapes()) {
            unmistakable.append((label, key, place))
            if key.isJWT { _ = reader.newText(NamedValue(name: "", text: key)) }
        }
        for value in found {
            if value.kind == .key {
                keys[value.name] = keys[value.name] ?? part
            } else if let label = names.label(of: value, inResponse: part.isResponse) {
                listedNames.insert(value.name)
                add(value.text.splittingScheme.text, label, at: place, value.evidence)
            } else if value.isClaim, Self.claimsOfPersons.contains(value.name) {
                persons.append((value, place))
            } else {
                if !part.isResponse, openTexts[value.text] == nil { openTexts[value.text] = place }
                valueCounts[value.name, default: 0] += 1
                guard valueCounts[value.name, default: 0] <= 20 else { continue }
                if part.isResponse, value.text.utf8.count <= 20 { clearTexts.insert(value.text) }
                if value.text.looksRandom { randomValues[value.name, default: []].append(value.text) }
                if part.isResponse, part.field == .body, value.name.isExpiry, let end = value.text.time, end > Date() {
                    expiries[value.name] = (part, value.text)
                }
            }
        }
    }

    /// A known secret may have more text around it that looks as if it belonged to it, and what comes after `Bearer` may go on.
    private mutating func addUnmistakable() {
        let found = Set(unmistakable.map(\.text))
        let texts = secrets.filter { !$0.isCommon }.map { Array($0.text.utf8) }
        let known = TextSearch(texts + found.map { Array($0.utf8) })
        let bearers = Array(Set(unmistakable.filter { $0.label == "authorization" }.map(\.text)))
        let search = TextSearch(bearers.map { Array($0.utf8) })
        var others = Set(texts.flatMap { text in search.matches(in: text).filter { $0.range.count < text.count }.map { bearers[$0.text] } })
        others.formUnion(
            found.filter { text in
                let bytes = Array(text.utf8)
                return !known.matches(in: Array(bytes.dropFirst())).isEmpty || !known.matches(in: bytes.dropLast()).isEmpty
            })
        for (label, text, place) in unmistakable where !others.contains(text) { add(text, label, at: place, .named) }
    }

    private static let claimsOfPersons: Set = [
        "email", "name", "picture", "phone_number", "given_name", "family_name", "nickname", "preferred_username",
    ]

    /// What cannot be anything else, and the beginning of its placeholder.
    private static func keys(in bytes: [UInt8]) -> [(label: String, text: String)] {
        guard bytes.count >= 12 else { return [] }
        let text = bytes.text
        return expressions.filter { bytes.has(text: $0.mark) }.flatMap { label, _, expression in
            expression.matches(in: text).compactMap { match in
                let key = (match[1] ?? match.whole).text.trimmingCharacters(in: .whitespacesAndNewlines)
                let hasDigit = key.utf8.contains(where: \.isDigit)
                switch label {
                case "token": return key.isJWT ? (label, key) : nil
                case "key": return hasDigit || key.utf8.count >= 24 ? (label, key) : nil
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
        ("password", "@", Expression(#"://[^\s/@:"'<>]*:([^\s/@"'<>]+)@"#)),
        ("authorization", "earer ", Expression(#"[Bb]earer ([\w.~+/-]{8,}=*)"#)),
    ]

    // MARK: - Where they stand

    private mutating func findPlaces() {
        places = secrets.indices.map { Set(secrets[$0].isCommon ? namedPlaces[$0] : []) }
        var (checked, first) = (secrets.indices.filter { !secrets[$0].isCommon }, true)
        while !checked.isEmpty {
            let check = SecretCheck(checked.map { secrets[$0].text })
            let count = secrets.count
            for (place, part) in parts.enumerated() {
                let found = check.secrets(in: part.bytes)
                for index in found.all { places[checked[index]].insert(place) }
                // What Base64 has a secret in it is one, such as the key of an API beside its secret.
                guard first, !found.inBase64.isEmpty, !part.isBinary else { continue }
                let label = found.inBase64.min().map { secrets[checked[$0]].label } ?? ""
                for word in Self.base64Word.matches(in: part.bytes.decodingEscapes().text) where !check.secrets(in: Array(word.whole.text.utf8)).all.isEmpty {
                    add(word.whole.text, label, at: place, .named)
                    places.append([])
                }
            }
            (checked, first) = (Array(count..<secrets.count), false)
        }
    }

    private static let base64Word = Expression(#"[A-Za-z0-9+/_-]{11,}={0,2}"#)

    /// - Parameter times: The place of each part in the order in which they came.
    private mutating func decideKinds(_ times: [Int]) {
        var dropped: Set<Int> = []
        for index in secrets.indices {
            let places = places[index]
            // What a response also has in clear, the app may have from there.
            let isClear = secrets[index].isCommon && clearTexts.contains(secrets[index].text)
            let first = places.min { times[$0] < times[$1] }
            secrets[index].isFromResponse = !environment.contains(index) && !isClear && first.map { parts[$0].isResponse } == true
            let firstResponse = places.filter { parts[$0].isResponse }.map { times[$0] }.min()
            if let open = openTexts[secrets[index].text].map({ times[$0] }), let firstResponse, open < firstResponse,
                foundOutsideOfRequests.contains(index)
            {
                // The app knows it by itself, and has sent it in the open.
                if cookies.contains(index) { secrets[index].isCommon = true } else { dropped.insert(index) }
            }
        }
        let kept = secrets.indices.filter { !dropped.contains($0) && !places[$0].isEmpty }
        partsOfCommonSecrets = Set(kept.filter { secrets[$0].isCommon }.flatMap { namedPlaces[$0] })
        let firsts = places.map { $0.min() ?? 0 }
        secrets = kept.sorted { (firsts[$0], $0) < (firsts[$1], $1) }.map { secrets[$0] }
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

extension NamedValue {
    fileprivate var evidence: SecretFinder.Evidence {
        switch kind {
        // A user and a parameter may be anything, unless they are what a name of the list says.
        case .credential:
            name == "user" || !enclosing.isEmpty && CredentialNames.match(name) == nil ? .partOfCredential : .named
        case .cookie: .cookie
        case .text, .number, .header, .key: .named
        }
    }
}
