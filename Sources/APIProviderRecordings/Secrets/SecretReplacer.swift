import APIProvider
import APIProviderMocks
import Foundation

/// Replaces secrets with placeholders, and then looks for each secret again.
struct SecretReplacer {
    /// With placeholders.
    private(set) var exchanges: [RecordedExchange]
    /// In the file's order.
    private(set) var secrets: [Secret]
    /// The reasons to write no file, in sentences without secrets.
    private(set) var problems: [String] = []
    let finder: SecretFinder
    private let options: RecordingOptions
    private let originals: [RecordedExchange]
    private let messages: [Message]
    /// The secrets by their bytes.
    private let indices: [[UInt8]: Int]
    /// For uncommon secrets.
    private let check: SecretCheck

    /// Whether the text contains a secret in any notation.
    func containsSecret(_ text: String) -> Bool { !check.secrets(in: Array(text.utf8)).isEmpty }

    /// - Parameters:
    ///   - options: Another program's secrets from responses stay, and no such file is refused.
    ///   - environment: Variables with secrets, maybe.
    init(_ exchanges: [RecordedExchange], _ options: RecordingOptions, environment: [String: String] = [:]) {
        let exchanges = exchanges.map(options.stored)
        (self.exchanges, originals, messages) = (exchanges, exchanges, Message.all(of: exchanges))
        self.options = options
        let values = messages.map { Self.values(of: $0, in: exchanges, options) }
        finder = SecretFinder(in: messages, values, options, marked: exchanges.map(\.markedSecrets), environment: environment)
        let secrets = finder.secrets.filter { !options.isFromOtherProgram || !$0.isFromResponse }
        self.secrets = secrets
        indices = Dictionary(secrets.enumerated().map { (Array($1.text.utf8), $0) }) { $1 }
        check = SecretCheck(secrets.map { $0.isCommon ? "" : $0.text })
        setPlaceholders()
        for number in messages.indices {
            let message = replaced(number)
            message.write(to: &self.exchanges[message.exchange])
            if !options.isFromOtherProgram { refuseSecrets(in: message, number) }
        }
    }

    private static func values(of message: Message, in exchanges: [RecordedExchange], _ options: RecordingOptions) -> [NamedValue] {
        let exchange = exchanges[message.exchange]
        guard message.isResponse else { return NamedValue.values(of: options.lines(of: exchange)) }
        return exchange.response.map { NamedValue.values(of: Lines($0)) } ?? []
    }

    var placeholders: Placeholders { Placeholders(Dictionary(secrets.map { ($0.placeholder, $0.places) }) { $1 }) }

    // MARK: - Placeholders

    private mutating func setPlaceholders() {
        let counts = Dictionary(secrets.map { ($0.label, 1) }) { $0 + $1 }
        var (last, taken, rest): ([String: Int], Set<String>, [Int]) = ([:], Set(secrets.map(\.text)), Array(secrets.indices))
        while !rest.isEmpty {
            for index in rest {
                let label = secrets[index].label
                // A search finds eight bytes or more.
                let width = max(3, 7 - label.utf8.count, "\(2 * counts[label, default: 0])".utf8.count)
                repeat {
                    last[label, default: 0] += 1
                    secrets[index].setPlaceholder(last[label, default: 0], width: width)
                } while !taken.insert(secrets[index].placeholder).inserted
            }
            // No placeholder occurs in the traffic.
            let search = TextSearch(rest.map { Array(secrets[$0].placeholder.utf8) })
            rest = Set(messages.flatMap { search.matches(in: $0.bytes).map { rest[$0.text] } }).sorted()
        }
        for index in secrets.indices where secrets[index].text.isJWT { secrets[index].replacement = jwt(secrets[index]) }
    }

    /// The JWT with redacted claims, and the placeholder for the signature.
    private func jwt(_ secret: Secret) -> String {
        let parts = secret.text.split(separator: ".").map(String.init)
        guard let claims = Data(base64URL: parts[1]), let lines = Lines(json: claims) else { return secret.text }
        let edits = lines.values.flatMap { place, values in
            values.compactMap { value -> Edits.Element? in
                guard let range = value.range, let named = NamedValue(value, at: place) else { return nil }
                let bytes = Array(named.secretText.utf8)
                guard let index = indices[bytes] else {
                    let isOfPerson = value.kind == .text && Self.claimsOfPersons.contains(named.name) && finder.openTexts[bytes] == nil
                    return isOfPerson ? (range, named.name.jsonString) : nil
                }
                let isOfClient = ["azp", "aud", "client_id"].contains(named.name)
                guard !secrets[index].isCommon || isOfClient || options.label(of: named, inResponse: true) != nil else { return nil }
                let replacement = secrets[index].replacement
                return (range, value.kind == .number ? Array(replacement.utf8) : replacement.jsonString)
            }
        }
        return "\(parts[0]).\(Data([UInt8](claims).applying(edits)).base64URL).\(secret.placeholder)"
    }

    /// These name whoever recorded. Base64 hides them from a committer's eyes.
    private static let claimsOfPersons: Set = [
        "email", "name", "picture", "phone_number", "given_name", "family_name", "nickname", "preferred_username",
    ]

    // MARK: - Replacing

