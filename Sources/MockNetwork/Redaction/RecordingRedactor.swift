import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Removes secrets from a recorded request and its response, so that the rest still decodes.
///
/// A report shows what a recording has, and more of the headers, but no words that look like a token.
struct RecordingRedactor: Sendable {
    /// For reports, which people read.
    static let forReports = RecordingRedactor(for: nil, isReport: true)

    /// Stands for a text that a recording leaves out.
    static let placeholder = "REDACTED"

    /// The names whose values stay, in lower case; `nil` keeps everything.
    private let keptNames: Set<String>?
    private let secrets: RequestSecrets
    private let isReport: Bool
    /// Whether words in JSON that look like a token are removed, too.
    private var hidesWords: Bool
    private var mark: String { isReport ? "…" : Self.placeholder }

    /// - Parameters:
    ///   - names: The names whose values stay, in lower case: of headers, query items, fields and cookies, and media types. `nil` keeps
    ///     everything.
    ///   - request: The request, which knows its secrets.
    ///   - isReport: Whether it writes a report.
    init(keeping names: Set<String>? = [], for request: PreparedRequest?, isReport: Bool = false) {
        (keptNames, self.isReport, hidesWords) = (names, isReport, isReport)
        secrets = request.flatMap { names == nil ? nil : $0.secrets } ?? RequestSecrets()
    }

    /// Whether the user keeps values of this name.
    private func keeps(_ name: @autoclosure () -> String) -> Bool {
        keptNames.map { !$0.isEmpty && $0.contains(name().lowercased()) } ?? true
    }

    /// Redacts the decoded value of a query item, or of a field of a form.
    func item(_ name: String, _ value: String) -> String { replacement(for: name, value) ?? value }

    /// Redacts the decoded name of a query item, or of a field of a form.
    func itemName(_ name: String) -> String { name.utf8.count >= 16 && MessageRedactor.looksSecret(name) ? mark : name }

    /// The redacted value. `nil` if nothing in it is secret.
    private func replacement(for name: String, _ value: String) -> String? {
        guard !value.isEmpty, !keeps(name) else { return nil }
        if SecretNames.contains(name.utf8, inQuery: true) { return mark }
        return redactedNested(value).flatMap { $0 == value ? nil : $0 } ?? (MessageRedactor.looksSecret(value) ? mark : nil)
    }

    /// A URL, or a reference to one, without user, password and fragment.
    func url(_ text: String) -> String {
        keptNames == nil ? text : URLText(text).redacted(path: path) { redacted(items(of: $0)) }
    }

    /// The path of a URL.
    func path(_ path: String) -> String { secrets.hide(inPath: path, as: mark) }

    /// The value of a header.
    func header(_ name: String, _ value: String) -> String {
        guard !Redaction.isHarmless(header: name), !keeps(name) else { return redacted(value) }
        switch name.lowercased() {
        case "location" where value.hasPrefix("/") || value.hasPrefix("?") || value.hasPrefix("http"): return url(value)
        case "link":
            // RFC 8288.
            return value.split(separator: ",", omittingEmptySubsequences: false).map { link in
                let parts = link.split(separator: ">", maxSplits: 1, omittingEmptySubsequences: false)
                guard parts.count == 2, let start = parts[0].firstIndex(of: "<") else { return mark }
                return "\(parts[0][...start])\(url(String(parts[0][start...].dropFirst())))>\(parts[1])"
            }.joined(separator: ",")
        case "set-cookie": return value.setCookies.map { "\($0.name)=\(cookie($0.name, $0.value))" }.joined(separator: ", ")
        case let name where isReport && !SecretNames.contains(name.utf8, inQuery: true):
            return MessageRedactor.redacted(secrets.hide(in: value))
        default: return value.isEmpty ? "" : mark
        }
    }

    /// Redacts the value of a cookie. Several `Set-Cookie` fields may have been joined with commas, so a value with a comma may have a part
    /// of the next field, and is redacted even if its name is kept.
    func cookie(_ name: String, _ value: String) -> String {
        keptNames == nil || keeps(name) && !value.contains(", ") || value.isEmpty ? redacted(value) : mark
    }

