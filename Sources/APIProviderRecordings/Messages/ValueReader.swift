import APIProvider
import Foundation
import MockNetwork

/// A value in a message, and the name under which it stands there.
struct NamedValue {
    enum Kind { case text, number, header, cookie, credential, key }

    /// Of a header, a cookie, an item of a form, a member, an element, or the place of a segment such as `path 2`.
    var name: String
    /// The names of the objects and elements that it stands in, the outermost first.
    var enclosing: [String] = []
    /// Without escapes.
    var text: String
    var kind = Kind.text
    /// Whether it is a claim of a JWT.
    var isClaim = false
}

/// Reads each value of a message, and writes another text in its place. All else stays byte for byte.
///
/// A value may have others in it: JSON, a URL, a form or markup. They are read after it, unless it is replaced, and are written with the
/// escapes of the place where it stands.
struct ValueReader {
    /// The text in place of a value; `nil` if it stays.
    let replacement: (NamedValue) -> String?
    /// How many values this one stands in. Deeper ones are not looked into.
    private var depth = 0
    private var isInClaims = false
    private var isInCookie = false
    /// Whether the values in a value come first.
    var beginsInside = false

    init(_ replacement: @escaping (NamedValue) -> String?) { self.replacement = replacement }

    /// The text in place of a value, or of those in it; `nil` if all stays.
    func newText(_ value: NamedValue) -> String? {
        var value = value
        value.isClaim = isInClaims
        if isInCookie, value.kind == .text { value.kind = .cookie }
        guard beginsInside else { return replacement(value) ?? newTextInside(value) }
        let inner = newTextInside(value)
        value.text = inner ?? value.text
        return replacement(value) ?? inner
    }

    /// The edit for a value that stands in a part.
    func edit(_ range: Range<Int>, _ value: NamedValue, _ escaped: (String) -> String = { $0 }) -> Edits {
        newText(value).map { [(range, Array(escaped($0).utf8))] } ?? []
    }

    private static let marks = ByteSet("{[=:<.")
    private static let spaces = ByteSet(" \n\r\t")

    private func newTextInside(_ value: NamedValue) -> String? {
        guard depth < 5, value.kind != .number, value.kind != .key else { return nil }
        let bytes = Array(value.text.utf8)
        guard !Self.marks.places(in: bytes).isEmpty else { return nil }
        var inner = self
        inner.depth += 1
        inner.isInCookie = value.kind == .cookie
        if value.text.isJWT { return inner.newJWT(value.text) }
        let enclosing = value.name.isEmpty ? value.enclosing : value.enclosing + [value.name]
        let edits = inner.json(bytes, in: enclosing) ?? inner.otherText(bytes)
        return edits.isEmpty ? nil : bytes.applying(edits).text
    }

    private func otherText(_ bytes: [UInt8]) -> Edits {
        let hasSpace = !Self.spaces.places(in: bytes).isEmpty
        if !hasSpace, bytes.has("?") || bytes.firstOffset(of: Array("://".utf8)) != nil { return url(bytes) }
        if !hasSpace, bytes.has("="), !bytes.has("<"), !bytes.has("{"), !bytes.has("\"") { return form(bytes, in: 0..<bytes.count) }
        return text(bytes)
    }

    /// The JWT with other claims; `nil` if all stay.
    func newJWT(_ text: String) -> String? {
        var parts = text.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        guard let claims = Data(base64URL: parts[1]).map({ Array($0) }) else { return nil }
        var inner = self
        inner.isInClaims = true
        guard let edits = inner.json(claims), !edits.isEmpty else { return nil }
        parts[1] = Data(claims.applying(edits)).base64URL
        return parts.joined(separator: ".")
    }
}

// MARK: - URLs, forms and headers

extension ValueReader {
    /// - Parameter isOfRequest: Whether the segments of the path are values, too.
    func url(_ bytes: [UInt8], isOfRequest: Bool = false) -> Edits {
        let hash = bytes.first(UInt8(ascii: "#"), in: 0..<bytes.count) ?? bytes.count
        let query = bytes.first(UInt8(ascii: "?"), in: 0..<hash) ?? hash
        var edits: Edits = []
        var path = 0..<query
        if let colon = bytes.firstOffset(of: Array("://".utf8)), colon < query {
            let start = colon + 3
            let end = bytes[start..<query].firstIndex(of: UInt8(ascii: "/")) ?? query
            if let at = bytes[start..<end].lastIndex(of: UInt8(ascii: "@")) { edits += userInfo(bytes, in: start..<at) }
            path = end..<query
        }
        if isOfRequest {
            for (index, segment) in bytes.split("/", in: path).dropFirst().enumerated() {
                let text = bytes.text(in: segment)
                edits += edit(segment, NamedValue(name: "path \(index + 1)", text: text.removingPercentEncoding ?? text), \.escapedAsValue)
            }
        }
        if query < hash { edits += form(bytes, in: query + 1..<hash) }
        if hash < bytes.count { edits += form(bytes, in: (bytes[hash...].firstIndex(of: UInt8(ascii: "?")) ?? hash) + 1..<bytes.count) }
        return edits
    }

