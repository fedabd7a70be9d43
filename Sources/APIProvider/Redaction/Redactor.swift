package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Writes text without its secrets, for those who will read it.
package struct Redactor: Sendable {
    /// Who reads it.
    package enum Style: Sendable {
        /// People who read an error, a log or a cURL text: `…` for secrets and for each value of a URL's query.
        case sentence
        /// The author of a test: `…` for secrets.
        case report
        /// Those who have a recording, and the code that decodes it: `REDACTED` for secrets.
        case recording
    }

    /// What stands for a secret in recordings.
    package static let placeholder = "REDACTED"

    let redaction: Redaction
    let style: Style
    /// Whether a value keeps its kind, so that what decoded before still does.
    private(set) var keepsKinds = false

    package init(_ redaction: Redaction = .secrets, for style: Style) { (self.redaction, self.style) = (redaction, style) }

    private var hidesQueries: Bool { style == .sentence && redaction.hidesSecrets }
}

extension Redactor {
    /// The URL of a request, which is sent without its fragment.
    package func url(_ url: URL) -> String {
        guard !redaction.hidesNothing else { return url.absoluteString }
        guard var components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return String(decoding: mark, as: UTF8.self) }
        components.fragment = nil
        if hidesQueries {
            if components.host?.isEmpty != false, let scheme = components.scheme { return "\(scheme):…" }
            (components.user, components.password) = (nil, nil)
        }
        return reference(components.string ?? "")
    }

    /// A URL, or a reference to one (RFC 3986).
    package func reference(_ text: String) -> String { scan(text, hidesQueries) { $0.scanURL($0.bytes.indices) } }

    /// The path of a URL.
    package func path(_ path: String) -> String { scan(path) { $0.scanPath($0.bytes.indices) } }

    /// The value of a header: nothing of it where the name is that of a secret.
    package func header(_ name: String, _ value: String) -> String {
        guard !value.isEmpty else { return value }
        guard !redaction.hides(name, as: .header), !redaction.hidesSecrets || !KnownSecrets.hasHeader(name, value) else {
            return String(decoding: mark, as: UTF8.self)
        }
        if ["location", "content-location", "referer"].contains(name.lowercased()) { return reference(value) }
        return scan(value, hidesQueries) { $0.scanText($0.bytes.indices, as: .header) }
    }

    /// The value of a parameter, without its escapes.
    package func parameter(_ name: String, _ value: String) -> String {
        redaction.hides(name, as: .parameter) ? String(decoding: mark, as: UTF8.self) : text(value)
    }

    /// What an error says.
    func sentence(_ text: String) -> String { scan(text, hidesQueries) { $0.scanBody($0.bytes.indices, contentType: nil) } }

    /// Text of any kind.
    ///
    /// - Parameter isCut: Whether it goes on. A word at its end, which may be the beginning of a secret, is left away then.
    package func text(_ text: String, isCut: Bool = false) -> String {
        var text = text
        if isCut {
            let last = text.utf8.reversed().prefix(256).prefix { $0.isWordByte || "-._~%:/@+".utf8.contains($0) }.count
            if last < 256 { text = String(decoding: text.utf8.dropLast(last), as: UTF8.self) }
        }
        return keepingKinds.scan(text, isCut: isCut) { $0.scanBody($0.bytes.indices, contentType: nil) }
    }

    /// A body, in the encoding that it has.
    package func body(_ body: Data, contentType: String?) -> Data {
        guard !redaction.hidesNothing, !body.isEmpty else { return body }
        if let (encoding, mark) = body.wideEncoding, let decoded = String(data: body.dropFirst(mark.count), encoding: encoding) {
            let redacted = text(decoded)
            return redacted == decoded ? body : redacted.data(using: encoding).map { mark + $0 } ?? body
        }
        var scanner = SecretScanner([UInt8](body), keepingKinds, hidesQueries: false, isCut: false)
        scanner.scanBody(scanner.bytes.indices, contentType: contentType)
        return scanner.result.map { Data($0) } ?? body
    }

    private var keepingKinds: Redactor {
        var redactor = self
        redactor.keepsKinds = style == .recording
        return redactor
    }

    private func scan(
        _ text: String, _ hidesQueries: Bool = false, isCut: Bool = false, _ scan: (inout SecretScanner) -> Void
    ) -> String {
        guard !redaction.hidesNothing, !text.isEmpty else { return text }
        var scanner = SecretScanner(Array(text.utf8), self, hidesQueries: hidesQueries, isCut: isCut)
        scan(&scanner)
        return scanner.result.map { String(decoding: $0, as: UTF8.self) } ?? text
    }
}

extension Data {
    /// The encoding of JSON, or of text that says so by its first bytes, where a character has more than one byte; and these bytes.
    fileprivate var wideEncoding: (String.Encoding, mark: Data)? {
        let bytes = [UInt8](prefix(4))
        guard bytes.count > 1 else { return nil }
        switch (bytes[0], bytes[1], bytes.count > 2 ? bytes[2] : 1, bytes.count > 3 ? bytes[3] : 0) {
        case (0, 0, 0xFE, 0xFF): return (.utf32BigEndian, prefix(4))
        case (0xFF, 0xFE, 0, 0): return (.utf32LittleEndian, prefix(4))
        case (0xFE, 0xFF, _, _): return (.utf16BigEndian, prefix(2))
        case (0xFF, 0xFE, _, _): return (.utf16LittleEndian, prefix(2))
        case (0, 0, 0, 1...): return (.utf32BigEndian, Data())
        case (1..., 0, 0, 0): return (.utf32LittleEndian, Data())
        case (0, 1..., 0, 1...): return (.utf16BigEndian, Data())
        case (1..., 0, 1..., 0): return (.utf16LittleEndian, Data())
        default: return nil
        }
    }
}