    /// The body of a request or a response without the values of secret names; `nil` if it is neither JSON, a form, nor a stream of lines.
    func body(_ body: Data, contentType: String?) -> Data? {
        let keepsAll = body.isEmpty || keeps(contentType?.mediaType ?? "")
        guard let kept = keepsAll ? body : lines(body, contentType) ?? json(body) ?? form(body, contentType) else { return nil }
        guard !secrets.isEmpty, let text = String(data: kept, encoding: .utf8) else { return kept }
        return Data(redacted(text).utf8)
    }

    /// Redacts the body of a request. Nobody decodes it, so words that look like a token are removed from its JSON, too.
    func requestBody(_ body: Data, contentType: String?) -> Data? {
        var redactor = self
        redactor.hidesWords = true
        return redactor.body(body, contentType: contentType)
    }

    /// The text of a body in a report. `nil` if it is not UTF-8.
    func redactedText(of body: Data) -> String? {
        guard let text = String(data: body, encoding: .utf8), !text.contains("\0") else { return nil }
        if let json = json(body) { return String(decoding: json, as: UTF8.self) }
        return body.form(nil).map { items(of: $0) } ?? MessageRedactor.redacted(text)
    }

    /// Any text without the secrets of the request.
    func redacted(_ text: String) -> String { secrets.hide(in: text, as: mark) }

    private func items(of query: some StringProtocol) -> String {
        URLText.items(query) { name, value in
            let shownName = MessageRedactor.redacted(itemName: name, hasValue: value != nil, as: mark)
            guard let value else { return String(shownName) }
            let (name, plain) = (name.formDecoded, value.formDecoded)
            let other = replacement(for: name, plain)
            return "\(shownName)=\(other.map { isReport ? $0 : $0.escapedAsValue } ?? String(value))"
        }
    }

    private func form(_ body: Data, _ contentType: String?) -> Data? { body.form(contentType).map { Data(items(of: $0).utf8) } }

    /// The lines of a stream, each redacted. `nil` if it is none, or is not text.
    private func lines(_ body: Data, _ contentType: String?) -> Data? {
        guard let type = contentType?.mediaType, type.isStreamOfLines, String(data: body, encoding: .utf8) != nil else { return nil }
        var (output, rest) = (Data(), body[...])
        while let end = rest.firstIndex(where: { $0 == 0x0A || $0 == 0x0D }) {
            output += redacted(line: rest[..<end], isEvent: type == "text/event-stream") + [rest[end]]
            rest = rest[(end + 1)...]
        }
        return output + redacted(line: rest, isEvent: type == "text/event-stream")
    }

    /// A line: the name of a field of an event or the mark before a JSON text (RFC 7464), and the value.
    private func redacted(line: Data, isEvent: Bool) -> Data {
        let colon = isEvent ? line.firstIndex(of: UInt8(ascii: ":")) : nil
        let value = Data(line[(colon.map { $0 + 1 } ?? line.startIndex)...].drop { $0 == 0x20 || $0 == 0x1E })
        return Data(line.dropLast(value.count)) + (json(value) ?? Data(word(String(decoding: value, as: UTF8.self)).utf8))
    }

    /// The text of a line that is not JSON. If it may be a part of JSON that has several lines, nothing of it is kept.
    private func word(_ text: String) -> String {
        guard !text.hasPrefix("\""), !text.contains("\":"), !text.utf8.contains(where: { "{}=".utf8.contains($0) }),
            !text.split(separator: ":").dropLast().contains(where: { SecretNames.contains($0.utf8) })
        else { return text.hasPrefix("\"") ? "\"\(mark)\"" : mark }
        return MessageRedactor.redacted(text, as: mark)
    }
}

