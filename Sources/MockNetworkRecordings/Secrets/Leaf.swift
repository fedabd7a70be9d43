import APIProvider
import APIProviderMocks
import Foundation

/// A value in a message, such as a header, a query item, a field or a member of JSON, and the name under which it stands.
struct Leaf {
    enum Kind { case text, number, key }

    let text: SourceText
    /// Of the header, query item, field, JSON member or cookie. Empty if it has none.
    let name: String
    let kind: Kind
    /// Whether the program says that it is secret: a credential, a cookie, or the user and password of a URL.
    var isCredential = false
    /// Whether it is the user and the password of Basic authentication (RFC 7617).
    var isBasic = false
    let isCookie: Bool
    /// The object or form that it stands in.
    var group = 0
}

/// Finds the leaves of a part of a message: of a URL, a header or a body. A value that has JSON, a URL or a form in it is a leaf, too.
struct LeafFinder {
    private(set) var leaves: [Leaf] = []
    private var depth = 0
    private var group = 0
    private var lastGroup = 0

    static func leaves(ofURL url: [UInt8]) -> [Leaf] { leaves { $0.url(SourceText(url)) } }

    static func leaves(ofHeader name: String, _ value: [UInt8]) -> [Leaf] { leaves { $0.header(name, SourceText(value)) } }

    static func leaves(ofBody body: [UInt8], type: String) -> [Leaf] { leaves { $0.body(SourceText(body), type, name: "") } }

    private static func leaves(_ find: (inout LeafFinder) -> Void) -> [Leaf] {
        var finder = LeafFinder()
        find(&finder)
        return finder.leaves
    }

    private mutating func add(
        _ text: SourceText, _ name: String, _ kind: Leaf.Kind = .text, isCredential: Bool = false, isBasic: Bool = false,
        isCookie: Bool = false
    ) {
        guard !text.bytes.isEmpty else { return }
        leaves.append(
            Leaf(text: text, name: name, kind: kind, isCredential: isCredential, isBasic: isBasic, isCookie: isCookie, group: group))
    }

    private mutating func beginGroup() {
        lastGroup += 1
        group = lastGroup
    }

    /// A value of any kind of text.
    private mutating func value(_ text: SourceText, _ name: String) {
        add(text, name)
        guard depth < 6, text.bytes.count > 2 else { return }
        depth += 1
        defer { depth -= 1 }
        if let first = text.bytes.first(where: { $0 > 0x20 }), first == UInt8(ascii: "{") || first == UInt8(ascii: "["), json(text) {
            return
        }
        let (hasEquals, hasColon, hasPercent) = (text.has("="), text.has(":"), text.has("%"))
        guard hasEquals || hasColon || hasPercent || text.has("<") else { return }
        if !" \t\r\n\"'<>{}".utf8.contains(where: { text.bytes.first($0, in: 0..<text.bytes.count) != nil }) {
            if hasColon && text.first(of: "://") != nil || hasEquals && text.has("?") { return url(text) }
            if hasEquals, text.has("&") { return form(text) }
            if hasPercent, ["%2", "%3", "%7"].contains(where: { text.first(of: $0) != nil }) {
                let decoded = text.decodingPercent()
                if decoded.bytes.count < text.bytes.count { value(decoded, name) }
            }
        }
        pairs(text)
    }
}

// MARK: - URLs, forms and headers

extension LeafFinder {
    private mutating func url(_ text: SourceText) {
        let hash = text.first("#", in: 0..<text.bytes.count) ?? text.bytes.count
        let mark = text.first("?", in: 0..<hash) ?? hash
        var path = 0..<mark
        if let colon = text.first(of: "://"), colon < mark {
            let end = text.first("/", in: colon + 3..<mark) ?? mark
            var host = colon + 3..<end
            if let at = text.bytes[host].lastIndex(of: UInt8(ascii: "@")) {
                let colon = text.first(":", in: host.lowerBound..<at)
                let user = text[host.lowerBound..<(colon ?? at)].decodingPercent()
                // Alone, it may be a token, or a word such as "git".
                if colon != nil || !user.bytes.isOrdinary { add(user, "user", isCredential: true) }
                if let colon { add(text[colon + 1..<at].decodingPercent(), "password", isCredential: true) }
                host = at + 1..<end
            }
            add(text[host], "")
            path = end..<mark
        }
        for segment in text.split("/", in: path) { value(text[segment].decodingPercent(), "") }
        if mark < hash { form(text[mark + 1..<hash]) }
        if hash < text.bytes.count {
            let fragment = text[hash + 1..<text.bytes.count]
            if fragment.bytes.contains(UInt8(ascii: "=")), !fragment.bytes.contains(UInt8(ascii: "?")) {
                form(fragment)
            } else {
                value(fragment.decodingPercent(), "")
            }
        }
    }

