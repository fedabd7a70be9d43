import APIProvider
import Foundation
import MockNetwork

/// A value in a message, and the names under which it stands there.
struct NamedValue {
    enum Kind { case text, number, header, cookie, credential }

    /// The line that has it, such as `body.user.password`, `header x-api-key` and `path 2`.
    let line: Place
    /// The names of what it stands in, the outermost first, and its own.
    var names: [String]
    /// Its own name as it stands there: `value`, if a member beside it says what it is.
    var key: String
    /// Without escapes.
    var text: String
    var kind = Kind.text
    /// Whether it is a claim of a JWT.
    var isClaim = false

    var name: String { names.last ?? "" }
}

extension NamedValue {
    /// The values of all lines, and those within them.
    static func values(of lines: Lines) -> [NamedValue] {
        lines.values.flatMap { line, values in
            values.flatMap { value -> [NamedValue] in
                guard let found = NamedValue(value, at: line, lines) else { return [] }
                return [found] + found.inner(depth: 0)
            }
        }
    }

    init?(_ value: Lines.Value, at line: Place, _ lines: Lines) {
        switch value.content {
        case .text(let text): self.text = text
        case .number(let text, _): (self.text, kind) = (text, .number)
        case .literal, .object, .array, .bytes: return nil
        }
        self.line = line
        let (start, names) = line.names
        (self.names, key) = (names, names.last ?? "")
        switch start {
        case "header" where key == "scheme": return nil
        case "header": kind = names[0].hasSuffix("authorization") ? .credential : .header
        case "cookie": (kind, text) = (.cookie, text.removingPercentEncoding ?? text)
        case "path": (self.names, key) = ([line.text], "")
        default: break
        }
        guard key == "value" else { return }
        // `{"name": "password", "value": "…"}`
        let said = ["name", "key", "path"].lazy.compactMap { lines.values[Place("\(line.text.dropLast(5))\($0)")]?.first?.text }.first
        if let said { self.names[names.count - 1] = said }
    }

    // MARK: - Values in a value

    private static let marks = ByteSet("{[=:<.")

    /// What is in JSON, in the claims of a JWT, in a form, in markup and in other text.
    private func inner(depth: Int) -> [NamedValue] {
        guard depth < 4, kind != .number else { return [] }
        let bytes = Array(text.utf8)
        guard !Self.marks.places(in: bytes).isEmpty else { return [] }
        let claims = text.isJWT ? Data(base64URL: text.split(separator: ".").map(String.init)[1]) : nil
        let isBracketed = bytes.first { $0 > 0x20 }.map { "{[".utf8.contains($0) } == true
        var found: [NamedValue] = []
        if let json = claims.map({ Lines(json: $0) }) ?? (isBracketed ? Lines(json: Data(bytes)) : nil) {
            for (place, values) in json.values {
                for value in values {
                    guard var inner = NamedValue(value, at: place, json) else { continue }
                    inner = NamedValue(line: line, names: inner.names, key: inner.key, text: inner.text, kind: inner.kind, isClaim: claims != nil)
                    if claims == nil { inner.names = names + inner.names }
                    found.append(inner)
                }
            }
        } else {
            found = Self.pairs(in: text).map { NamedValue(line: line, names: [$0.name], key: $0.name, text: $0.text, kind: $0.isNumber ? .number : .text) }
        }
        if kind == .cookie { found = found.map { NamedValue(line: line, names: $0.names, key: $0.key, text: $0.text, kind: .cookie) } }
        return found + found.flatMap { $0.text == text ? [] : $0.inner(depth: depth + 1) }
    }

    /// Names and values in any text: of almost JSON and source code, of forms and URLs, of XML, and of HTML.
    private static func pairs(in text: String) -> [(name: String, text: String, isNumber: Bool)] {
        let hasTags = text.utf8.contains(UInt8(ascii: "<"))
        return expressions.filter { hasTags || !$0.isMarkup }.flatMap { expression, groups, _ in
            expression.matches(in: text).compactMap { match in
                guard let name = match[groups.name]?.text, let value = groups.values.lazy.compactMap({ match[$0]?.text }).first else { return nil }
                let plain = value.decodingHTML.decodingJSON, isQuoted = groups.values.count == 1 || match[4] == nil
                // A word without quotes may be a part of a sentence.
                guard isQuoted || !plain.isCommon || plain.isNumber else { return nil }
                return (name, plain.formDecoded, !isQuoted && plain.isNumber)
            }
        }
    }

