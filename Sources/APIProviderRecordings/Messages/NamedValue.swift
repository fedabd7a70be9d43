import APIProvider
import APIProviderMocks
import Foundation

/// A message's value with its names.
struct NamedValue {
    enum Kind { case text, number, header, cookie, credential }

    /// The line's place, such as `body.user.password`, `header x-api-key` and `path 2`.
    var place: String
    /// The names of the surrounding objects, the outermost first, and then the value's own name.
    var names: [String]
    /// The own name as written: `value`, if a member beside the value gives the name.
    let key: String
    /// Without escapes.
    let text: String
    let kinds: ByteKinds
    var kind = Kind.text
    /// Whether the value is in a JWT's claims.
    var isClaim = false
    /// The beginning in the body, or -1.
    var offset = -1

    var name: String { names.last ?? "" }

    /// The surrounding objects' names, and the parts of all names: `user[address]` in a multipart body, and `ns:address` in XML.
    var outerNames: [String] { names.dropLast() + names.flatMap { $0.pieces(betweenAny: ".[]:") } }

    /// All names without XML's prefixes, and the parts of `user[address]`, `user.address` and `/user/address`.
    var path: [String] {
        names.flatMap { name in
            let parts = name.pieces(betweenAny: "[]./").filter { $0.utf8.contains { $0.isLetter || $0 >= 0x80 } }
            return parts.isEmpty ? [name] : parts
        }.map { $0.pieces(betweenAny: ":").last ?? $0 }
    }

    /// The text without a credential's scheme and white space.
    var secretText: String { text.splittingScheme.text.trimmingCharacters(in: .whitespacesAndNewlines) }

    /// The values of all lines, and the values inside them.
    static func values(of lines: Lines) -> [NamedValue] {
        lines.values.flatMap { place, found in found.flatMap { values($0, at: place, lines) } }
    }

    /// The line's value, and the values inside.
    static func values(_ value: Lines.Value, at place: String, _ lines: Lines) -> [NamedValue] {
        NamedValue(value, at: place, lines).map { [$0] + $0.inner(depth: 0) } ?? []
    }

    init?(_ value: Lines.Value, at place: String, _ lines: Lines = Lines()) {
        guard value.kind == .text || value.kind == .number else { return nil }
        var (start, names) = place.startAndNames
        key = names.last ?? ""
        switch start {
        case "header" where key == "scheme": return nil
        case "header": kind = names[0].hasSuffix("authorization") ? .credential : .header
        case "cookie": kind = .cookie
        default: kind = value.kind == .number ? .number : .text
        }
        // `{"name": "password", "value": "…"}`, `<add key="password" value="…"/>` and `<property name="password">…</property>`. A `type` is
        // a name only for a password or a code: `{"type": "password", "value": "…"}`.
        let sibling = key == "value" ? String(place.dropLast(5)) : start.isEmpty && value.range == nil ? "\(place)@" : nil
        let said = sibling.flatMap { sibling in ["name", "key", "path"].lazy.compactMap { lines.values[sibling + $0]?.first?.text }.first }
        let type = sibling.flatMap { lines.values[$0 + "type"]?.first?.text }.flatMap { type in
            CredentialNames.match(type).flatMap { [.code, .password].contains($0.strength) ? type : nil }
        }
        if let said = said ?? type { names[names.count - 1] = said }
        (self.place, self.names) = (place, names)
        text = kind == .cookie ? (value.text.removingPercentEncoding ?? value.text).trimmingCharacters(in: ["\""]) : value.text
        kinds = text.kinds
        offset = value.range?.lowerBound ?? -1
    }

    private init(_ name: String, _ text: String, isNumber: Bool) {
        (place, names, key, self.text, kind) = ("", [name], name, text, isNumber ? .number : .text)
        kinds = text.kinds
    }

    // MARK: - Values in a value

