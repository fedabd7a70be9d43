import APIProvider
import Foundation

/// Removes secrets from a report: the request's secrets, and each value with a credential's name.
package struct ReportRedactor: Sendable {
    /// For texts without a request.
    static let standard = ReportRedactor(for: nil)

    private static let mark = "…"

    /// The request's marked secrets.
    private let secrets: RequestSecrets
    /// The marked secrets and the request's credentials.
    private let secretsInTexts: RequestSecrets
    private let hiddenNames: [String]

    /// - Parameters:
    ///   - request: The request with the secrets.
    ///   - hiddenNames: Further names with secret values.
    package init(for request: PreparedRequest?, hiding hiddenNames: [String] = []) {
        (secrets, secretsInTexts) = (request?.secrets ?? RequestSecrets(), request?.secretsInTexts ?? RequestSecrets())
        self.hiddenNames = hiddenNames
    }

    /// A text without the request's marked secrets and credentials.
    func redacted(_ text: String) -> String { secretsInTexts.redacted(text) }

    // MARK: - URLs and headers

    /// A URL or reference, without user, password and fragment.
    func url(_ text: String) -> String { URIReference(text).redacted(path: path) { form($0) } }

    /// A URL's path.
    func path(_ path: String) -> String { secrets.redacted(path: path) }

    /// Decoded query items.
    func query(_ items: [URLQueryItem]) -> String {
        items.map { "\(message($0.name))=\(item($0.name, $0.value ?? ""))" }.joined(separator: "&")
    }

    /// A query or form item's decoded value.
    func item(_ name: String, _ value: String) -> String { !value.isEmpty && hidesValue(of: name) ? Self.mark : message(value) }

    /// A header's value. A credential keeps its scheme.
    func header(_ name: String, _ value: String) -> String {
        let isSecret = hiddenNames.contains(where: name.isField) || !Redaction.isHarmless(header: name) && name.namesCredential
        guard isSecret, !value.isEmpty else { return message(value) }
        let scheme = value.prefix { !$0.isWhitespace }
        return (Self.schemes.contains(scheme.lowercased()) ? "\(scheme) " : "") + Self.mark
    }

    /// Only known ones: another first word may be a secret.
    private static let schemes: Set = ["apikey", "basic", "bearer", "digest", "dpop", "hmac", "jwt", "negotiate", "oauth", "token"]

    /// A `Cookie` with the names at these places.
    func cookies(_ cookies: Lines, at places: [String]) -> String {
        let names = places.sorted().flatMap { place in
            cookies.texts(at: place).map { _ in message(String(Substring(place.utf8.dropFirst("cookie ".utf8.count)))) }
        }
        return names.isEmpty ? "no Cookie" : "Cookie: " + names.map { "\($0)=\(Self.mark)" }.joined(separator: "; ")
    }

    private func form(_ text: some StringProtocol) -> String {
        URIReference.items(text) { name, value in
            let (decodedName, decoded) = (name.formDecoded, value?.formDecoded)
            let shownName = message(decodedName) == decodedName ? String(name) : Self.mark
            guard let value, let decoded else { return shownName }
            let shown = item(decodedName, decoded)
            return "\(shownName)=\(shown == decoded ? String(value) : shown)"
        }
    }

    // MARK: - Bodies

    /// The body's text; a multipart body gets a line for each part. `nil` for binary data.
    func body(_ body: BodyLines) -> String? {
        if let parts = body.lines(as: .multipart) { return list(parts).joined(separator: "\n") }
        guard let text = String(data: body.data, encoding: .utf8), !text.utf8.contains(0) else { return nil }
        return json(body.data, body.lines(as: .json)) ?? (body.data.looksLikeForm ? form(text) : message(text))
    }

    /// The names of a multipart body's parts, for the place before the content; `nil` for other bodies.
    func partNames(of body: BodyLines) -> String? {
        guard body.lines(as: .multipart) != nil else { return nil }
        return "parts: \(body.parts.keys.map { message($0) }.sorted().joined(separator: ", "))".cut(to: 1024)
    }

    /// The lines, ordered by place.
    func list(_ lines: Lines) -> [String] {
        lines.values.keys.sorted().map { "\(message($0)): \(values(of: lines, at: $0))" }
    }

    /// A line's values, or "nothing".
    func values(of lines: Lines, at place: String, isHidden: Bool = false) -> String {
        guard let values = lines.values[place] else { return "nothing" }
        let texts = values.map { isHidden || shown(lines, $0, at: place) != nil ? Self.mark : "\($0)" }
        return texts.count == 1 ? texts[0] : "[\(texts.joined(separator: ", "))]"
    }

    /// Whether one of the line's values has a secret.
    func isHidden(_ lines: Lines, at place: String) -> Bool { lines.values[place]?.contains { shown(lines, $0, at: place) != nil } == true }

    /// JSON without secrets and otherwise unchanged; `nil` for anything but objects and arrays.
    private func json(_ body: Data, _ lines: Lines?, depth: Int = 0) -> String? {
        guard let lines, lines.isTree else { return nil }
        let replaced = lines.values.flatMap { place, values in
            values.compactMap { value in value.range.flatMap { range in shown(lines, value, at: place, depth).map { (range, $0) } } }
        }
        let bytes = Array(body)
        var (output, copied): ([UInt8], Int) = ([], 0)
        for (range, text) in replaced.sorted(by: { $0.0.lowerBound < $1.0.lowerBound }) {
            output += bytes[copied..<range.lowerBound] + text.jsonString
            copied = range.upperBound
        }
        return String(decoding: output + bytes[copied...], as: UTF8.self)
    }

    /// Whether the names at a place in a body say that the value is a secret.
    func namesCredential(_ place: String) -> Bool {
        place.names.contains { name in
            hidesValue(of: name) || name.parts(between: UInt8(ascii: ".")).contains { hidesValue(of: String($0)) }
        }
    }

    /// Whether the list or the recording hides values with this name, or with a part of it, as in `user[address]`.
    private func hidesValue(of name: String) -> Bool {
        name.namesCredential
            || !hiddenNames.isEmpty
                && (name.unicodeScalars.split { ".[]:".unicodeScalars.contains($0) }.map { String($0) } + [name]).contains {
                    hiddenNames.contains($0)
                }
    }

    /// The replacement for a value with a secret; `nil` for other values.
    private func shown(_ lines: Lines, _ value: Lines.Value, at place: String, _ depth: Int = 0) -> String? {
        let text = value.text
        func namesCredential() -> Bool { self.namesCredential(place) || lines.nameBeside(place).map(hidesValue) == true }
        switch value.kind {
        case .text:
            let shown = !text.isEmpty && namesCredential() ? Self.mark : message(text, depth: depth)
            return shown == text ? nil : shown
        case .number:
            return namesCredential() || redacted(text) != text ? Self.mark : nil
        case .literal, .object, .array, .bytes: return nil
        }
    }

    /// A whole value. Redacts JSON inside, too. Of other text, hides all behind the first credential's name.
    package func message(_ text: String, depth: Int = 0) -> String {
        if text.hasPrefix("{") || text.hasPrefix("[") {
            guard depth < 4 else { return Self.mark }
            let data = Data(text.utf8)
            if let json = json(data, Lines(json: data), depth: depth + 1) { return json }
        }
        return redacted(text.cut(behind: hidesValue))
    }
}

