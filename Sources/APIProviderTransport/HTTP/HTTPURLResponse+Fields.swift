#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension HTTPURLResponse {
    /// Whether the request succeeded, by the status (RFC 9110, section 15.3).
    package var isSuccessful: Bool { 200...299 ~= statusCode }

    /// Whether the status is a redirect's (RFC 9110, section 15.4).
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(statusCode) }

    /// The header fields, with values read as UTF-8 and without white space around them.
    package var headerFields: [String: String] {
        allHeaderFields.reduce(into: [:]) { fields, field in
            if let name = field.key as? String, let value = field.value as? String { fields[name] = value.trimmedFieldValue }
        }
    }

    /// The decoded body's length in bytes; `nil` if 0 or unknown, for example because the Content-Length counts compressed bytes.
    var bodyLength: Int64? {
        expectedContentLength > 0 && !isCoded ? expectedContentLength : nil
    }

    /// Whether the body is compressed or otherwise encoded.
    var isCoded: Bool { !["", "identity"].contains(joinedValue(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? "") }

    /// A 206's bytes, and the whole length, or `nil` if unknown (RFC 9110, section 14.4). `nil` for several parts, each with a range.
    var contentRange: (first: Int64, last: Int64, length: Int64?)? {
        if mediaTypes.contains("multipart/byteranges") { return nil }
        let parts = joinedValue(forHTTPHeaderField: "Content-Range")?.parts(between: UInt8(ascii: "/")) ?? []
        guard let bounds = parts.first?.rangeBounds(after: "bytes "), let first = bounds.first, let last = bounds.last, first <= last else {
            return nil
        }
        return (first, last, parts.count == 2 ? parts[1].number : nil)
    }

    /// Whether a Content-Type names this media type, or there is no Content-Type. A proxy may add another.
    package func mayHaveMediaType(_ mediaType: String) -> Bool {
        let types = mediaTypes
        return types.isEmpty || types.contains(mediaType)
    }

    /// Whether the body will probably end soon: JSON, or at most `limit` bytes.
    func isLikelyFinite(within limit: Int) -> Bool {
        expectedContentLength >= 0 && expectedContentLength <= limit
            || mediaTypes.contains { $0.hasSuffix("/json") || $0.hasSuffix("+json") }
    }

    /// The body's lowercase media type and charset. Of several, the last valid one counts. Without a charset, that of an earlier equal
    /// media type is used (the Fetch standard, "extract a MIME type").
    package var contentType: (mediaType: String, charset: String?)? {
        var rest = (joinedValue(forHTTPHeaderField: "Content-Type") ?? "")[...]
        var found: (mediaType: String, charset: String?)?
        while !rest.isEmpty {
            let parameters = rest.takeParameters()
            let type = parameters[0].name
            let parts = type.parts(between: UInt8(ascii: "/"))
            guard parts.count == 2, parts.allSatisfy({ String($0).isToken }), type != "*/*" else { continue }
            // Some servers write charset='utf-8', although only double quotes are quotes.
            let charsets = parameters.filter { $0.name == "charset" }.map { $0.value.trimmingCharacters(in: ["'"]) }
            found = (type, charsets.first { !$0.isEmpty } ?? (found?.mediaType == type ? found?.charset : nil))
        }
        return found
    }

    private var mediaTypes: [String] {
        let values = joinedValue(forHTTPHeaderField: "Content-Type")?.parts(between: UInt8(ascii: ",")) ?? []
        return values.map { String($0).mediaType }.filter { !$0.isEmpty }
    }

    /// Whether the Content-Length is no number, or several differ: then nobody knows where the body ends (RFC 9112, section 6.3). A network
    /// stack may read `1e1` as 1.
    var hasInvalidLength: Bool {
        guard let lengths = joinedValue(forHTTPHeaderField: "Content-Length"), lengths != "\(expectedContentLength)" else { return false }
        let numbers = lengths.parts(between: UInt8(ascii: ",")).map { $0.trimmingCharacters(in: .whitespaces)[...].number }
        return numbers.contains { $0 == nil || $0 != numbers[0] }
    }

    /// Whether the body of a download is a part: a 206's, or one with a `Content-Range` in bytes that is not the whole. Some servers
    /// answer a range with a 200. Other units, as in `items 0-9/50`, are an API's pages.
    var isPart: Bool {
        if statusCode == 206 { return true }
        guard isSuccessful, let field = joinedValue(forHTTPHeaderField: "Content-Range") else { return false }
        guard let range = contentRange else { return field.lowercased().hasPrefix("bytes") }
        return range.first != 0 || range.last + 1 != range.length
    }

    /// Whether the body is the content requested by a download. The body of a 202, 204, 205 or 207 says something else, or nothing. A
    /// part must begin where the requested range does.
    ///
    /// - Parameter range: The request's `Range`.
    package func isContent(range: String?) -> Bool {
        guard isSuccessful, ![202, 204, 205, 207].contains(statusCode) else { return false }
        guard isPart else { return true }
        guard let asked = range?[...].rangeBounds(after: "bytes="), let part = contentRange else { return false }
        // A suffix range, such as -500, ends with the content.
        guard let start = asked.first else { return part.last - part.first < asked.last ?? 0 }
        return part.first == start && part.last <= asked.last ?? .max
    }

    // MARK: - Joined fields

    /// The header fields, sorted by name. Names that differ only in case are joined with `", "`.
    var joinedFields: [(key: String, value: String)] {
        headerFields.sortedByName.reduce(into: []) { fields, field in
            if let last = fields.last, last.key.isField(field.name) {
                fields[fields.count - 1].value = "\(last.value), \(field.value)"
            } else {
                fields.append((field.name, field.value))
            }
        }
    }

    /// The values of all fields with this name, joined with `", "`; `nil` without one. Names are case-insensitive.
    func joinedValue(forHTTPHeaderField name: String) -> String? {
        #if canImport(FoundationNetworking)
        // Foundation on Linux writes all names but these in one case, and casts every field when it is asked for all (Swift 6.3.1).
        if !name.utf8.starts(with: "X-".utf8), !name.utf8.starts(with: "x-".utf8) {
            return value(forHTTPHeaderField: name)?.trimmedFieldValue
        }
        #endif
        var fields: [String: String] = [:]
        for (key, value) in allHeaderFields {
            guard let key = key as? String, key.isField(name), let value = value as? String else { continue }
            fields[key] = value.trimmedFieldValue
        }
        return fields.isEmpty ? nil : fields.sortedByName.map(\.value).joined(separator: ", ")
    }
}