    /// The values inside JSON, a JWT's claims, a form, markup and other text.
    private func inner(depth: Int) -> [NamedValue] {
        guard depth < 4, kind != .number, !kinds.isDisjoint(with: .inner) else { return [] }
        let claims = text.isJWT ? Data(base64URL: text.components(separatedBy: ".")[1]) : nil
        let isBracketed = kinds.contains(.bracket) && text.utf8.first { $0 > 0x20 }.map { "{[".utf8.contains($0) } == true
        let whole = claims ?? Data((isBracketed ? text[...] : kinds.contains(.bracket) ? text.bracketed : "").utf8)
        let json = whole.isEmpty ? nil : Lines(json: whole)
        // Uploads and logs have JSON on each line. Most texts have no brackets.
        let mayHaveLines = json == nil && claims == nil && !whole.isEmpty
        let lines = mayHaveLines ? text.utf8.split { $0 == 10 || $0 == 13 }.map { Data(Array($0).text.bracketed.utf8) } : []
        var found = ((json.map { [$0] } ?? []) + lines.compactMap { Lines(json: $0) }).flatMap { json in
            json.values.flatMap { place, values in values.compactMap { NamedValue($0, at: place, json) } }.sorted { $0.offset < $1.offset }
        }
        if json == nil || claims == nil && !isBracketed {
            // Most bodies have times, numbers and URLs.
            let isURL = kinds.isDisjoint(with: [.equals, .space, .tag]) && ["http://", "https://"].contains(where: text.hasPrefix)
            let isPlain =
                !kinds.contains(.untimely) || !kinds.contains(.escape) && (kinds.isDisjoint(with: [.equals, .colon, .tag]) || isURL)
            // HTML's attributes contain JSON with entities, and URLs contain URLs. Decoded, an escaped quote would end a text.
            let plain = text.utf8.contains(UInt8(ascii: "\\")) ? text : text.decodingEscapes
            found += isPlain ? [] : pairs(in: text) + (plain == text ? [] : pairs(in: plain))
        }
        for index in found.indices {
            (found[index].place, found[index].offset) = (place, offset)
            if isBracketed { found[index].names = names + found[index].names }
            if kind == .cookie, claims == nil { found[index].kind = .cookie }
            found[index].isClaim = isClaim || claims != nil
        }
        return found + found.flatMap { $0.text == text ? [] : $0.inner(depth: depth + 1) }
    }

    /// Names and values in any text: nearly valid JSON, source code, forms, URLs, XML and HTML.
    private func pairs(in text: String) -> [NamedValue] {
        Self.expressions.filter { kinds.contains(.tag) || text.kinds.contains(.tag) || !$0.isMarkup }.flatMap {
            expression, name, values, _ in
            expression.matches(in: text).compactMap { match in
                guard let name = match[name], let value = values.lazy.compactMap({ match[$0] }).first else { return nil }
                let (plain, isQuoted) = (Array(value.utf8).decodingEscapes(levels: 1).text, values.count == 1 || match[4] == nil)
                // A word without quotes may be part of a sentence.
                if isQuoted { return NamedValue(name, plain, isNumber: false) }
                // A long number, as in `?Signature=790550856533`, is no count.
                let isNumber = plain.isNumber && plain.isCommon
                return plain.isCommon && !isNumber ? nil : NamedValue(name, plain, isNumber: isNumber)
            }
        }
    }

