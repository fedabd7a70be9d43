import Foundation

extension SecretReplacer {
    /// Looks for each secret again: for common ones by their names.
    mutating func refuseSecrets(in message: Message, _ number: Int) {
        for part in message.parts {
            for secret in check.secrets(in: part).sorted() { refuse(secrets[secret], in: part, of: message) }
        }
        guard named[number].contains(where: { secret($0.secretText)?.reach == .named }) else { return }
        for value in values(of: message) {
            guard let secret = secret(value.secretText), secret.reach == .named,
                options.label(of: value, inResponse: message.isResponse) != nil,
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
    func replaced(_ number: Int) -> Message {
        var message = messages[number]
        let named = named[number].compactMap { value -> (value: NamedValue, secret: Secret)? in
            guard let secret = secret(value.secretText) else { return nil }
            return secret.reach == .named || value.kind == .credential || value.kind == .cookie ? (value, secret) : nil
        }
        let marked = (message.isResponse ? [] : originals[message.exchange].markedSecrets).compactMap(secret).filter { $0.reach == .named }
        for index in message.parts.indices where !message.parts[index].isBinary {
            let groups = Dictionary(grouping: named.filter { message.parts[index].contains($0.value) }) {
                message.parts[index].pattern(for: $0.value)
            }
            // A text comes before the texts inside it: `sid=…` in the cookie `prefs=sid=…`.
            func length(_ named: [(value: NamedValue, secret: Secret)]) -> Int { named.map(\.secret.text.utf8.count).max() ?? 0 }
            for (pattern, named) in groups.sorted(by: { (length($1.value), $0.key) < (length($0.value), $1.key) }) {
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
                || value.place.isCookie && name.lowercased().hasSuffix("cookie")
        case .url: !value.place.hasPrefix("body") && !value.place.hasPrefix("header ") && !value.place.isCookie
        }
    }

    /// The expression for a value behind its name. `TEXTS` stands for the secrets.
    fileprivate func pattern(for value: NamedValue) -> String {
        if value.place.hasPrefix("header ") { return value.names.count > 1 ? #"[\s=":](TEXTS)(?=[:",]|$)"# : #"^(?:\S+\s+)?(TEXTS)\s*$"# }
        // The limits keep a large body with many such names fast. Behind more text, a secret is refused.
        let behind =
            #"["'\]]*\s*(?:[=:](?:\s*\[?[A-Z]\w{0,60}[!?\]]{0,3}\s*=)?|[^<>]{0,4096}+>)[\s"'\[]*|["'][^<>]{0,1000}?\s(?:value|content)=["']"#
            + #"|["'][^\r\n]{0,1000}+(?:\r\n[^\r\n]{1,1000}+){0,20}\r\n\r\n"#
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
                [secret.text, secret.text.decodingEscapes, secret.text.replacingOccurrences(of: " ", with: "+", options: .literal)].map {
                    (Array($0.utf8), secret)
                }
            }
        ) { $1 }
        let alternatives = texts.keys.map(\.text).sorted { $0.utf8.count > $1.utf8.count }.map {
            NSRegularExpression.escapedPattern(for: $0)
        }
        let expression = Expression(pattern.replacingOccurrences(of: "TEXTS", with: alternatives.joined(separator: "|"), options: .literal))
        replace(
            expression.places(in: decoded.bytes.text).compactMap { range, text in
                texts[Array(text.utf8)].map { (decoded.sourceRange(range), $0) }
            })
    }
}
