import APIProvider
import Foundation

/// Removes secrets and words that look like a token from what a report shows of a request.
struct ReportRedactor: Sendable {
    /// For texts that belong to no request.
    static let standard = ReportRedactor(for: nil)

    private static let mark = "…"

    private let secrets: RequestSecrets

    /// - Parameter request: The request, which knows its secrets.
    init(for request: PreparedRequest?) { secrets = request?.secrets ?? RequestSecrets() }

    /// The decoded value of a query item, or of a field of a form.
    func item(_ name: String, _ value: String) -> String { replacement(for: name, value) ?? value }

    /// The decoded name of a query item, or of a field of a form.
    func itemName(_ name: String) -> String { name.utf8.count >= 16 && MessageRedactor.looksSecret(name) ? Self.mark : name }

    /// `nil` if nothing in the value is secret.
    private func replacement(for name: String, _ value: String) -> String? {
        guard !value.isEmpty else { return nil }
        if SecretNames.contains(name.utf8, inQuery: true) { return Self.mark }
        return redactedNested(value).flatMap { $0 == value ? nil : $0 } ?? (MessageRedactor.looksSecret(value) ? Self.mark : nil)
    }

    /// A URL, or a reference to one, without user, password and fragment.
    func url(_ text: String) -> String { URLText(text).redacted(path: path) { redacted(items(of: $0)) } }

    /// The path of a URL.
    func path(_ path: String) -> String { secrets.redacted(path: path) }

    /// The value of a header.
    func header(_ name: String, _ value: String) -> String {
        if Redaction.isHarmless(header: name) { return redacted(value) }
        switch name.lowercased() {
        case "location" where value.hasPrefix("/") || value.hasPrefix("?") || value.hasPrefix("http"): return url(value)
        case let name where SecretNames.contains(name.utf8, inQuery: true): return value.isEmpty ? "" : Self.mark
        default: return MessageRedactor.redacted(secrets.redacted(value))
        }
    }

    /// The text of a body; `nil` if it is not UTF-8.
    func redactedText(of body: Data) -> String? {
        guard let text = String(data: body, encoding: .utf8), !text.contains("\0") else { return nil }
        if let json = json(body) { return String(decoding: json, as: UTF8.self) }
        return body.form.map { items(of: $0) } ?? MessageRedactor.redacted(text)
    }

    /// Any text without the secrets of the request.
    func redacted(_ text: String) -> String { secrets.redacted(text) }

    // MARK: - Forms and JSON

    private func items(of query: some StringProtocol) -> String {
        URLText.items(query) { name, value in
            let shownName = MessageRedactor.redacted(itemName: name, hasValue: value != nil)
            guard let value else { return String(shownName) }
            return "\(shownName)=\(replacement(for: name.formDecoded, value.formDecoded) ?? String(value))"
        }
    }

    /// An object or an array of JSON without what stands under secret names, and without words that look like a token; `nil` for other text.
    private func json(_ body: Data, depth: Int = 0) -> Data? {
        var tokens = JSONTokens(body)
        var (output, copied) = (Data(capacity: body.count), 0)
        // For each bracket that is open, whether all in it is hidden.
        var levels: [Bool] = []
        var isHidden = false
        do {
            while let token = try tokens.next() {
                var other: [UInt8]?
                switch token.kind {
                case .beginObject, .beginArray: levels.append(isHidden)
                case .endObject, .endArray: isHidden = levels.popLast() ?? false
                case .name: isHidden = levels.last == true || SecretNames.contains(tokens.content(of: token))
                case .string where isHidden: other = tokens.text(of: token).isEmpty ? nil : Self.mark.jsonString
                case .string: other = redactedNested(tokens.text(of: token), depth: depth)?.jsonString
                case .number where isHidden: other = Self.mark.jsonString
                default: break
                }
                guard !levels.isEmpty || token.kind == .endObject || token.kind == .endArray else { return nil }
                guard let other else { continue }
                output += tokens.bytes[copied..<token.range.lowerBound] + other
                copied = token.range.upperBound
            }
        } catch {
            return nil
        }
        return output + tokens.bytes[copied...]
    }

    /// The text with JSON and URLs within it redacted, too.
    private func redactedNested(_ text: String, depth: Int = 0) -> String? {
        switch text.utf8.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < 4 else { return Self.mark }
            if let json = json(Data(text.utf8), depth: depth + 1) { return String(decoding: json, as: UTF8.self) }
        case UInt8(ascii: "h") where text.hasPrefix("http://") || text.hasPrefix("https://"): return url(text)
        default: break
        }
        return MessageRedactor.redacted(text)
    }
}

extension Data {
    /// The text of a form, if it looks like one.
    fileprivate var form: String? {
        guard contains(UInt8(ascii: "=")), !contains(where: { $0 <= 0x20 || "<>{}\"".utf8.contains($0) }) else { return nil }
        return String(data: self, encoding: .utf8)
    }
}
