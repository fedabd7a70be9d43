import APIProvider
import APIProviderMocks
import Foundation

/// Replaces each secret in some traffic by a placeholder, wherever it stands.
struct SecretReplacer {
    private let exchanges: [RecordedExchange]
    private let names: SecretNames?
    private var parts: [MessagePart] = []
    private var indices: [[UInt8]: Int] = [:]
    private struct ListKey: Hashable { let name: String, isNumber: Bool }

    /// The entries of the list for the names so far. A large body has few.
    private var listed: [ListKey: (base: String, rule: SecretNames.Rule)?] = [:]
    /// Ordinary texts that a response has under a name of the list, and that are not secret there.
    private var plainTexts: Set<[UInt8]> = []
    private(set) var secrets: [Secret] = []
    /// The exchanges that cannot be written, and why.
    private var reasons: [(exchange: Int, text: String)] = []
    /// Placeholders that the secrets may not get.
    private let reservedPlaceholders: Set<String>

    /// - Parameters:
    ///   - names: The names under which values are secret; `nil` keeps everything.
    ///   - reservedPlaceholders: Placeholders that the secrets may not get.
    init(_ exchanges: [RecordedExchange], _ names: SecretNames?, ignoring ignored: SecretNames, reservedPlaceholders: Set<String> = []) {
        (self.exchanges, self.names, self.reservedPlaceholders) = (exchanges, names, reservedPlaceholders)
        for (exchange, isResponse) in exchanges.events {
            for part in MessagePart.parts(of: exchanges[exchange], at: exchange, isResponse: isResponse) {
                parts.append(part)
                findSecrets(in: parts.count - 1, ignored)
            }
        }
        findOccurrences()
        assignPlaceholders()
    }

    /// The reasons why these exchanges cannot be written, in sentences without secrets.
    var problems: [String] {
        guard !reasons.isEmpty else { return [] }
        let lines = redactedExchanges.map(\.requestSummary)
        return reasons.map { "\(lines[$0.exchange]) \($0.text)" }.reduce(into: []) { if !$0.contains($1) { $0.append($1) } }
    }

    /// Those whose placeholders stand in the file.
    var replacedSecrets: [Secret] { secrets.filter { !$0.placeholder.isEmpty } }

    /// The same as a file lists them.
    var placeholders: Placeholders { Placeholders(replacedSecrets) }

    /// The exchanges with the placeholders.
    var redactedExchanges: [RecordedExchange] { rewritten { $1.replacement } }

    /// The exchanges as the app sends them in a replay: what it takes from a response is a placeholder, and all else is as it came.
    var replayedExchanges: [RecordedExchange] {
        rewritten { isResponse, secret in isResponse || secret.origin == .response ? secret.replacement : nil }
    }
}

// MARK: - Finding secrets

extension SecretReplacer {
    private mutating func findSecrets(in index: Int, _ ignored: SecretNames) {
        let part = parts[index]
        for leaf in part.leaves {
            if leaf.kind != .key, !part.isResponse, let base = ignored.ignored(leaf.name) {
                add(leaf.text.bytes, base, at: leaf.text.range, in: index, isNumber: leaf.kind == .number, isIgnored: true)
                continue
            }
            guard let names else { continue }
            findSecret(leaf, in: index, names)
            for (range, base) in leaf.kind == .text ? leaf.text.unmistakableSecrets() : [] {
                add(Array(leaf.text.bytes[range]), base, at: leaf.text.range(of: range), in: index)
            }
        }
        guard names != nil else { return }
        if !part.isResponse { findProgramSecrets(in: index) }
        findInOtherEncoding(part)
    }

    /// A credential, or a value under a name of the list.
    private mutating func findSecret(_ leaf: Leaf, in index: Int, _ names: SecretNames) {
        let bytes = leaf.text.bytes
        guard leaf.kind != .key, bytes.hasWord, !names.keeps(leaf.name) else { return }
        let key = ListKey(name: leaf.name, isNumber: leaf.kind == .number)
        let listed = listed[key] ?? names.secret(key.name, isNumber: key.isNumber)
        self.listed[key] = .some(listed)
        if leaf.isCredential {
            let base = leaf.isCookie ? listed?.base ?? "cookie" : leaf.name.isField("user") ? "user" : listed?.base ?? "authorization"
            add(bytes, base, at: leaf.text.range, in: index, isCookie: leaf.isCookie)
            if leaf.isBasic, let pair = Data(base64Encoded: leaf.text.string), let colon = pair.firstIndex(of: UInt8(ascii: ":")) {
                // The password of Basic authentication may stand elsewhere, too.
                add(Array(pair[(colon + 1)...]), "password", at: nil, in: index)
            }
            return
        }
        guard let (base, rule) = listed, !bytes.isBracketed else { return }
        guard rule.hides(bytes, inResponse: parts[index].isResponse) else {
            if bytes.isOrdinary { plainTexts.insert(bytes) }
            return
        }
        if rule == .exceptOrdinaryTextInResponses, bytes.isOrdinary, plainTexts.contains(bytes) { return }
        let scheme = ["bearer ", "basic ", "token "].first { leaf.text.string.lowercased().hasPrefix($0) }?.utf8.count ?? 0
        let range = scheme < bytes.count ? scheme..<bytes.count : 0..<bytes.count
        add(Array(bytes[range]), base, at: leaf.text.range(of: range), in: index, isNumber: leaf.kind == .number)
    }

