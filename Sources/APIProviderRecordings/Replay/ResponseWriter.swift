import APIProvider
import Foundation
import MockNetwork

/// Writes the texts that placeholders have in a replay into a response, and moves its times.
struct ResponseWriter {
    let placeholders: Placeholders
    let texts: [String: String]
    /// The seconds since the entry was recorded.
    let elapsed: TimeInterval

    func headers(_ headers: HTTPHeaders) -> HTTPHeaders {
        var written = headers
        for (name, value) in headers {
            let text = movingJWTs(in: value)
            let edits = reader.header(name, Array(text.utf8))
            written[name] = moved(replacing(in: Array(text.utf8).applying(edits).text, \.escapedAsValue), name)
        }
        return written
    }

    func body(_ body: Data, _ type: String) -> Data {
        var bytes = [UInt8](body)
        guard !placeholders.occurrences(in: bytes.text).isEmpty || texts.keys.contains(where: \.isNumber) else { return body }
        bytes = Array(movingJWTs(in: bytes.text).utf8)
        if let edits = reader.json(bytes) { return Data(bytes.applying(edits)) }
        bytes = bytes.applying(reader.body(bytes, type))
        let isMarkup = ["html", "xml"].contains { type.mediaType.hasSuffix($0) }
        return Data(replacing(in: bytes.text, isMarkup ? \.escapedAsHTML : { $0 }).utf8)
    }

    // MARK: - Texts

    private var reader: ValueReader {
        var reader = ValueReader { value in
            guard value.kind != .key else { return nil }
            if value.kind == .number {
                guard let text = texts[value.text], text.isNumber else { return nil }
                return hasName(value.name, of: value.text) ? text : nil
            }
            if value.text.isNumber, !hasName(value.name, of: value.text) { return nil }
            let text = replacing(in: value.text, value.text.contains("://") ? \.escapedAsValue : { $0 })
            return text == value.text ? nil : text
        }
        reader.beginsInside = true
        return reader
    }

    /// Whether a name says the same as the one under which the placeholder takes its text. A number may stand elsewhere by chance.
    private func hasName(_ name: String, of placeholder: String) -> Bool {
        guard placeholder.utf8.count < 8 else { return true }
        let names = (placeholders.places[placeholder] ?? []).map { Place($0).value("").name }
        return names.contains { $0 == name || CredentialNames.match($0).map { $0.label == CredentialNames.match(name)?.label } == true }
    }

    private func replacing(in text: String, _ escaped: (String) -> String) -> String {
        let edits = placeholders.occurrences(in: text).compactMap { range, placeholder in
            texts[placeholder].map { (range, Array(escaped($0).utf8)) }
        }
        return edits.isEmpty ? text : Array(text.utf8).applying(edits).text
    }

    // MARK: - Times

    /// A JWT of the test is the test's again. Of another, the claims have the texts of this replay, and its times move.
    private func movingJWTs(in text: String) -> String {
        guard Array(text.utf8).has(text: "eyJ") else { return text }
        return Placeholders.jwt.replacing(in: text) { match in
            guard let end = match[3]?.text, let signature = placeholders.signature(of: end) else { return nil }
            if let text = texts[signature] { return text + end.dropFirst(signature.count) }
            let moving = ValueReader { value in
                guard value.kind == .number, ["exp", "iat", "nbf", "auth_time"].contains(value.name), let time = Int64(value.text) else {
                    return value.kind == .text ? self.reader.replacement(value) : nil
                }
                return "\(time + Int64(elapsed))"
            }
            return moving.newJWT(match.whole.text)
        }
    }

    private func moved(_ value: String, _ name: String) -> String {
        switch name.lowercased() {
        case "retry-after": "0"
        case "date", "expires": Date(httpDate: value, now: Date()).map { ($0 + elapsed).httpDate } ?? value
        case "set-cookie":
            Self.expires.replacing(in: value) { match in
                guard let start = match[1]?.text, let date = match[2]?.text.replacingOccurrences(of: "-", with: " ") else { return nil }
                return Date(httpDate: date, now: Date()).map { start + ($0 + elapsed).httpDate }
            }
        default: value
        }
    }

    private static let expires = Expression("(;\\s*expires=)([^;]+)", isCaseSensitive: false)
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
