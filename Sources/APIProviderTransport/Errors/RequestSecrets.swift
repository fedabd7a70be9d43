import Foundation

/// A request's secret texts with their replacements: path segments written as `\(secret:)`, the credential of ``AuthenticationMiddleware``,
/// and the parameters of ``DefaultQueryMiddleware``.
package struct RequestSecrets: Sendable {
    private var replacements: [String: String] = [:]
    /// The texts to replace everywhere, the longest first, because a longer one may contain a shorter one.
    private var texts: [String] = []
    /// The least number of bytes in a text to replace everywhere. A shorter text may occur by chance, and is replaced only as a whole path
    /// segment.
    private static let minimumByteCountInText = 6

    package init() {}

    /// Marks all `secrets`, and the segments of `path` that differ in `redactedPath`.
    package mutating func add(_ secrets: [String], path: String = "", redactedPath: String = "") {
        guard !secrets.isEmpty else { return }
        let segments = [path, redactedPath].map { $0.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }
        for (segment, redacted) in zip(segments[0], segments[1]) where segment != redacted {
            replacements[segment] = redacted
            replacements[segment.removingPercentEncoding ?? segment] = redacted
        }
        for text in secrets where !text.isEmpty {
            replacements[text] = replacements[text] ?? "…"
            replacements[text.percentEncoded(except: .unreserved)] = replacements[text]
        }
        sortTexts()
    }

    package mutating func merge(_ other: RequestSecrets) {
        guard !other.isEmpty else { return }
        replacements.merge(other.replacements) { $1 }
        sortTexts()
    }

    private mutating func sortTexts() {
        texts = replacements.keys.filter { $0.utf8.count >= Self.minimumByteCountInText }.sorted {
            ($1.utf8.count, $0) < ($0.utf8.count, $1)
        }
    }

    /// Returns a URL's path with the secret segments replaced.
    package func redacted(path: String) -> String {
        guard !replacements.isEmpty else { return path }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            let text = String(segment)
            guard let secret = [text, text.removingPercentEncoding ?? text].first(where: { replacements[$0] != nil }) else {
                return redacted(text)
            }
            return replacements[secret] ?? "…"
        }.joined(separator: "/")
    }

    /// Returns the URL or reference, with `…` for the query values, and without user, password and fragment.
    package func redacted(url text: String) -> String {
        URIReference(text).redacted(path: { redacted(path: $0) }) { query in
            URIReference.items(query) { name, value in
                // An item without a value may be a token. A Base64 token may end in "=", like an empty value. So such a name is hidden,
                // too.
                value?.allSatisfy { $0 == "=" } != false ? "…" : "\(name)=…"
            }
        }
    }

    /// Returns the text with all secrets replaced.
    package func redacted(_ text: String) -> String {
        texts.reduce(text) { text, secret in text.replacingOccurrences(of: secret, with: replacements[secret] ?? "…") }
    }

    package var isEmpty: Bool { replacements.isEmpty }

    /// The program's secrets, without their escapes.
    package var hiddenTexts: [String] {
        replacements.filter { $0.value == "…" }.keys.filter { text in
            let plain = text.removingPercentEncoding ?? text
            return plain == text || replacements[plain] == nil
        }.sorted()
    }
}

extension URL {
    /// The URL for people, with `…` for the query values, and without user, password and fragment.
    package var redacted: String { RequestSecrets().redacted(url: absoluteString) }
}