    /// A value without quotes is on the name's line. Before a value in quotes may be a type, as in GraphQL's `$password: String! = "…"`.
    private static let expressions: [(expression: Expression, name: Int, values: [Int], isMarkup: Bool)] = [
        (
            Expression(
                #"([A-Za-z_][\w.\[\]-]{0,100})\\*["']?\s*(?:=>?|:(?:\s*\[?[A-Z]\w{0,60}[!?\]]{0,3}\s*=(?=\s*\\*"))?)(?:\s*(\\*(?:"{3}|["']))(.{0,4096}?)(?:(?<!\\)\2|$)|[ \t]*(?!//)([^\s"'<>&#;,()\[\]{}\\]+)(?![(\w]))"#
            ),
            1, [3, 4], false
        ), (Expression(#"<(?:[\w-]+:)?([\w.-]{1,100})[^<>]{0,4096}>\s*(?:<!\[CDATA\[)?([^<\]]*[^<\]\s])"#), 1, [2], true),
        (Expression(#"(?:name|key|property)=["']([^"'<>]+)["'][^<>]{0,1000}?\s(?:value|content)=["']([^"'<>]+)"#), 1, [2], true),
        (Expression(#"(?:value|content)=["']([^"'<>]+)["'][^<>]{0,1000}?\s(?:name|property)=["']([^"'<>]+)"#), 2, [1], true),
        (Expression(#"<[^<>]{0,1000}\s(?:name|key)=["']([^"'<>]+)["'][^<>/]*>\s*([^<]*[^<\s])"#), 1, [2], true),
    ]
}

// MARK: - Places

extension String {
    /// The text from the first opening bracket to the last closing one: the JSON in `callback(…)`, and behind `)]}',`.
    fileprivate var bracketed: Substring {
        guard let start = utf8.firstIndex(where: { "{[".utf8.contains($0) }), let end = utf8.lastIndex(where: { "}]".utf8.contains($0) }),
            start < end
        else { return "" }
        return self[start...end]
    }

    /// The first word of a request line's place (`query`, `header`, `cookie` or `path`), and the names without element numbers.
    /// A member's name may be a number.
    var startAndNames: (start: String, names: [String]) {
        if utf8.first != UInt8(ascii: "b"), let start = Self.starts.first(where: { utf8.starts(with: "\($0) ".utf8) }) {
            var name = Array(utf8.dropFirst(start.count + 1)).text
            // A name that is not in its composed form was escaped for this place.
            if start != "header", name.utf8.contains(UInt8(ascii: "%")), let plain = name.percentDecoded,
                !plain.hasSameBytes(as: plain.precomposedStringWithCanonicalMapping)
            {
                name = plain
            }
            let names = name.general.pieces(betweenAny: ".[]")
            // A header's name may be marks alone.
            return (start, start == "path" ? [self] : start == "cookie" || names.isEmpty ? [name] : names)
        }
        let names = placeNames
        return ("", names.first == "body" ? Array(names.dropFirst()) : names)
    }

    private static let starts = ["header", "cookie", "query", "path"]

    /// The names between the marks of a body's place, without element numbers. Runs for each value of a large body, and calls no function in the
    /// loop, because tests run without the optimizer.
    private var placeNames: [String] {
        withBytes { buffer in
            guard let bytes = buffer.baseAddress else { return [] }
            var (names, start, place, isNumber, hasEscape) = ([String](), 0, 0, true, false)
            let count = buffer.count
            while place <= count {
                let byte = place < count ? bytes[place] : 0x2E
                if byte == 0x2E || byte == 0x40 || byte == 0x5B || byte == 0x5D {
                    if place > start, !isNumber || byte != 0x5D {
                        let name = String(decoding: UnsafeBufferPointer(start: bytes + start, count: place - start), as: UTF8.self)
                        names.append(hasEscape ? name.percentDecoded ?? name : name)
                    }
                    (start, isNumber, hasEscape) = (place &+ 1, true, false)
                } else if byte < 0x30 || byte > 0x39 {
                    isNumber = false
                    if byte == 0x25 { hasEscape = true }
                }
                place &+= 1
            }
            return names
        }
    }

    /// The place with one name for all elements: `body.items[].id`.
    var general: String { utf8.contains(UInt8(ascii: "[")) ? Self.index.replacing(in: self) { _ in "[]" } : self }

    private static let index = Expression(#"\[\d*\]"#)
}

extension Lines {
    /// The lines of a response.
    init(_ response: RecordedExchange.Response) {
        var values: [String: [Value]] = [:]
        for (name, value) in response.headers {
            let isCookie = name.isField("Set-Cookie")
            let texts = isCookie ? value.setCookies.map { ("cookie \($0.name)", $0.value) } : []
            for (place, text) in isCookie ? texts : [("header \(name.lowercased())", value)] {
                values[place, default: []].append(Value(kind: .text, text: text))
            }
        }
        for (place, found) in Lines(body: response.body, streaming: response.type).values { values["body".appending(place)] = found }
        self.init(values)
    }

    /// The lines of a body. Reads a stream of lines or events line by line.
    init(body: Data, streaming type: String) {
        guard type.mediaType.isStreamOfLines else {
            self.init(body: body, type: type)
            return
        }
        // The data of an event is one text.
        let isEvents = type.mediaType == "text/event-stream"
        var text = [UInt8](body).text.replacingOccurrences(of: "\r\n", with: "\n", options: .literal)
        if isEvents { text = Self.data.replacing(in: text.replacingOccurrences(of: "\r", with: "\n", options: .literal)) { _ in "" } }
        var values: [String: [Value]] = [:]
        for piece in text.components(separatedBy: isEvents ? "\n\n" : "\n") where !piece.isEmpty {
            let lines = Lines(json: Data(piece.utf8)) ?? Lines(body: Data(piece.utf8), type: "text/plain")
            for (place, found) in lines.values { values["[0]".appending(place), default: []] += found }
        }
        self.init(values)
    }

    private static let data = Expression("(?m)^data: ?")
}

// MARK: - Texts

extension String {
    /// Whether this is the media type of a stream of lines or events.
    var isStreamOfLines: Bool {
        ["text/event-stream", "application/x-ndjson", "application/ndjson", "application/jsonl", "application/json-seq"].contains(self)
    }

    /// Whether this is a signed JSON Web Token (RFC 7519): a head, claims and a signature.
    var isJWT: Bool {
        guard utf8.starts(with: "ey".utf8) else { return false }
        let parts = components(separatedBy: ".")
        guard parts.count == 3, parts[2].utf8.count > 3, parts[2].utf8.allSatisfy({ $0.isLetter || $0.isDigit || "-_".utf8.contains($0) })
        else {
            return false
        }
        return parts[..<2].allSatisfy { Data(base64URL: $0)?.first == UInt8(ascii: "{") }
    }

    /// A credential's scheme with the space, such as `Bearer `, and the rest.
    var splittingScheme: (scheme: String, text: String) {
        guard let space = utf8.firstIndex(where: { $0 == UInt8(ascii: " ") || $0 == UInt8(ascii: "\t") }) else { return ("", self) }
        let schemes: Set = ["bearer", "basic", "token", "apikey", "jwt", "oauth"], rest = utf8.index(after: space)
        return schemes.contains(self[..<space].lowercased()) ? (String(self[..<rest]), String(self[rest...])) : ("", self)
    }
}