    private mutating func form(_ text: SourceText) {
        let outer = group
        beginGroup()
        defer { group = outer }
        for item in text.split("&") {
            guard let equals = text.first("=", in: item) else {
                value(text[item].decodingPercent(plusIsSpace: true), "")
                continue
            }
            let name = text[item.lowerBound..<equals].decodingPercent(plusIsSpace: true)
            add(name, "", .key)
            value(text[equals + 1..<item.upperBound].decodingPercent(plusIsSpace: true), name.string)
        }
    }

    private mutating func header(_ name: String, _ text: SourceText) {
        switch name.lowercased() {
        case let name where name.hasSuffix("authorization"): credential(text, name)
        case "cookie": for pair in text.split(";") { cookie(text[pair]) }
        case "set-cookie":
            var begin = 0
            for field in text.string.setCookieFields {
                let end = min(begin + field.utf8.count, text.bytes.count)
                cookie(text[begin..<(text.first(";", in: begin..<end) ?? end)])
                begin = min(end + 2, text.bytes.count)
            }
        default: value(text, name)
        }
    }

    /// A credential, behind the name of its scheme if it has one.
    private mutating func credential(_ text: SourceText, _ name: String) {
        let scheme = text.first(" ", in: 0..<text.bytes.count)
        let start = scheme.map { text.bytes[..<$0].allSatisfy { $0.isLetter || $0 == UInt8(ascii: "-") } ? $0 + 1 : 0 } ?? 0
        let isBasic = start > 0 && text[0..<start - 1].string.isField("basic")
        add(text[start..<text.bytes.count], name, isCredential: true, isBasic: isBasic)
    }

    private mutating func cookie(_ pair: SourceText) {
        let start = pair.bytes.firstIndex { $0 != 0x20 } ?? pair.bytes.count
        guard let equals = pair.first("=", in: start..<pair.bytes.count) else { return }
        var value = equals + 1..<pair.bytes.count
        if value.count > 1, pair.bytes[value.lowerBound] == UInt8(ascii: "\""), pair.bytes.last == UInt8(ascii: "\"") {
            value = value.lowerBound + 1..<value.upperBound - 1
        }
        // A value that also stands elsewhere stands there without the escapes.
        add(pair[value].decodingPercent(), pair[start..<equals].string, isCredential: true, isCookie: true)
    }
}

// MARK: - Bodies

extension LeafFinder {
    private mutating func body(_ text: SourceText, _ type: String, name: String, isPart: Bool = false) {
        let mediaType = type.mediaType
        if mediaType.hasPrefix("multipart/"), let parts = Multipart(text.bytes, type: type) {
            for part in parts.parts {
                text[part.head].split("\n").forEach { pairs(text[part.head][$0]) }
                body(text[part.body], part.type, name: part.name, isPart: true)
            }
        } else if mediaType == "application/x-www-form-urlencoded" || !isPart && mediaType.isEmpty && text.bytes.looksLikeForm {
            form(text)
        } else if mediaType.isStreamOfLines {
            for line in text.split("\n") { self.line(text[line], isEvent: mediaType == "text/event-stream") }
        } else if !json(text, name) {
            value(text, name)
        }
    }

    /// A line of a stream: the name of an event's field, or the mark before a JSON text (RFC 7464), and the value.
    private mutating func line(_ line: SourceText, isEvent: Bool) {
        let colon = isEvent ? line.first(":", in: 0..<line.bytes.count).map { $0 + 1 } ?? 0 : 0
        let start = line.bytes[colon...].firstIndex { $0 != 0x20 && $0 != 0x1E } ?? line.bytes.count
        let end = line.bytes.last == 0x0D ? line.bytes.count - 1 : line.bytes.count
        guard start < end else { return }
        let content = line[start..<end]
        if !json(content) { value(content, "") }
    }