extension URLResponse {
    /// Whether this may be a proxy's response to CONNECT. A successful one has no content (RFC 9110, section 9.3.6), so a 2xx with a
    /// Content-Type is the server's, and is delivered without waiting for the body's first byte.
    var mayBeConnectResponse: Bool {
        guard let response = self as? HTTPURLResponse, response.isSuccessful else { return true }
        return response.value(forHTTPHeaderField: "Content-Type") == nil
    }
}

// MARK: - Values

extension Substring {
    /// The numbers on both sides of the hyphen in `bytes=5-9`; `nil` for another form, such as several ranges, or too large a number.
    fileprivate func rangeBounds(after unit: String) -> (first: Int64?, last: Int64?)? {
        guard lowercased().hasPrefix(unit) else { return nil }
        let (first, last) = dropFirst(unit.count).split(at: UInt8(ascii: "-"))
        guard let last, !(first.isEmpty && last.isEmpty), first.isEmpty || first.number != nil, last.isEmpty || last.number != nil else {
            return nil
        }
        return (first.number, last.number)
    }
}

extension String {
    /// The bytes that a `Range` requests from `count` bytes (RFC 9110, section 14.1.2), maybe none; `nil` for several ranges or another
    /// unit.
    package func byteRange(of count: Int) -> Range<Int>? {
        guard let bounds = self[...].rangeBounds(after: "bytes=") else { return nil }
        // A suffix range, such as -500.
        guard let first = bounds.first else { return count - Int(clamping: min(bounds.last ?? 0, Int64(count)))..<count }
        guard first <= bounds.last ?? .max else { return nil }
        let start = min(Int(clamping: first), count)
        return start..<max(start, Int(min(bounds.last ?? .max, Int64(count) - 1)) + 1)
    }

    /// A field's value without surrounding white space (RFC 9110, section 5.5). Foundation on Linux keeps trailing white space.
    fileprivate var trimmedFieldValue: String {
        #if canImport(FoundationNetworking)
        return withoutOuterSpace
        #else
        return readAsUTF8.withoutOuterSpace
        #endif
    }

    /// The text without blanks and tabs at its ends, which are all that HTTP calls white space.
    var withoutOuterSpace: String {
        let ends = [utf8.first, utf8.last]
        guard ends.contains(32) || ends.contains(9) else { return self }
        return trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }

    /// Restores UTF-8 that was read as Latin-1, as Apple's Foundation does with headers. Other text is unchanged.
    var readAsUTF8: String {
        let bytes = unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        guard bytes.contains(where: { $0 > 127 }), bytes.count == unicodeScalars.count else { return self }
        return String(utf8: Data(bytes)) ?? self
    }
}