    private static let expressions: [(expression: Expression, groups: (name: Int, values: [Int]), isMarkup: Bool)] = [
        (
            Expression(
                #"([A-Za-z_][\w.\[\]-]*)\\*["']?\s*[=:]\s*(?:(\\*["'])(.{0,4096}?)(?:(?<!\\)\2|$)|([^\s"'<>&;,()\[\]{}\\]+)(?![(\w]))"#),
            (1, [3, 4]), false
        ), (Expression(#"<(?:[\w-]+:)?([\w.-]+)[^<>]*>\s*(?:<!\[CDATA\[)?([^<\]]*[^<\]\s])"#), (1, [2]), true),
        (Expression(#"(?:name|key|property)=["']([^"'<>]+)["'][^<>]*?\s(?:value|content)=["']([^"'<>]+)"#), (1, [2]), true),
        (Expression(#"(?:value|content)=["']([^"'<>]+)["'][^<>]*?\s(?:name|property)=["']([^"'<>]+)"#), (2, [1]), true),
        (Expression(#"<[^<>]*\s(?:name|key)=["']([^"'<>]+)["'][^<>/]*>\s*([^<]*[^<\s])"#), (1, [2]), true),
    ]
}

// MARK: - Lines

extension Place {
    /// What the line is of (`body`, `query`, `header`, `cookie`, `path`, or nothing), and its names without the numbers of elements.
    var names: (start: String, names: [String]) {
        if let start = ["header", "cookie", "query", "path"].first(where: { text.hasPrefix("\($0) ") }) {
            let name = String(text.dropFirst(start.count + 1))
            return (start, start == "cookie" ? [name] : name.split { ".[]".contains($0) }.map(String.init))
        }
        let names = text.split { ".@[]".contains($0) }.filter { !$0.utf8.allSatisfy(\.isDigit) }.map { name in
            name.utf8.contains(UInt8(ascii: "%")) ? name.removingPercentEncoding ?? String(name) : String(name)
        }
        return names.first == "body" ? ("body", Array(names.dropFirst())) : ("", names)
    }

    /// The place with all elements of an array as one: `body.items[].id`.
    var general: String { text.contains("[") ? Self.index.replacing(in: text) { _ in "[]" } : text }

    private static let index = Expression(#"\[\d*\]"#)
}

extension Lines {
    /// What is in a response.
    init(_ response: RecordedExchange.Response) {
        self.init()
        for (name, value) in response.headers {
            if name.isField("Set-Cookie") {
                for cookie in value.setCookieFields.compactMap(SetCookie.init) {
                    add(Value(.text(cookie.value.removingPercentEncoding ?? cookie.value)), at: Place("cookie \(cookie.name)"))
                }
            } else {
                add(header: name, value)
            }
        }
        add(Lines(body: response.body, streaming: response.type), within: Place("body"))
    }

    /// What is in a body. A stream of lines or events is read line by line.
    init(body: Data, streaming type: String) {
        guard type.mediaType.isStreamOfLines else {
            self.init(body: body, type: type)
            return
        }
        self.init()
        // The `data` of an event is one text, although each of its lines has a name.
        let isEvents = type.mediaType == "text/event-stream"
        let text = isEvents ? Self.data.replacing(in: [UInt8](body).text) { _ in "" } : [UInt8](body).text
        for piece in text.components(separatedBy: isEvents ? "\n\n" : "\n") where !piece.isEmpty {
            add(Lines(json: Data(piece.utf8)) ?? Lines(body: Data(piece.utf8), type: "text/plain"), within: Place("[0]"))
        }
    }

    private static let data = Expression("(?m)^data: ?|\r$")
}

extension Lines.Value {
    /// The text, or the number as it is written.
    var text: String? {
        switch content {
        case .text(let text), .number(let text, _): text
        case .literal, .object, .array, .bytes: nil
        }
    }
}

// MARK: - Texts

extension String {
    /// Whether a body of this media type comes line by line.
    var isStreamOfLines: Bool {
        ["text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq"].contains(self)
    }

    /// Whether this is a signed JSON Web Token (RFC 7519): the head, the claims and the signature.
    var isJWT: Bool {
        guard utf8.starts(with: "ey".utf8) else { return false }
        let parts = split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard parts.count == 3, parts[2].utf8.count > 3, parts[2].utf8.allSatisfy({ $0.isLetter || $0.isDigit || "-_".utf8.contains($0) }) else {
            return false
        }
        return parts[..<2].allSatisfy { Data(base64URL: $0)?.first == UInt8(ascii: "{") }
    }

    /// The scheme of a credential with the space behind it, such as `Bearer `, and the rest.
    var splittingScheme: (scheme: String, text: String) {
        guard let space = firstIndex(of: " ") else { return ("", self) }
        let schemes: Set = ["bearer", "basic", "token", "apikey", "jwt", "oauth"]
        return schemes.contains(self[..<space].lowercased()) ? (String(self[...space]), String(self[space...].dropFirst())) : ("", self)
    }
}
