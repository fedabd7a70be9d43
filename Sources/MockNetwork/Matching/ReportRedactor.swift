import APIProvider
import Foundation

/// Removes secrets from what a report shows of a request, by the rules by which errors show a message: see ``Redaction``.
struct ReportRedactor: Sendable {
    /// For texts that belong to no request.
    static let standard = ReportRedactor(for: nil)

    private static let mark = "…"

    private let redactor: Redactor

    /// - Parameter request: The request, which knows its secrets.
    init(for request: PreparedRequest?) { redactor = Redactor(for: request) }

    /// The decoded value of a query item, or of a field of a form.
    func item(_ name: String, _ value: String) -> String { !value.isEmpty && name.namesCredential ? Self.mark : message(value) }

    /// The decoded name of a query item, or of a field of a form.
    func itemName(_ name: String) -> String { redactor.message(name) }

    /// A URL, or a reference to one, without user, password and fragment.
    func url(_ text: String) -> String { URLText(text).redacted(path: path) { items(of: $0) } }

    /// The path of a URL.
    func path(_ path: String) -> String { redactor.secrets.redacted(path: path) }

    /// The value of a header.
    func header(_ name: String, _ value: String) -> String {
        if Redaction.isHarmless(header: name) { return redacted(value) }
        return !value.isEmpty && name.namesCredential ? Self.mark : redactor.message(value)
    }

    /// The text of a body; `nil` if it is not UTF-8.
    func redactedText(of body: Data) -> String? {
        guard let text = String(data: body, encoding: .utf8), !text.contains("\0") else { return nil }
        if let json = json(body) { return String(decoding: json, as: UTF8.self) }
        return text.isForm ? items(of: text) : redactor.message(text)
    }

    /// Any text without what the program has marked as secret in the request, and what it sends as a credential.
    func redacted(_ text: String) -> String { redactor.redacted(text) }

    // MARK: - Forms and JSON

    private func items(of query: some StringProtocol) -> String {
        URLText.items(query) { name, value in
            let (decodedName, decoded) = (name.formDecoded, value?.formDecoded)
            let shown = decoded.map { item(decodedName, $0) }
            let shownName = itemName(decodedName) == decodedName ? String(name) : Self.mark
            guard let value, let shown else { return shownName }
            return "\(shownName)=\(shown == decoded ? String(value) : shown)"
        }
    }

    /// A whole value. Numbers of up to twelve digits are shown: most are ids or times. JSON within a text is redacted, too.
    private func message(_ text: String, depth: Int = 0) -> String {
        if text.utf8.count <= 12, text.utf8.allSatisfy(\.isDigit) { return text }
        if text.hasPrefix("{") || text.hasPrefix("[") {
            guard depth < 4 else { return Self.mark }
            if let json = json(Data(text.utf8), depth: depth + 1) { return String(decoding: json, as: UTF8.self) }
        }
        return redactor.message(text)
    }

    /// An object or an array of JSON without what stands under the names of credentials, and without words that may be secrets; `nil` for
    /// other text.
    private func json(_ body: Data, depth: Int = 0) -> Data? {
        var tokens = JSONTokens(body)
        var (output, copied) = (Data(capacity: body.count), 0)
        // For each bracket that is open, whether all in it is hidden.
        var levels: [Bool] = []
        var isHidden = false
        do {
            while let token = try tokens.next() {
                var other: String?
                switch token.kind {
                case .beginObject, .beginArray: levels.append(isHidden)
                case .endObject, .endArray: isHidden = levels.popLast() ?? false
                case .name: isHidden = levels.last == true || tokens.text(of: token).namesCredential
                case .string:
                    let text = tokens.text(of: token)
                    let shown = isHidden && !text.isEmpty ? Self.mark : message(text, depth: depth)
                    if shown != text { other = shown }
                case .number:
                    let digits = String(decoding: tokens.bytes[token.range], as: UTF8.self)
                    let isShown = !isHidden && (!digits.utf8.allSatisfy(\.isDigit) || message(digits) == digits)
                    if !isShown { other = Self.mark }
                default: break
                }
                guard !levels.isEmpty || token.kind == .endObject || token.kind == .endArray else { return nil }
                guard let other else { continue }
                output += tokens.bytes[copied..<token.range.lowerBound] + other.jsonString
                copied = token.range.upperBound
            }
        } catch {
            return nil
        }
        return output + tokens.bytes[copied...]
    }
}

extension String {
    /// Whether it looks like a form.
    fileprivate var isForm: Bool { utf8.contains(UInt8(ascii: "=")) && !utf8.contains { $0 <= 0x20 || "<>{}\"".utf8.contains($0) } }
}
