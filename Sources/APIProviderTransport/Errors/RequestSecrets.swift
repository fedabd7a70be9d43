import Foundation

/// A request's secret texts with their replacements: path segments written as `\(secret:)`, the credential of ``AuthenticationMiddleware``,
/// and the parameters of ``DefaultQueryMiddleware``.
package struct RequestSecrets: Sendable {
    /// By their bytes: as characters, an `é` with one scalar equals one with two.
    private var replacements: [[UInt8]: String] = [:]
    /// The texts, the longest first, because a longer one may contain a shorter one.
    private var texts: [String] = []
    /// The least number of bytes in a text to replace everywhere. A shorter text may occur by chance, and is replaced only as a whole path
    /// segment.
    private static let minimumByteCountInText = 6

    package init() {}

    /// The replacement of `text`. Setting it sets those of its composed and decomposed forms, too.
    private subscript(text: String) -> String? {
        get { replacements[Array(text.utf8)] }
        set {
            replacements[Array(text.utf8)] = newValue
            guard text.utf8.contains(where: { $0 > 127 }) else { return }
            for form in [text.precomposedStringWithCanonicalMapping, text.decomposedStringWithCanonicalMapping] {
                replacements[Array(form.utf8)] = newValue
            }
        }
    }

    /// Marks all `secrets`, and the segments of `path` that differ in `redactedPath`.
    package mutating func add(_ secrets: [String], path: String = "", redactedPath: String = "") {
        guard !secrets.isEmpty else { return }
        let segments = [path, redactedPath].map { $0.parts(between: UInt8(ascii: "/")).map(String.init) }
        for (segment, redacted) in zip(segments[0], segments[1]) where !segment.hasSameBytes(as: redacted) {
            self[segment] = redacted
            self[segment.removingPercentEncoding ?? segment] = redacted
        }
        for text in secrets where !text.isEmpty {
            self[text] = self[text] ?? "…"
            self[text.escapedAsValue] = self[text]
        }
        sortTexts()
    }

    package mutating func merge(_ other: RequestSecrets) {
        guard !other.isEmpty else { return }
        replacements.merge(other.replacements) { $1 }
        sortTexts()
    }

    private mutating func sortTexts() {
        texts = replacements.keys.map { String(decoding: $0, as: UTF8.self) }.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// Returns a URL's path with the secret segments replaced.
    package func redacted(path: String) -> String {
        guard !replacements.isEmpty else { return path }
        return path.parts(between: UInt8(ascii: "/")).map { segment in
            let text = String(segment)
            return self[text] ?? text.percentDecoded.flatMap { self[$0] } ?? redacted(text)
        }.joined(separator: "/")
    }

    /// Returns the URL or reference without user, password and fragment. Each value of the query becomes `…`.
    package func redacted(url text: String) -> String {
        URIReference(text).redacted(path: { redacted(path: $0) }) { query in
            URIReference.items(query) { name, value in
                // An item without a value may be a token. A Base64 token may end in "=", like an empty value. So such a name is hidden,
                // too.
                value?.utf8.allSatisfy { $0 == UInt8(ascii: "=") } != false ? "…" : "\(name)=…"
            }
        }
    }

    /// Returns the text with all secrets replaced.
    package func redacted(_ text: String) -> String {
        // Not by characters: a combining mark behind a secret would make its last one another.
        texts.prefix { $0.utf8.count >= Self.minimumByteCountInText }.reduce(text) { text, secret in
            text.replacingOccurrences(of: secret, with: self[secret] ?? "…", options: .literal)
        }
    }

    var isEmpty: Bool { replacements.isEmpty }

    /// The program's secrets, without their escapes.
    package var hiddenTexts: [String] {
        texts.filter { text in
            let plain = text.removingPercentEncoding ?? text
            return self[text] == "…" && (plain.hasSameBytes(as: text) || self[plain] == nil)
        }
    }
}

extension URL {
    /// The URL for people, as ``RequestSecrets/redacted(url:)`` returns it.
    package var redacted: String { RequestSecrets().redacted(url: absoluteString) }
}