extension ReceivedRequest {
    var redactor: ReportRedactor { ReportRedactor(for: prepared, hiding: hiddenNames) }
}

extension Lines {
    /// The name in an object such as `{"name": "password", "value": …}`, for the value's place.
    fileprivate func nameBeside(_ place: String) -> String? {
        guard place == "value" || place.utf8.suffix(6).elementsEqual(".value".utf8) else { return nil }
        let object = String(Substring(place.utf8.dropLast(place == "value" ? 5 : 6)))
        return ["name", "key", "path"].lazy.compactMap { texts(at: object.member($0)).first }.first
    }
}

extension String {
    /// A name before a value, as in GraphQL, forms, XML and nearly valid JSON, or in quotes, or as the text of an XML element. A GraphQL
    /// variable is no value, and its default is one.
    private static let names = try? NSRegularExpression(
        pattern: #"(?<![$\w])([\p{L}\p{N}_][\w.\\-]*+)(?:["'\]\\]*+\s*+[:=](?!\s*\$\w++\s*+(?:[,)}\]]|$))\s*+"#
            + #"|(?=(?:\s[^<>]{0,1000})?>)|(["']|(?=\s*+</)))|\$([\p{L}_]\w*+)\s*+:[\s\w!\[\]]*+=\s*+"#)

    /// The text up to the first name of a secret, and then `…`. Where the name is a value itself, as in `<a value="…" name="password">`,
    /// the secret may stand before it, so nothing of the markup is shown.
    fileprivate func cut(behind namesSecret: (String) -> Bool) -> String {
        guard utf8.contains(where: { ":=>\"'".utf8.contains($0) }), let names = Self.names else { return self }
        for match in names.matches(in: self, range: NSRange(startIndex..., in: self)) {
            guard let whole = match.range.indices(in: self),
                let name = [1, 3].lazy.compactMap({ match.range(at: $0).indices(in: self) }).first,
                self[name].utf8.contains(UInt8(ascii: "\\")) || namesSecret(String(self[name]))
            else { continue }
            guard match.range(at: 2).location != NSNotFound else { return self[..<whole.upperBound] + "…" }
            return prefix(upTo: self[..<name.lowerBound].utf8.firstIndex { "<{".utf8.contains($0) } ?? startIndex) + "…"
        }
        return self
    }
}
