import APIProvider
import APIProviderMocks
import Foundation

/// Replaces a response's placeholders with their texts in a replay, and moves times.
struct ResponseWriter {
    let placeholders: Placeholders
    let texts: [String: String]
    /// The seconds since the recording.
    let elapsed: TimeInterval

    func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        var written = headers
        for (name, value) in headers { written[name] = moved(filled(value, \.escapedAsValue), name) }
        return written
    }

    /// Escapes each text for JSON, markup or a URL.
    func body(_ body: Data, _ type: String) -> Data {
        let bytes = [UInt8](body), text = bytes.text
        guard !placeholders.occurrences(in: text).isEmpty, bytes.isUTF8 else { return body }
        let isJSON = type.mediaType.hasSuffix("json") || type.mediaType.isStreamOfLines || Lines(json: body) != nil
        let isMarkup = ["html", "xml"].contains { type.mediaType.hasSuffix($0) }
        let filled = Data(filled(text) { isJSON ? $0.escapedInJSON : isMarkup ? $0.escapedAsHTML : $0 }.utf8)
        // JSON inside a JSON text may lack an escape.
        return isJSON && Lines(json: body) != nil && Lines(json: filled) == nil ? body : filled
    }

    // MARK: - Texts

    private static let urlMark = Expression(#"(?:[?&][\w.-]+=|://[^\s"'<>]*/)$"#)

    private func filled(_ text: String, _ escaped: (String) -> String) -> String {
        let bytes = Array(replacingJWTs(in: text).utf8)
        return bytes.applying(
            placeholders.occurrences(in: bytes.text).compactMap { range, placeholder in
                guard let text = texts[placeholder], placeholder.utf8.count >= 8 else { return nil }
                let isInURL = !Self.urlMark.matches(in: Array(bytes[max(0, range.lowerBound - 200)..<range.lowerBound]).text).isEmpty
                return (range, Array((isInURL ? text.escapedAsValue : escaped(text)).utf8))
            }
        ).text
    }

    // MARK: - Times

    /// A JWT of the test becomes the test's again. Another JWT's claims get this replay's texts and times.
    private func replacingJWTs(in text: String) -> String {
        guard Array(text.utf8).contains("eyJ") else { return text }
        return Placeholders.jwt.replacing(in: text) { match in
            guard let head = match[1], let claims = match[2].flatMap({ Data(base64URL: $0) }), let end = match[3],
                let signature = placeholders.signature(of: end)
            else { return nil }
            if let text = texts[signature] { return text + Array(end.utf8.dropFirst(signature.utf8.count)).text }
            let moved = Self.time.replacing(in: filled([UInt8](claims).text, \.escapedInJSON)) { match in
                match[1].flatMap { name in
                    match[2].flatMap(Int64.init).map { time in
                        let (later, overflows) = time.addingReportingOverflow(Int64(elapsed))
                        return "\(name)\(overflows ? time : later)"
                    }
                }
            }
            return "\(head).\(Data(moved.utf8).base64URL).\(end)"
        }
    }

    private static let time = Expression(#"("(?:exp|iat|nbf|auth_time)"\s*:\s*)(\d+)"#)

    private func moved(_ value: String, _ name: String) -> String {
        switch name.lowercased() {
        case "retry-after": "0"
        case "date", "expires", "set-cookie":
            Self.date.replacing(in: value) { match in
                let date = match[0]?.replacingOccurrences(of: "-", with: " ")
                return date.flatMap { Date(httpDate: $0, now: Date()) }.map { ($0 + elapsed).httpDate }
            }
        default: value
        }
    }

    /// As headers have it, and with hyphens, as cookies do.
    private static let date = Expression(
        #"(?<![a-z])[a-z]{3}, \d{2}[ -][a-z]{3}[ -]\d{4} \d{2}:\d{2}:\d{2} GMT"#, isCaseSensitive: false)
}

extension Date {
    /// RFC 9110, section 5.6.7.
    fileprivate var httpDate: String {
        let formatter = DateFormatter()
        formatter.locale = Locale(identifier: "en_US_POSIX")
        formatter.timeZone = TimeZone(secondsFromGMT: 0)
        formatter.dateFormat = "EEE, dd MMM yyyy HH:mm:ss 'GMT'"
        return formatter.string(from: self)
    }
}