    private mutating func findProgramSecrets(in index: Int) {
        let part = parts[index]
        for secret in exchanges[part.exchange].programSecrets.map({ Array($0.utf8) }) where secret.hasWord {
            let wholes = part.leaves.filter { $0.text.bytes == secret }.map { ($0, 0..<secret.count) }
            let inner =
                part.field == .requestBody
                ? []
                : part.leaves.compactMap { leaf in
                    leaf.text.bytes.firstOffset(of: secret).map { (leaf, $0..<$0 + secret.count) }
                }
            for (leaf, range) in wholes.isEmpty ? inner : wholes {
                add(secret, "secret", at: leaf.text.range(of: range), in: index)
            }
        }
    }

    /// A secret in a body that is text in another encoding than UTF-8 cannot be replaced.
    private mutating func findInOtherEncoding(_ part: MessagePart) {
        guard part.field == .requestBody || part.field == .responseBody, let names else { return }
        let exchange = exchanges[part.exchange]
        let type = part.isResponse ? exchange.response?.value(of: "Content-Type") ?? "" : exchange.type
        if !part.isResponse, let coding = exchange.headers.value(of: "Content-Encoding"), !coding.isField("identity") {
            reasons.append(
                (part.exchange, "has a body with the Content-Encoding \(coding), in which secrets cannot be found; send it uncompressed"))
        }
        guard let text = part.textInOtherEncoding else {
            let found = part.leaves.isEmpty ? SourceText(part.bytes).unmistakableSecrets().map(\.base) : []
            // In a binary body, text that looks like the user of a URL may be there by chance.
            if let base = found.first(where: { !["user", "password"].contains($0) }) {
                reasons.append((part.exchange, "has a \(base) in a binary body, where it cannot be replaced"))
            }
            return
        }
        for leaf in LeafFinder.leaves(ofBody: text, type: type) where leaf.kind != .key && leaf.text.bytes.hasWord {
            var base = leaf.text.unmistakableSecrets().first?.base
            if let (listed, rule) = names.secret(leaf.name, isNumber: leaf.kind == .number),
                rule.hides(leaf.text.bytes, inResponse: part.isResponse)
            {
                base = listed
            }
            guard let base else { continue }
            reasons.append((part.exchange, "has a \(base) in a body that is not UTF-8, where it cannot be replaced"))
        }
    }

    private mutating func add(
        _ text: [UInt8], _ base: String, at range: Range<Int>?, in index: Int, isCookie: Bool = false, isNumber: Bool = false,
        isIgnored: Bool = false
    ) {
        guard !text.isEmpty else { return }
        let isNew = indices[text] == nil
        let secret = indices[text] ?? secrets.count
        if isNew {
            indices[text] = secret
            secrets.append(Secret(text, base: base, isCookie: isCookie, isIgnored: isIgnored, firstPart: index))
            if secrets[secret].origin != .ignored { secrets[secret].origin = parts[index].isResponse ? .response : .request }
        } else if !isCookie {
            secrets[secret].isCookie = false
        }
        if isNumber { secrets[secret].becomeNumber() }
        if let range { parts[index].hits.append((range, secret)) }
        guard isNew, case .jwt(_, let payload) = secrets[secret].kind, let json = Data(base64URL: payload), let names else { return }
        let bytes = Array(json)
        parts.append(
            MessagePart(
                exchange: parts[index].exchange, field: .claims(of: secret), isResponse: parts[index].isResponse, bytes: bytes,
                leaves: LeafFinder.leaves(ofBody: bytes, type: "application/json")))
        let claimsIndex = parts.count - 1
        for leaf in parts[claimsIndex].leaves { findSecret(leaf, in: claimsIndex, names) }
    }
}

// MARK: - Replacing secrets

