#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension HTTPURLResponse {
    /// Whether the status says that the request succeeded (RFC 9110, section 15.3).
    package var isSuccessful: Bool { 200...299 ~= statusCode }

    /// Whether the status names another URL for the request (RFC 9110, section 15.4).
    var isRedirect: Bool { [301, 302, 303, 307, 308].contains(statusCode) }

    /// The header fields, with values read as UTF-8 and without white space around them.
    package var headerFields: [String: String] {
        allHeaderFields.reduce(into: [:]) { fields, field in
            if let name = field.key as? String, let value = field.value as? String { fields[name] = value.trimmedFieldValue }
        }
    }

    /// The length of the decoded body in bytes. It is `nil` if it is 0 or unknown, for example because the Content-Length counts compressed
    /// bytes.
    package var bodyLength: Int64? {
        expectedContentLength > 0 && !isCoded ? expectedContentLength : nil
    }

    /// Whether the body is compressed, or coded in another way.
    var isCoded: Bool { !["", "identity"].contains(joinedValue(forHTTPHeaderField: "Content-Encoding")?.lowercased() ?? "") }

    /// The bytes that a 206 has, and the length of the whole, which is `nil` if it is unknown (RFC 9110, section 14.4). `nil` if it has
    /// several parts, each with a range of its own.
    var contentRange: (first: Int64, last: Int64, length: Int64?)? {
        if mediaTypes.contains("multipart/byteranges") { return nil }
        let parts = joinedValue(forHTTPHeaderField: "Content-Range")?.split(separator: "/", omittingEmptySubsequences: false) ?? []
        guard let bounds = parts.first.map({ String($0).rangeBounds(after: "bytes ") }), let first = bounds?.first, let last = bounds?.last,
            first <= last
        else { return nil }
        return (first, last, parts.count == 2 ? Int64(parts[1]) : nil)
    }

    /// Whether a Content-Type names this media type, or there is no Content-Type. There may be several, because a proxy may have added one.
    package func mayHaveMediaType(_ mediaType: String) -> Bool {
        let types = mediaTypes
        return types.isEmpty || types.contains(mediaType)
    }

    /// Whether the body is likely to have an end that can be waited for: it is JSON, or at most `limit` bytes.
    func isLikelyFinite(within limit: Int) -> Bool {
        expectedContentLength >= 0 && expectedContentLength <= limit
            || mediaTypes.contains { $0.hasSuffix("/json") || $0.hasSuffix("+json") }
    }

    /// The media type of the body, in lower case, and its charset. Of several, the last valid one counts, and has the charset of an earlier
    /// one if the media type is the same and it names none (the Fetch standard, "extract a MIME type").
    package var contentType: (mediaType: String, charset: String?)? {
        var rest = (joinedValue(forHTTPHeaderField: "Content-Type") ?? "")[...]
        var found: (mediaType: String, charset: String?)?
        while !rest.isEmpty {
            let parameters = rest.takeParameters()
            let type = parameters[0].name
            let parts = type.split(separator: "/", omittingEmptySubsequences: false)
            guard parts.count == 2, parts.allSatisfy({ String($0).isToken }), type != "*/*" else { continue }
            // Some servers write charset='utf-8', although only double quotes are quotes.
            let charsets = parameters.filter { $0.name == "charset" }.map { $0.value.trimmingCharacters(in: ["'"]) }
            found = (type, charsets.first { !$0.isEmpty } ?? (found?.mediaType == type ? found?.charset : nil))
        }
        return found
    }

    private var mediaTypes: [String] {
        let values = joinedValue(forHTTPHeaderField: "Content-Type")?.split(separator: ",") ?? []
        return values.map { String($0).mediaType }.filter { !$0.isEmpty }
    }

    /// Whether its Content-Length is no number, or there are several that differ: then it is unknown where the body ends (RFC 9112, section
    /// 6.3). A network stack may read `1e1` as 1.
    var hasInvalidLength: Bool {
        guard let lengths = joinedValue(forHTTPHeaderField: "Content-Length"), lengths != "\(expectedContentLength)" else { return false }
        let texts = Set(lengths.split(separator: ",", omittingEmptySubsequences: false).map { $0.trimmingCharacters(in: .whitespaces) })
        return texts.count > 1 || texts.contains { !$0.utf8.allSatisfy(\.isDigit) || Int64($0) == nil }
    }

    /// Whether it is a part of the content, to a request without a `Range` (RFC 9110, section 15.3.7).
    ///
    /// - Parameter range: The `Range` of the request.
    package func isUnaskedPart(range: @autoclosure () -> String?) -> Bool { statusCode == 206 && range() == nil }

    /// Whether the body is the content for which a download has asked. That of a 202, 204, 205 or 207 says something else, or nothing. A
    /// 206 has it if its range begins where that of the request does.
    ///
    /// - Parameter range: The `Range` of the request.
    package func isContent(range: String?) -> Bool {
        guard isSuccessful, ![202, 204, 205, 207].contains(statusCode) else { return false }
        guard statusCode == 206 else { return true }
        guard let asked = range?.rangeBounds(after: "bytes="), let part = contentRange else { return false }
        // A suffix, such as -500, ends where the content does.
        guard let start = asked.first else { return part.last - part.first < asked.last ?? 0 }
        return part.first == start && part.last <= asked.last ?? .max
    }

    // MARK: - Joined fields

    /// The header fields, sorted by name. Fields whose names differ only in case are joined with `", "`.
    var joinedFields: [(key: String, value: String)] {
        headerFields.sortedByName.reduce(into: []) { fields, field in
            if let last = fields.last, last.key.isField(field.name) {
                fields[fields.count - 1].value = "\(last.value), \(field.value)"
            } else {
                fields.append((field.name, field.value))
            }
        }
    }

    /// The values of all fields with this name, joined with `", "`; `nil` if there is none. Names are case-insensitive.
    package func joinedValue(forHTTPHeaderField name: String) -> String? {
        // On Linux `value(forHTTPHeaderField:)` returns any one of the fields whose names differ only in case, and is slow.
        var fields: [(name: String, value: String)] = []
        for (key, value) in allHeaderFields {
            guard let key = key as? String, key.isField(name), let value = value as? String else { continue }
            fields.append((key, value.trimmedFieldValue))
        }
        guard fields.count > 1 else { return fields.first?.value }
        return fields.sorted { $0.name < $1.name }.map(\.value).joined(separator: ", ")
    }
}