    /// Returns `false` and adds nothing if the text is not JSON.
    private mutating func json(_ text: SourceText, _ name: String = "") -> Bool {
        let count = leaves.count
        var tokens = JSONTokens(Data(text.bytes))
        // The name of each open array and object, which the elements of an array share.
        var (names, current, groups) = ([String](), name, [Int]())
        let outer = group
        defer { group = outer }
        do {
            while let token = try tokens.next() {
                let inner = token.range.lowerBound + 1..<max(token.range.upperBound - 1, token.range.lowerBound + 1)
                switch token.kind {
                case .beginObject, .beginArray:
                    names.append(current)
                    groups.append(group)
                    if token.kind == .beginObject { beginGroup() }
                case .endObject, .endArray:
                    names.removeLast()
                    group = groups.removeLast()
                case .name:
                    let key = text[inner].decodingJSON()
                    add(key, "", .key)
                    current = key.string
                    continue
                case .string: value(text[inner].decodingJSON(), current)
                case .number: add(text[token.range], current, .number)
                case .true, .false, .null: break
                }
                current = names.last ?? ""
            }
            return true
        } catch {
            leaves.removeLast(leaves.count - count)
            return false
        }
    }

    private static let pairMarks = BytePairs("=:<")

    /// Values with names in any other text: `?a=b&c=d` in a URL, `"a": "b"` in a piece of JSON, and elements and attributes of XML.
    private mutating func pairs(_ text: SourceText) {
        let bytes = text.bytes
        func isName(_ byte: UInt8) -> Bool { byte.isWordByte || "_-.[]%:".utf8.contains(byte) }
        for place in Self.pairMarks.places(in: bytes) {
            switch bytes[place] {
            case UInt8(ascii: "="):
                let start = (bytes[..<place].lastIndex { !isName($0) } ?? -1) + 1
                guard start < place, place + 1 < bytes.count else { continue }
                let before = start > 0 ? bytes[start - 1] : 0x20
                let quote = bytes[place + 1]
                if quote == UInt8(ascii: "\"") || quote == UInt8(ascii: "'"), before <= 0x20 || before == UInt8(ascii: ",") {
                    guard let end = bytes.first(quote, in: place + 2..<bytes.count) else { continue }
                    add(text[place + 2..<end], text[start..<place].string)
                } else if start == 0 || "?&;#".utf8.contains(before) {
                    let marks = start > 0 ? "&;#\"'<>\\)" : "&;#\"'<>\\),"
                    let end = bytes[(place + 1)...].firstIndex { $0 <= 0x20 || marks.utf8.contains($0) } ?? bytes.count
                    // At the start of a text, it may be source code.
                    guard start > 0 || bytes[end...].allSatisfy({ $0 <= 0x20 }) || "&;,".utf8.contains(bytes[end]) else { continue }
                    add(text[place + 1..<end].decodingPercent(plusIsSpace: true), text[start..<place].decodingPercent().string)
                }
            case UInt8(ascii: ":"):
                guard place > 1, let close = bytes[..<place].lastIndex(where: { $0 > 0x20 }), bytes[close] == UInt8(ascii: "\""),
                    let open = bytes[..<close].lastIndex(of: UInt8(ascii: "\"")),
                    let begin = bytes[(place + 1)...].firstIndex(where: { $0 > 0x20 })
                else { continue }
                let name = text[open + 1..<close].decodingJSON().string
                if bytes[begin] == UInt8(ascii: "\"") {
                    var end = begin + 1
                    while end < bytes.count, bytes[end] != UInt8(ascii: "\"") { end += bytes[end] == UInt8(ascii: "\\") ? 2 : 1 }
                    add(text[begin + 1..<min(end, bytes.count)].decodingJSON(), name)
                } else {
                    add(text[begin..<(bytes[begin...].firstIndex { !$0.isDigit } ?? bytes.count)], name, .number)
                }
            case UInt8(ascii: "<"):
                let limit = min(bytes.count, place + 1024)
                guard let close = text.first(">", in: place..<limit), bytes[close - 1] != UInt8(ascii: "/") else { continue }
                let limitOfText = min(bytes.count, close + 8192)
                let first = bytes[close + 1..<limitOfText].firstIndex { $0 > 0x20 } ?? limitOfText
                let rest = first..<limitOfText
                let isData = bytes[rest].starts(with: "<![CDATA[".utf8)
                let start = rest.lowerBound + (isData ? 9 : 0)
                var last = text.first(isData ? "]" : "<", in: start..<rest.upperBound)
                while isData, let place = last, !text.has("]]>", at: place) { last = text.first("]", in: place + 1..<rest.upperBound) }
                // The space around a text is not part of it.
                guard let last, let end = bytes[start..<max(start, last)].lastIndex(where: { $0 > 0x20 }).map({ $0 + 1 }) else { continue }
                let name = bytes[(place + 1)...].prefix { isName($0) }
                add(text[start..<end], String(decoding: name.split(separator: UInt8(ascii: ":")).last ?? [], as: UTF8.self))
            default: break
            }
        }
    }
}