extension SecretReplacer {
    /// Finds the secrets everywhere: one that is not ordinary in any text, an ordinary one where it is the whole value.
    private mutating func findOccurrences() {
        let searched = secrets.indices.filter { !secrets[$0].isOrdinary }
        let search = EscapedSearch(searched.map { secrets[$0].text })
        let longest = secrets.map(\.text.count).max() ?? 0
        for index in parts.indices {
            let part = parts[index]
            var hits = part.hits
            for leaf in part.leaves {
                let whole = leaf.text.bytes.count <= longest ? indices[leaf.text.bytes] : nil
                if leaf.kind == .number {
                    if let whole, !secrets[whole].isOrdinary || isReplaced(whole, in: index) {
                        secrets[whole].becomeNumber()
                        hits.append((leaf.text.range, whole))
                    }
                    continue
                }
                if let whole, secrets[whole].isOrdinary, isReplaced(whole, in: index) { hits.append((leaf.text.range, whole)) }
                hits += search.matches(in: leaf.text.bytes).map { (leaf.text.range(of: $0.range), searched[$0.index]) }
            }
            if part.leaves.isEmpty, let found = search.matches(in: part.textInOtherEncoding ?? part.bytes).first {
                let base = secrets[searched[found.index]].base
                reasons.append((part.exchange, "has a \(base) in a binary body, where it cannot be replaced"))
            }
            parts[index].hits = hits.removingOverlaps
        }
    }

    /// Whether an ordinary secret is replaced in a value that is the same, under any name.
    private func isReplaced(_ secret: Int, in index: Int) -> Bool {
        switch origin(of: secret, isResponse: secrets[secret].origin == .response) {
        // A request that was sent before is not the app's use of it.
        case .response: !parts[index].isResponse && !secrets[secret].isCookie && index > secrets[secret].firstPart
        case .ignored: parts[index].isResponse
        case .request: false
        }
    }

    /// The origin of a secret whose first occurrence is in a response, or in a request.
    private func origin(of secret: Int, isResponse: Bool) -> Secret.Origin {
        if secrets[secret].origin == .ignored { return .ignored }
        // If a response also has the text in clear, the app may take it from there, and sends it instead of the placeholder.
        return isResponse && !plainTexts.contains(secrets[secret].text) ? .response : .request
    }

    private mutating func assignPlaceholders() {
        var order: [Int] = []
        var seen: Set<Int> = []
        for part in parts {
            for hit in part.hits.sorted(by: { $0.range.lowerBound < $1.range.lowerBound }) where seen.insert(hit.secret).inserted {
                order.append(hit.secret)
                secrets[hit.secret].origin = origin(of: hit.secret, isResponse: part.isResponse)
            }
        }
        let counts = Dictionary(order.map { (secrets[$0].pattern.prefix, 1) }) { $0 + $1 }
        var last: [String: Int] = [:]
        var taken: [String: Set<String>] = [:]
        for index in order {
            let (prefix, width) = secrets[index].pattern
            let standing = taken[prefix] ?? placeholdersInTraffic(withPrefix: prefix).union(reservedPlaceholders)
            taken[prefix] = standing
            let digits = max(width, "\(counts[prefix, default: 0] + standing.count)".count)
            repeat {
                last[prefix, default: 0] += 1
                let number = "\(last[prefix, default: 0])"
                secrets[index].placeholder = prefix + String(repeating: "0", count: max(0, digits - number.count)) + number
            } while standing.contains(secrets[index].placeholder)
            secrets[index].replacement = secrets[index].placeholder
        }
        for index in parts.indices {
            guard case .claims(let secret) = parts[index].field, case .jwt(let header, let payload) = secrets[secret].kind else { continue }
            let isChanged = !parts[index].hits.isEmpty
            let others = isChanged ? Data(rewritten(parts[index], \.replacement)).base64URL : payload
            secrets[secret].replacement = "\(header).\(others).\(secrets[secret].placeholder)"
        }
    }

    /// The texts in the traffic that would be placeholders.
    private func placeholdersInTraffic(withPrefix prefix: String) -> Set<String> {
        let mark = Array(prefix.utf8)
        var names: Set<String> = []
        for part in parts {
            var position = 0
            while let place = part.bytes.firstOffset(of: mark, from: position) {
                position = place + mark.count
                names.insert(prefix + String(decoding: part.bytes[position...].prefix(while: \.isDigit), as: UTF8.self))
            }
        }
        return names
    }

    private func rewritten(_ part: MessagePart, _ replacement: (Secret) -> String?) -> [UInt8] {
        part.bytes.replacing(part.hits.compactMap { hit in replacement(secrets[hit.secret]).map { (hit.range, Array($0.utf8)) } })
    }

    /// The exchanges with what `replacement` gives for each secret in a request or a response; `nil` leaves it as it is.
    func rewritten(_ replacement: (_ isResponse: Bool, Secret) -> String?) -> [RecordedExchange] {
        var exchanges = exchanges
        for part in parts where !part.hits.isEmpty {
            let bytes = rewritten(part) { replacement(part.isResponse, $0) }
            let text = String(decoding: bytes, as: UTF8.self)
            switch part.field {
            case .url: exchanges[part.exchange].url = text
            case .requestHeader(let index): exchanges[part.exchange].headers[index].value = text
            case .requestBody: exchanges[part.exchange].body = bytes
            case .responseHeader(let index): exchanges[part.exchange].response?.headers[index].value = text
            case .responseBody: exchanges[part.exchange].response?.body = bytes
            case .claims: break
            }
        }
        return exchanges
    }
}
