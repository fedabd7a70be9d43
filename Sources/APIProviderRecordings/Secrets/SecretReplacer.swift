import APIProvider
import APIProviderMocks
import Foundation

/// Puts a placeholder in the place of each secret of some exchanges, and tries to find the secrets afterwards.
struct SecretReplacer {
    /// With placeholders.
    private(set) var exchanges: [RecordedExchange]
    /// In the order in which they stand in the file.
    private(set) var secrets: [Secret]
    /// The reasons why these exchanges cannot be written, in sentences without secrets.
    private(set) var problems: [String] = []
    let finder: SecretFinder
    private let originals: [RecordedExchange]
    private let messages: [Message]
    /// The secrets by their texts.
    private let indices: [String: Int]
    /// The texts that are replaced wherever they stand, in both cases if they are hexadecimal, and the secret of each.
    private let everywhere: (search: TextSearch, secrets: [Int])
    private let check: SecretCheck

    /// Whether the text has a secret in any notation.
    func holdsSecret(_ text: String) -> Bool { !check.secrets(in: Array(text.utf8)).isEmpty }

    /// - Parameters:
    ///   - comparison: If the exchanges are another program's, what the app has from a response stays, and nothing is a reason to refuse.
    ///   - environment: Its variables may be secrets, too.
    init(_ exchanges: [RecordedExchange], _ comparison: Comparison, environment: [String: String] = [:]) {
        (self.exchanges, originals, messages) = (exchanges, exchanges, Message.all(of: exchanges))
        let values = messages.map { message in
            let exchange = exchanges[message.exchange]
            guard message.isResponse else { return NamedValue.values(of: comparison.lines(of: exchange)) }
            return exchange.response.map { NamedValue.values(of: Lines($0)) } ?? []
        }
        finder = SecretFinder(in: messages, values, comparison.names, marked: exchanges.map(\.markedSecrets), environment: environment)
        let secrets = finder.secrets
        self.secrets = secrets
        indices = Dictionary(secrets.enumerated().map { ($1.text, $0) }) { $1 }
        let searched = secrets.indices.filter { !secrets[$0].isCommon }.flatMap { index in
            secrets[index].text.inBothCases.map { (text: Array($0.utf8), secret: index) }
        }
        everywhere = (TextSearch(searched.map(\.text)), searched.map(\.secret))
        check = SecretCheck(secrets.map { $0.isCommon ? "" : $0.text })
        setPlaceholders()
        if comparison.isFromOtherProgram {
            for message in messages.indices {
                replaced(message) { !$0.isFromResponse }.write(to: &self.exchanges[messages[message].exchange])
            }
        } else {
            replace()
        }
    }

    /// The placeholders that stand in the exchanges.
    var placeholders: Placeholders {
        let search = TextSearch(secrets.map { Array($0.placeholder.utf8) })
        let found = Set(Message.all(of: exchanges).flatMap { search.matches(in: $0.bytes).map(\.text) })
        let standing = secrets.enumerated().filter { found.contains($0) || $1.placeholder.utf8.count < 8 }.map(\.element)
        return Placeholders(Dictionary(standing.map { ($0.placeholder, $0.places) }) { $1 })
    }

    // MARK: - Placeholders

    private mutating func setPlaceholders() {
        let counts = Dictionary(secrets.map { ($0.label, 1) }) { $0 + $1 }
        var (last, taken, rest): ([String: Int], Set<String>, [Int]) = ([:], Set(indices.keys), Array(secrets.indices))
        while !rest.isEmpty {
            for index in rest {
                let label = secrets[index].label
                // With eight bytes at least, it is found as secrets are.
                let width = max(3, 7 - label.utf8.count, "\(2 * counts[label, default: 0])".utf8.count)
                repeat {
                    last[label, default: 0] += 1
                    secrets[index].setPlaceholder(last[label, default: 0], width: width)
                } while !taken.insert(secrets[index].placeholder).inserted
            }
            // A text that stands in the traffic is no placeholder.
            let search = TextSearch(rest.map { Array(secrets[$0].placeholder.utf8) })
            rest = Set(messages.flatMap { search.matches(in: $0.bytes).map { rest[$0.text] } }).sorted()
        }
        for index in secrets.indices where secrets[index].text.isJWT { secrets[index].replacement = jwt(secrets[index]) }
    }

    /// The JWT with its claims redacted, and the placeholder for its signature.
    private func jwt(_ secret: Secret) -> String {
        let parts = secret.text.split(separator: ".").map(String.init)
        guard let claims = Data(base64URL: parts[1]).map({ [UInt8]($0) }), let lines = Lines(json: Data(claims)) else { return secret.text }
        let edits = lines.values.flatMap { place, values in
            values.compactMap { value -> Edits.Element? in
                guard let range = value.range, let index = indices[value.text], var named = NamedValue(value, at: place) else { return nil }
                named.isClaim = true
                guard !secrets[index].isCommon || finder.names.redacts(claim: named) else { return nil }
                let replacement = secrets[index].replacement
                return (range, value.kind == .number ? Array(replacement.utf8) : replacement.jsonString)
            }
        }
        return "\(parts[0]).\(Data(claims.applying(edits)).base64URL).\(secret.placeholder)"
    }