    /// Looks for each secret again: for common ones by their names.
    private mutating func refuseSecrets(in message: Message, _ number: Int) {
        for part in check.secrets(in: message.bytes).isEmpty ? [] : message.parts {
            for secret in check.secrets(in: part.bytes).sorted() { refuse(secrets[secret], in: part, of: message) }
        }
        func secret(_ value: NamedValue) -> Secret? {
            indices[Array(value.secretText.utf8)].map { secrets[$0] }.flatMap { $0.isCommon ? $0 : nil }
        }
        guard finder.named[number].contains(where: { secret($0) != nil }) else { return }
        for value in Self.values(of: message, in: exchanges, options) {
            guard let secret = secret(value), options.label(of: value, inResponse: message.isResponse) != nil,
                let part = message.parts.first(where: { $0.contains(value) })
            else { continue }
            refuse(secret, in: part, of: message)
        }
    }

    /// The request in a sentence, without a host with a secret.
    func summary(of number: Int) -> String {
        let summary = exchanges[number].summary
        return containsSecret(summary) ? "\(exchanges[number].method) …" : summary
    }

    private mutating func refuse(_ secret: Secret, in part: Message.Part, of message: Message) {
        let (name, cure) = message.description(of: part)
        let problem =
            "\(summary(of: message.exchange)) has \(secret.placeholder) in \(name), in a notation that is not replaced. To write it "
            + "otherwise: \(cure)"
        if problems.last != problem { problems.append(problem) }
    }

    /// A message with placeholders: for common secrets behind their names, and for others everywhere.
    private func replaced(_ number: Int) -> Message {
        var message = messages[number]
        let named = finder.named[number].compactMap { value -> (value: NamedValue, secret: Secret)? in
            guard let secret = indices[Array(value.secretText.utf8)].map({ secrets[$0] }) else { return nil }
            return secret.isCommon || value.kind == .credential || value.kind == .cookie ? (value, secret) : nil
        }
        let marked = (message.isResponse ? [] : originals[message.exchange].markedSecrets).compactMap {
            indices[Array($0.utf8)].map { secrets[$0] }
        }.filter(\.isCommon)
        for index in message.parts.indices where !message.parts[index].isBinary {
            let groups = Dictionary(grouping: named.filter { message.parts[index].contains($0.value) }) {
                message.parts[index].pattern(for: $0.value)
            }
            for (pattern, named) in groups.sorted(by: { $0.key < $1.key }) {
                message.parts[index].replace(named.map(\.secret), pattern)
            }
            message.parts[index].replace(marked, #"(?:(?<=[/="&])|^)(TEXTS)(?=[/?&#"]|$)"#)
            message.parts[index].replace(check.places(in: message.parts[index].bytes).map { ($0.range, secrets[$0.secret]) })
        }
        return message
    }
}

extension Message.Part {
    /// Replaces nothing in a URL's scheme, host and port.
    fileprivate mutating func replace(_ places: [(range: Range<Int>, secret: Secret)]) {
        let host = field == .url ? bytes.firstOffset(of: Array("://".utf8)).map { $0 + 3 } : nil
        let start = host.map { host in bytes[host...].firstIndex { "/?#".utf8.contains($0) } ?? bytes.count } ?? 0
        bytes = bytes.applying(places.filter { $0.range.lowerBound >= start }.map { ($0.range, Array($0.secret.replacement.utf8)) })
    }

    /// Whether the value's line is in this part.
    fileprivate func contains(_ value: NamedValue) -> Bool {
        switch field {
        case .body: value.place.hasPrefix("body")
        case .header(let name):
            value.place.hasPrefix("header \(name.lowercased())")
                || value.place.hasPrefix("cookie ") && name.lowercased().hasSuffix("cookie")
        case .url: !value.place.hasPrefix("body") && !value.place.hasPrefix("header ") && !value.place.hasPrefix("cookie ")
        }
    }

    /// The expression for a value behind its name. `TEXTS` stands for the secrets.
    fileprivate func pattern(for value: NamedValue) -> String {
        if value.place.hasPrefix("header ") { return value.names.count > 1 ? #"[\s=":](TEXTS)(?=[:",]|$)"# : #"^(?:\S+\s+)?(TEXTS)\s*$"# }
        let behind = #"["'\]]*\s*(?:[=:]|[^<>]*>)[\s"'\[]*|["'][^<>]*?\s(?:value|content)=["']|["'][^\r\n]*(?:\r\n[^\r\n]+)*\r\n\r\n"#
        return "(?<![\\w-])\(NSRegularExpression.escapedPattern(for: value.key))(?:\(behind))(TEXTS)(?![\\w.]*\\w)"
    }

    /// Replaces secrets where the expression finds them in the decoded text.
    fileprivate mutating func replace(_ secrets: [Secret], _ pattern: String) {
        guard !secrets.isEmpty else { return }
        var decoded = DecodedText(bytes)
        // Other charsets' escapes are no UTF-8.
        if !decoded.bytes.isUTF8 { decoded = DecodedText(bytes, levels: 0) }
        let texts = Dictionary(
            secrets.flatMap { secret in
                Set([secret.text, secret.text.decodingEscapes, secret.text.replacingOccurrences(of: " ", with: "+")]).map {
                    (Array($0.utf8), secret)
                }
            }
        ) { $1 }
        let alternatives = texts.keys.map(\.text).sorted { $0.utf8.count > $1.utf8.count }.map {
            NSRegularExpression.escapedPattern(for: $0)
        }
        let expression = Expression(pattern.replacingOccurrences(of: "TEXTS", with: alternatives.joined(separator: "|")))
        replace(
            expression.places(in: decoded.bytes.text).compactMap { range, text in
                texts[Array(text.utf8)].map { (decoded.sourceRange(range), $0) }
            })
    }
}
