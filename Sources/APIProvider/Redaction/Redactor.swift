package import Foundation

#if canImport(FoundationNetworking)
package import FoundationNetworking
#endif

/// Writes what ``Redaction`` shows of a request and its response, for errors, logs and cURL texts.
package struct Redactor: Sendable {
    let redaction: Redaction
    private let secrets: RequestSecrets

    package init(_ redaction: Redaction = .standard, for request: URLRequest? = nil) {
        self.redaction = redaction
        secrets = RequestSecrets(redaction.showsEverything ? nil : request)
    }

    /// `GET https://api.example.com/search?q=…`
    package func line(of request: URLRequest) -> String { "\(request.httpMethod ?? "GET") \(request.url.map(url) ?? "(no URL)")" }

    /// A URL with `…` for the values of its query, and without user, password and fragment.
    package func url(_ url: URL) -> String {
        guard !redaction.showsEverything else { return url.absoluteString }
        let url = URLText(url.absoluteString)
        return url.text(path: secrets.hide(inPath: String(url.path)), query: url.query.map { items(of: $0) })
    }

    /// The value of a header.
    package func header(_ name: String, _ value: String) -> String { redaction.showsHeader(name) ? secrets.hide(in: value) : "…" }

    /// What an error says, in a sentence or more.
    ///
    /// - Parameter maximum: Of what is longer than this, only the beginning is read.
    package func message(_ text: String, maximum: Int = .max) -> String {
        if redaction.showsEverything { return text }
        // The word that is cut there is not shown.
        let start = maximum < text.utf8.count / 2 ? String(decoding: text.utf8.prefix(2 * maximum), as: UTF8.self) : text
        return MessageText(secrets.hide(in: start)).shown
    }

    /// A body: the structure of JSON and forms, and otherwise its type and its size: `(text/html, 5,120 bytes)`.
    ///
    /// - Parameters:
    ///   - total: How many bytes the body has, if `body` is the beginning of it.
    ///   - isAnswer: Whether a server has sent it, and may say what went wrong.
    ///   - maximum: The text ends some time after so many bytes.
    package func body(_ body: Data, of total: Int? = nil, contentType: String?, isAnswer: Bool, maximum: Int = .max) -> String {
        let size = total ?? body.count
        let type = contentType?.mediaType ?? ""
        // What is cut off may end within a character.
        let cuts = 0...(size > body.count ? 3 : 0)
        if redaction.shows(type), let text = cuts.lazy.compactMap({ String(data: body.dropLast($0), encoding: .utf8) }).first,
            !text.contains("\0")
        {
            return size > body.count ? text + "…" : text
        }
        if let structure = structure(of: body, of: size, contentType: type, isAnswer: isAnswer, maximum: maximum) { return structure }
        if isAnswer, type.isEmpty || type == "text/plain", let text = String(data: body, encoding: .utf8) {
            let lines = text.split(whereSeparator: \.isNewline)
            if lines.count == 1 { return message(String(lines[0]), maximum: maximum) }
        }
        return "(\(type.isEmpty ? "" : "\(type.prefix(100)), ")\(size.grouped) \(size == 1 ? "byte" : "bytes"))"
    }

    /// The structure of JSON or of a form; `nil` if the body is neither.
    func structure(
        of body: Data, of total: Int? = nil, contentType: String?, isAnswer: Bool = false, maximum: Int = .max
    ) -> String? {
        let isCut = (total ?? 0) > body.count
        if let json = json(body, isCut: isCut, isAnswer: isAnswer, maximum: maximum) { return json }
        guard let form = body.form(contentType) else { return nil }
        return items(of: form, isAnswer: isAnswer) + (isCut ? "…" : "")
    }

    /// The items of a query or of a form.
    private func items(of query: some StringProtocol, isAnswer: Bool = false) -> String {
        URLText.items(query) { name, value in
            if redaction.shows(name.formDecoded) { return value.map { secrets.hide(in: String($0)) } }
            guard let value, isAnswer, Redaction.isMessage(name.formDecoded.utf8) else { return "…" }
            return message(value.formDecoded)
        }
    }
}

extension Redactor {
    /// A bracket of JSON that is open.
    private struct Level {
        let isObject: Bool
        /// How values here are shown: those of the current member, or of the array.
        var rule: Rule
        /// Whether this is an object below `errors`, with a member for each thing that is wrong.
        let isBelowErrors: Bool
        /// Whether the current member is called `errors`.
        var isErrors = false
    }

    private enum Rule { case hidden, message, shown }