extension RecordingRedactor {
    /// Replaces secrets in an object or an array of JSON with values of the same kind. Everything else stays byte for byte.
    private func json(_ body: Data, depth: Int = 0) -> Data? {
        var tokens = JSONTokens(body)
        var output = Data(capacity: body.count)
        var copied = 0
        // For each bracket that is open, whether all in it is hidden.
        var levels: [Bool] = []
        var (isHidden, isKept) = (false, false)
        do {
            while let token = try tokens.next() {
                var other: [UInt8]?
                switch token.kind {
                case .beginObject, .beginArray: levels.append(isHidden)
                case .endObject, .endArray: isHidden = levels.popLast() ?? false
                case .name:
                    let name = tokens.content(of: token)
                    isKept = keeps(String(decoding: name, as: UTF8.self))
                    isHidden = (levels.last == true || SecretNames.contains(name)) && !isKept
                case .string where isHidden: other = replacement(for: tokens.text(of: token)).jsonString
                case .string where hidesWords && !isKept || "{[h\\".utf8.contains(tokens.bytes[token.range.lowerBound + 1]):
                    other = redactedNested(tokens.text(of: token), depth: depth)?.jsonString
                case .number where isHidden: other = hidesWords ? mark.jsonString : [UInt8(ascii: "0")]
                default: break
                }
                guard !levels.isEmpty || token.kind == .endObject || token.kind == .endArray else { return nil }
                guard let other else { continue }
                output += tokens.bytes[copied..<token.range.lowerBound]
                output += other
                copied = token.range.upperBound
            }
        } catch {
            return nil
        }
        return output + tokens.bytes[copied...]
    }

    /// Redacts JSON and URLs within a value, and where words are hidden any other text. `nil` if there is nothing to redact.
    private func redactedNested(_ text: String, depth: Int = 0) -> String? {
        switch text.utf8.first {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            guard depth < 4 else { return mark }
            if let json = json(Data(text.utf8), depth: depth + 1) { return String(decoding: json, as: UTF8.self) }
        case UInt8(ascii: "h") where text.hasPrefix("http://") || text.hasPrefix("https://"): return url(text)
        default: break
        }
        return hidesWords ? MessageRedactor.redacted(text, as: mark) : nil
    }

    /// Text that decodes to the same type: a fixed UUID, a fixed date, or else the mark. Nobody decodes what has no words.
    private func replacement(for text: String) -> String {
        guard !text.isEmpty, !hidesWords else { return text.isEmpty ? "" : mark }
        if text.utf8.count == 36, UUID(uuidString: text) != nil { return "00000000-0000-0000-0000-000000000000" }
        let isDate =
            text.utf8.count >= 10 && text.utf8.count <= 40
            && zip(text.utf8, "0000-00-00".utf8).allSatisfy { $1 == UInt8(ascii: "-") ? $0 == $1 : $0.isDigit }
            && text.utf8.dropFirst(10).allSatisfy { $0.isDigit || "T:.+-Z ".utf8.contains($0) }
        guard isDate else { return mark }
        return "2000-01-01" + String(decoding: text.utf8.dropFirst(10).map { $0.isDigit ? UInt8(ascii: "0") : $0 }, as: UTF8.self)
    }
}

extension String {
    /// The cookies with a name in several joined `Set-Cookie` fields.
    var setCookies: [SetCookie] { setCookieFields.compactMap(SetCookie.init).filter(\.name.isToken) }

    /// Whether a body of this media type comes line by line.
    var isStreamOfLines: Bool {
        ["text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq"].contains(self)
    }
}

extension Data {
    /// The text of a form; `nil` if it is something else. Without a type, it is one if it looks like it.
    func form(_ contentType: String?) -> String? {
        switch contentType?.mediaType ?? "" {
        case "application/x-www-form-urlencoded": return String(decoding: self, as: UTF8.self)
        case "" where contains(UInt8(ascii: "=")) && !contains { $0 <= 0x20 || "<>{}\"".utf8.contains($0) }:
            return String(data: self, encoding: .utf8)
        default: return nil
        }
    }
}