extension URLResponse {
    /// Whether this may be the response of a proxy to CONNECT. A successful one has no content (RFC 9110, section 9.3.6), so a 2xx with a
    /// Content-Type comes from the server. It is delivered without waiting for the first byte of its body.
    var mayBeConnectResponse: Bool {
        guard let response = self as? HTTPURLResponse, response.isSuccessful else { return true }
        return response.value(forHTTPHeaderField: "Content-Type") == nil
    }
}

// MARK: - Values

extension String {
    /// The numbers on both sides of the hyphen in `bytes=5-9`; `nil` if it has another form, such as that of several
    /// ranges, or a number that is too large.
    fileprivate func rangeBounds(after unit: String) -> (first: Int64?, last: Int64?)? {
        guard lowercased().hasPrefix(unit) else { return nil }
        let ends = dropFirst(unit.count).split(separator: "-", omittingEmptySubsequences: false)
        guard ends.count == 2, ends.allSatisfy({ $0.utf8.allSatisfy(\.isDigit) }), ends.contains(where: { !$0.isEmpty }) else { return nil }
        let numbers = ends.map { Int64($0) }
        guard zip(ends, numbers).allSatisfy({ $0.isEmpty || $1 != nil }) else { return nil }
        return (numbers[0], numbers[1])
    }

    /// The bytes that a `Range` asks for, of `count` (RFC 9110, section 14.1.2), which are empty if there are none; `nil` for several ranges
    /// and for another unit.
    package func byteRange(of count: Int) -> Range<Int>? {
        guard let bounds = rangeBounds(after: "bytes=") else { return nil }
        // A suffix, such as -500.
        guard let first = bounds.first else { return count - Int(clamping: min(bounds.last ?? 0, Int64(count)))..<count }
        guard first <= bounds.last ?? .max else { return nil }
        let start = min(Int(clamping: first), count)
        return start..<max(start, Int(min(bounds.last ?? .max, Int64(count) - 1)) + 1)
    }

    /// The value of a field without the white space around it (RFC 9110, section 5.5). Foundation on Linux keeps trailing white space.
    fileprivate var trimmedFieldValue: String {
        #if canImport(FoundationNetworking)
        return withoutOuterSpace
        #else
        return readAsUTF8.withoutOuterSpace
        #endif
    }

    private var withoutOuterSpace: String {
        let ends = [utf8.first, utf8.last]
        guard ends.contains(32) || ends.contains(9) else { return self }
        return trimmingCharacters(in: CharacterSet(charactersIn: " \t"))
    }

    /// UTF-8 that was read as Latin-1, as Apple's Foundation reads a header; any other text as it is.
    package var readAsUTF8: String {
        let bytes = unicodeScalars.compactMap { UInt8(exactly: $0.value) }
        guard bytes.contains(where: { $0 > 127 }), bytes.count == unicodeScalars.count else { return self }
        return String(data: Data(bytes), encoding: .utf8) ?? self
    }
}
