import Foundation

/// The secret texts of a request, and what is shown instead of each: segments of its path written as `\(secret:)`, and the credential
/// of ``AuthenticationMiddleware``.
package struct RequestSecrets: Sendable {
    private var shown: [String: String] = [:]
    /// The texts that are replaced wherever they occur. The longest is first, because a shorter one may be a part of it.
    private var texts: [String] = []
    /// A shorter text may be any word, so it is only replaced where it is a whole segment of the path.
    private static let minimumInText = 6

    package init() {}

    /// Marks as secret each segment of `path` that differs from its `shown` form, and every occurrence of `secrets`.
    mutating func add(_ secrets: [String], path: String = "", shown: String = "") {
        guard !secrets.isEmpty else { return }
        let segments = [path, shown].map { $0.split(separator: "/", omittingEmptySubsequences: false).map(String.init) }
        for (segment, shown) in zip(segments[0], segments[1]) where segment != shown {
            self.shown[segment] = shown
            self.shown[segment.removingPercentEncoding ?? segment] = shown
        }
        for text in secrets where !text.isEmpty {
            self.shown[text] = self.shown[text] ?? "…"
            self.shown[text.percentEncoded(except: .unreserved)] = self.shown[text]
        }
        texts = self.shown.keys.filter { $0.utf8.count >= Self.minimumInText }.sorted { ($1.utf8.count, $0) < ($0.utf8.count, $1) }
    }

    /// The path of a URL.
    package func hide(inPath path: String) -> String {
        guard !shown.isEmpty else { return path }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { segment in
            shown[String(segment)] ?? segment.removingPercentEncoding.flatMap { shown[$0] } ?? hide(in: String(segment))
        }.joined(separator: "/")
    }

    /// Text of any kind.
    package func hide(in text: String) -> String {
        texts.reduce(text) { text, secret in text.replacingOccurrences(of: secret, with: shown[secret] ?? "…") }
    }

    package var isEmpty: Bool { shown.isEmpty }
}
