import Foundation

/// Header fields, in order.
///
/// Names are case-insensitive. A later value replaces an earlier one with the same name.
///
/// ```swift
/// // Without the second field if etag is nil.
/// let headers: HTTPHeaders = ["Accept-Language": "en", "If-None-Match": etag]
/// let others = HTTPHeaders(dictionary)
/// ```
public struct HTTPHeaders: ExpressibleByDictionaryLiteral, Sequence, Hashable, Sendable {
    @HiddenFromReflection private var fields: [(name: String, value: String)] = []

    /// Creates headers with `headers`, in order, without fields whose value is `nil`.
    public init(dictionaryLiteral headers: (String, String?)...) {
        for (name, value) in headers where value != nil { self[name] = value }
    }

    /// Creates headers with `headers`, in order: `HTTPHeaders(dictionary)`.
    ///
    /// A dictionary's fields are sorted by name.
    public init(_ headers: some Sequence<(key: String, value: String)>) {
        // A server may send thousands, so names are looked up in a dictionary.
        var indices: [[UInt8]: Int] = [:]
        for (name, value) in headers.inOrder() {
            let key = name.utf8.map(\.lowercased)
            if let index = indices[key] {
                fields[index] = (name, value)
            } else {
                indices[key] = fields.count
                fields.append((name, value))
            }
        }
    }

    /// The value of the field `name`. Names are case-insensitive. Setting `nil` removes the field.
    public subscript(name: String) -> String? {
        get { index(of: name).map { fields[$0].value } }
        set {
            let index = index(of: name)
            switch (index, newValue) {
            case (let index?, let value?): fields[index] = (name, value)
            case (let index?, nil): fields.remove(at: index)
            case (nil, let value?): fields.append((name, value))
            case (nil, nil): break
            }
        }
    }

    /// Returns these headers with the fields in `headers`, which replace fields of the same name.
    public func merging(_ headers: HTTPHeaders) -> HTTPHeaders {
        var merged = self
        for (name, value) in headers { merged[name] = value }
        return merged
    }

    /// Iterates over the fields in order.
    public func makeIterator() -> IndexingIterator<[(name: String, value: String)]> { fields.makeIterator() }

    /// Returns whether both have the same fields. Their order and the case of their names do not matter.
    public static func == (lhs: HTTPHeaders, rhs: HTTPHeaders) -> Bool { lhs.valuesByLowercasedName == rhs.valuesByLowercasedName }

    /// Hashes the fields.
    public func hash(into hasher: inout Hasher) { hasher.combine(valuesByLowercasedName) }

    /// The fields for Foundation. Canonically equivalent Unicode names, invalid in HTTP, share a key.
    public var dictionary: [String: String] {
        var values = [String: String](minimumCapacity: fields.count)
        for (name, value) in fields { values[name] = value }
        return values
    }

    /// Whether there is no field.
    public var isEmpty: Bool { fields.isEmpty }

    private var valuesByLowercasedName: [[UInt8]: [UInt8]] {
        Dictionary(uniqueKeysWithValues: fields.map { ($0.name.utf8.map(\.lowercased), Array($0.value.utf8)) })
    }

    private func index(of name: String) -> Int? {
        fields.firstIndex { $0.name.isField(name) }
    }
}

// MARK: - Authorization

extension HTTPHeaders {
    /// The `Authorization` field for Basic authentication (RFC 7617), in UTF-8.
    ///
    /// ```swift
    /// .authorization(username: "Aladdin", password: "open sesame")
    /// ```
    ///
    /// - Parameters:
    ///   - username: The user name. A colon or a control character makes the request invalid.
    ///   - password: The password. A control character makes the request invalid.
    public static func authorization(username: String, password: String) -> HTTPHeaders {
        let hasColon = username.utf8.contains(UInt8(ascii: ":"))
        // A value with a control character makes the request invalid (RFC 7617, section 2).
        guard !hasColon, (username + password).utf8.allSatisfy({ $0 >= 32 && $0 != 127 }) else { return ["Authorization": "\0"] }
        return ["Authorization": "Basic \(Data("\(username):\(password)".utf8).base64EncodedString())"]
    }

    /// The field `Authorization` with `bearerToken` (RFC 6750, section 2.1). To refresh an expired token, use an
    /// ``AuthenticationMiddleware``.
    public static func authorization(bearerToken: String) -> HTTPHeaders { ["Authorization": "Bearer \(bearerToken)"] }
}

extension String {
    /// The user and the password in the text behind the scheme of Basic authentication (RFC 7617).
    package var basicPair: (user: String, password: String)? {
        guard let data = Data(base64URL: trimmingCharacters(in: ["=", " ", "\t"])),
            let text = String(data: data, encoding: .utf8) ?? String(data: data, encoding: .isoLatin1),
            let colon = text.utf8.firstIndex(of: UInt8(ascii: ":"))
        else { return nil }
        return (String(text[..<colon]), String(text[text.utf8.index(after: colon)...]))
    }
}

extension Data {
    /// Base64, also with the alphabet for URLs, without padding (RFC 4648, sections 4 and 5).
    package init?(base64URL text: String) {
        let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }
}

// MARK: - Text

extension HTTPHeaders: CustomStringConvertible {
    /// The field names. Values may be secrets, and are left out.
    public var description: String { "HTTPHeaders(\(fields.map(\.name).joined(separator: ", ")))" }
}

extension [String: String] {
    /// Header fields, ordered by name.
    package var sortedByName: [(name: String, value: String)] {
        map { (name: $0, value: $1) }.sorted { ($0.name.lowercased(), $0.name) < ($1.name.lowercased(), $1.name) }
    }
}

extension String {
    /// Whether this is the field name `name`. Only ASCII letters are case-insensitive (RFC 9110, section 5.1).
    package func isField(_ name: String) -> Bool {
        utf8.count == name.utf8.count
            && withBytes { bytes in name.withBytes { bytes.elementsEqual($0) { $0.lowercased == $1.lowercased } } }
    }

    /// RFC 9110, section 5.6.2.
    package var isToken: Bool {
        !isEmpty && withBytes { [token = ASCIISet.token] in $0.allSatisfy(token.contains) }
    }

    /// RFC 9110, section 5.5: no control character but a tab, so that no value can begin another field.
    package var isFieldValue: Bool {
        withBytes { $0.allSatisfy { $0 >= 32 && $0 != 127 || $0 == 9 } }
    }

    /// A Content-Type without parameters.
    package var mediaType: String {
        let type = Substring(utf8.prefix { $0 != UInt8(ascii: ";") })
        return (type.utf8.contains { $0 <= 0x20 } ? type.trimmingCharacters(in: .whitespaces)[...] : type).lowercased()
    }
}

extension Sequence {
    /// The items in order. A dictionary's items are sorted by key.
    package func inOrder<Value>() -> [Element] where Element == (key: String, value: Value) {
        self is [String: Value] ? sorted { $0.key < $1.key } : Array(self)
    }
}