    /// An object or an array of JSON with `…` for values; `nil` for any other text.
    private func json(_ body: Data, isCut: Bool, isAnswer: Bool, maximum: Int) -> String? {
        var tokens = JSONTokens(body)
        var output: [UInt8] = []
        var levels: [Level] = []
        let mark = Array("…".utf8)

        func rule(of name: [UInt8]) -> Rule {
            if redaction.shows(String(decoding: name, as: UTF8.self)) { return .shown }
            return isAnswer && Redaction.isMessage(name) ? .message : .hidden
        }

        while output.count < maximum {
            let token: JSONTokens.Token
            do {
                guard let next = try tokens.next() else { return String(decoding: output, as: UTF8.self) }
                token = next
            } catch {
                guard isCut, error.position >= tokens.bytes.count, !levels.isEmpty else { return nil }
                break
            }
            if let last = output.last, !"{[:".utf8.contains(last), token.kind != .endObject, token.kind != .endArray {
                output.append(UInt8(ascii: ","))
            }
            let (written, outer) = (tokens.bytes[token.range], levels.last)
            switch token.kind {
            case .beginObject, .beginArray:
                let isObject = token.kind == .beginObject
                let isBelowErrors = isAnswer && outer?.isObject == true && (outer?.isErrors == true || outer?.isBelowErrors == true)
                // Such as `{"errors":{"password":["is too short"]}}`: texts in an array, whatever its name.
                let holdsTexts = !isObject && isBelowErrors && outer?.rule == .hidden
                let rule: Rule = isObject ? .hidden : holdsTexts ? .message : outer?.rule ?? .hidden
                levels.append(Level(isObject: isObject, rule: rule, isBelowErrors: isObject && isBelowErrors))
                output += written
            case .endObject, .endArray:
                levels.removeLast()
                output += written
            case .name:
                let name = tokens.content(of: token)
                levels[levels.count - 1].rule = rule(of: name)
                levels[levels.count - 1].isErrors = isAnswer && Redaction.holdsMessages(name)
                output += name.count >= 16 && MessageText.looksSecret(name[...]) ? Array("\"…\"".utf8)[...] : written
                output.append(UInt8(ascii: ":"))
            case .true, .false, .null: output += written
            case .string:
                switch outer?.rule {
                case .shown: output += secrets.hide(in: String(decoding: written, as: UTF8.self)).utf8
                case .message:
                    let text = tokens.text(of: token, maximum: maximum < .max / 4 ? 4 * maximum : .max)
                    output += message(text, maximum: maximum).jsonString
                default: output += Array("\"…\"".utf8)
                }
            case .number:
                switch outer?.rule {
                case .shown: output += written
                case .message where written.count < 13: output += written
                default: output += mark
                }
            }
            // A text or a number alone has no name.
            guard !levels.isEmpty || token.kind == .endObject || token.kind == .endArray else { return nil }
        }
        return String(decoding: output + mark, as: UTF8.self)
    }
}

extension String {
    /// The text as a string of JSON.
    var jsonString: [UInt8] {
        var string = [UInt8(ascii: "\"")]
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): string += [UInt8(ascii: "\\"), byte]
            case ..<0x20: string += Array("\\u00".utf8) + [byte >> 4, byte & 15].map { Array("0123456789abcdef".utf8)[Int($0)] }
            default: string.append(byte)
            }
        }
        return string + [UInt8(ascii: "\"")]
    }
}

extension Data {
    /// The text of a form; `nil` if it is something else. Without a type, it is one if it looks like it.
    func form(_ contentType: String?) -> String? {
        let text = String(decoding: self, as: UTF8.self)
        switch contentType?.mediaType ?? "" {
        case "application/x-www-form-urlencoded": return text
        case "": return text.contains("=") && !text.utf8.contains { $0 <= 0x20 || "<>{}\"".utf8.contains($0) } ? text : nil
        default: return nil
        }
    }
}

extension Int {
    /// `5,120`
    fileprivate var grouped: String { self < 1000 ? "\(self)" : "\((self / 1000).grouped),\("\(self % 1000 + 1000)".dropFirst())" }
}

extension StringProtocol {
    /// The text of a form or a query without its escapes, by the WHATWG URL standard (section 5.1).
    package var formDecoded: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var rest = Substring(self).utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let escaped = UInt8(hexDigits: rest.prefix(2)) {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    /// The byte with two hexadecimal digits.
    fileprivate init?(hexDigits: Substring.UTF8View) {
        // `init(_:radix:)` takes a sign, too.
        guard hexDigits.count == 2, hexDigits.first != UInt8(ascii: "+") else { return nil }
        self.init(Substring(hexDigits), radix: 16)
    }
}

extension URL {
    /// The URL for people: see ``Redactor/url(_:)``.
    package var redacted: String { Redactor().url(self) }
}