    // MARK: - Replacing

    private mutating func replace() {
        for number in messages.indices {
            var message = replaced(number) { _ in true }
            // Those that the check still finds are replaced in other notations, too.
            let spellings = check.secrets(in: message.bytes).sorted().flatMap { index in
                secrets[index].text.spellings.map { (text: Array($0.utf8), secret: index) }
            }
            let search = TextSearch(spellings.map(\.text))
            for index in spellings.isEmpty ? 0..<0 : message.parts.indices {
                if !message.parts[index].isBinary {
                    message.parts[index].replace(search.matches(in: message.parts[index].bytes)) {
                        secrets[spellings[$0].secret].replacement
                    }
                }
                let (name, cure) = message.description(of: message.parts[index])
                problems += check.secrets(in: message.parts[index].bytes).sorted().map { secret in
                    "\(exchanges[message.exchange].summary) has \(secrets[secret].placeholder) in \(name), in a notation that is not replaced. "
                        + "To write it otherwise: \(cure)"
                }
            }
            message.write(to: &exchanges[message.exchange])
        }
    }

    /// A message with the placeholders of these secrets: behind their names, and wherever else a text stands that is not common.
    private func replaced(_ number: Int, _ isReplaced: (Secret) -> Bool) -> Message {
        var message = messages[number]
        let common = finder.named[number].compactMap { value in
            indices[value.text.splittingScheme.text].map { (value, secrets[$0]) }
        }.filter { isReplaced($1) && ($1.isCommon || $0.kind == .credential) }
        let marked = (message.isResponse ? [] : originals[message.exchange].markedSecrets).compactMap { indices[$0].map { secrets[$0] } }
        for index in message.parts.indices where !message.parts[index].isBinary {
            for (value, secret) in common { message.parts[index].replace(value, secret) }
            for secret in marked where secret.isCommon && isReplaced(secret) { message.parts[index].replaceWhole(secret) }
            message.parts[index].replace(everywhere.search.matches(in: message.parts[index].bytes)) { text in
                let secret = secrets[everywhere.secrets[text]]
                return isReplaced(secret) ? secret.replacement : nil
            }
        }
        return message
    }
}

extension Message.Part {
    /// Nothing is replaced in the scheme, the host and the port of a URL.
    fileprivate mutating func replace(_ matches: [(range: Range<Int>, text: Int)], _ replacement: (Int) -> String?) {
        let host = field == .url ? bytes.firstOffset(of: Array("://".utf8)).map { $0 + 3 } : nil
        let start = host.map { host in bytes[host...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count } ?? 0
        bytes = bytes.applying(
            matches.compactMap { match in
                match.range.lowerBound < start ? nil : replacement(match.text).map { (match.range, Array($0.utf8)) }
            })
    }

    /// Whether the line of a value is in this part.
    private func has(_ value: NamedValue) -> Bool {
        switch field {
        case .body: value.place.hasPrefix("body")
        case .header: value.place.hasPrefix("header ") || value.place.hasPrefix("cookie ")
        case .url: !value.place.hasPrefix("body") && !value.place.hasPrefix("header ") && !value.place.hasPrefix("cookie ")
        }
    }

    /// Replaces a common text where it stands right behind its name.
    fileprivate mutating func replace(_ value: NamedValue, _ secret: Secret) {
        guard has(value), bytes.contains(value.key) || value.key.isEmpty || field != .body else { return }
        let text = secret.text.spellings.sorted().reversed().map { NSRegularExpression.escapedPattern(for: $0) }.joined(separator: "|")
        if case .header(let name) = field, value.place.hasPrefix("header \(name.lowercased())") {
            let isUser = value.names.count > 1
            let expression = Expression(isUser ? "([ =\"])(?:\(text))(?=[:\",]|$)" : "^(\\S+ |)(?:\(text))$")
            bytes = Array(expression.replacing(in: bytes.text) { "\($0[1] ?? "")\(secret.replacement)" }.utf8)
            return
        }
        let name = NSRegularExpression.escapedPattern(for: value.key)
        let behind = #"["'\\\]]*\s*(?:[=:]|[^<>]*>)[\s"'\\\[]*|["'][^<>]*?\s(?:value|content)=["']|["'][^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\n"#
        let expression = Expression("((?<![\\w-])\(name)(?:\(behind)))(?:\(text))(?![\\w.]*\\w)")
        bytes = Array(expression.replacing(in: bytes.text) { "\($0[1] ?? "")\(secret.replacement)" }.utf8)
    }

    /// Replaces a marked text where it is a whole segment or a whole value.
    fileprivate mutating func replaceWhole(_ secret: Secret) {
        let text = NSRegularExpression.escapedPattern(for: field == .url ? secret.text.escapedAsValue : secret.text)
        let expression = Expression("(?:(?<=[/=\"&])|^)\(text)(?=[/?&#\"]|$)")
        bytes = Array(expression.replacing(in: bytes.text) { _ in secret.replacement }.utf8)
    }
}