    /// The user and the password of a URL. A user without a password may be a token.
    private func userInfo(_ bytes: [UInt8], in range: Range<Int>) -> Edits {
        let parts = Array(bytes.split(":", in: range).prefix(2))
        guard parts.count == 2 || bytes.text(in: range).looksRandom else { return [] }
        return zip(["user", "password"], [parts[0], (parts.last?.lowerBound ?? 0)..<range.upperBound].prefix(parts.count)).flatMap {
            let text = bytes.text(in: $1)
            return edit($1, NamedValue(name: $0, text: text.removingPercentEncoding ?? text, kind: .credential), \.escapedAsValue)
        }
    }

    func form(_ bytes: [UInt8], in range: Range<Int>) -> Edits {
        bytes.split("&", in: range).flatMap { item -> Edits in
            let mark = bytes.first(UInt8(ascii: "="), in: item)
            // `user[password]` is the password of a user.
            let names = bytes.text(in: item.lowerBound..<(mark ?? item.lowerBound)).formDecoded.split { "[]".contains($0) }.map(String.init)
            let value = (mark.map { $0 + 1 } ?? item.lowerBound)..<item.upperBound
            let text = bytes.text(in: value).formDecoded
            return edit(value, NamedValue(name: names.last ?? "", enclosing: names.dropLast(), text: text), \.escapedAsValue)
        }
    }

    func header(_ name: String, _ bytes: [UInt8]) -> Edits {
        let (text, all) = (bytes.text, 0..<bytes.count)
        switch name.lowercased() {
        case let name where name.hasSuffix("authorization"): return credential(name, bytes)
        case "cookie": return bytes.split(";", in: all).flatMap { cookie(bytes, in: $0) }
        case "set-cookie":
            var start = 0
            return text.setCookieFields.flatMap { field -> Edits in
                let end = min(start + field.utf8.count, bytes.count)
                defer { start = min(end + 2, bytes.count) }
                return cookie(bytes, in: start..<(bytes.first(UInt8(ascii: ";"), in: start..<end) ?? end))
            }
        default: return edit(all, NamedValue(name: name, text: text, kind: .header))
        }
    }

    private func cookie(_ bytes: [UInt8], in pair: Range<Int>) -> Edits {
        guard let mark = bytes.first(UInt8(ascii: "="), in: pair) else { return [] }
        var value = mark + 1..<pair.upperBound
        if value.count > 1, bytes[value.lowerBound] == UInt8(ascii: "\""), bytes[value.upperBound - 1] == UInt8(ascii: "\"") {
            value = value.lowerBound + 1..<value.upperBound - 1
        }
        let text = bytes.text(in: value)
        let name = bytes.text(in: pair.lowerBound..<mark).trimmingCharacters(in: .whitespaces)
        return edit(value, NamedValue(name: name, text: text.removingPercentEncoding ?? text, kind: .cookie), \.escapedAsValue)
    }

    /// The credential of an `Authorization`: all after the scheme, each parameter of a scheme that has some, or the user and the password
    /// of Basic authentication, which stand in the file without Base64.
    private func credential(_ name: String, _ bytes: [UInt8]) -> Edits {
        let space = bytes.first(0x20, in: 0..<bytes.count)
        let start = space.map { space in bytes[..<space].contains { !$0.isLetter && !$0.isDigit && $0 != UInt8(ascii: "-") } ? 0 : space + 1 } ?? 0
        let rest = start..<bytes.count
        let text = bytes.text(in: rest)
        if let pair = text.basicPair, bytes.text(in: 0..<start).lowercased() == "basic " {
            let texts = [("user", pair.user), ("password", pair.password)].map { name, text in
                newText(NamedValue(name: name, text: text, kind: .credential))
            }
            guard texts.contains(where: { $0 != nil }) else { return [] }
            return [(rest, Array("\(texts[0] ?? pair.user):\(texts[1] ?? pair.password)".utf8))]
        }
        let parameters = text.hasParameters ? Self.parameter.matches(in: text) : []
        guard !parameters.isEmpty else { return edit(rest, NamedValue(name: name, text: text, kind: .credential)) }
        return parameters.flatMap { match -> Edits in
            guard let name = match[1], let value = match[2] ?? match[3] else { return [] }
            return edit(value.range(from: start), NamedValue(name: name.text, enclosing: ["authorization"], text: value.text, kind: .credential))
        }
    }

    /// A parameter of a scheme: its name, and its value with or without quotes.
    fileprivate static let parameter = Expression(#"([\w-]+)\s*=\s*(?:"([^"]*)"|([^\s,"]+))"#)
}

extension String {
    /// The parameters of a scheme such as Digest, in their order.
    var authorizationParameters: [(name: String, value: String)] {
        guard hasParameters else { return [] }
        return ValueReader.parameter.matches(in: self).compactMap { match in
            match[1].flatMap { name in (match[2] ?? match[3]).map { (name.text, $0.text) } }
        }
    }

    fileprivate var hasParameters: Bool { utf8.contains { ",\"".utf8.contains($0) } }

    /// The user and the password of Basic authentication (RFC 7617).
    var basicPair: (user: String, password: String)? {
        guard let data = Data(base64Encoded: self), let text = String(data: data, encoding: .utf8), let colon = text.firstIndex(of: ":") else {
            return nil
        }
        return (String(text[..<colon]), String(text[colon...].dropFirst()))
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
}
