import Foundation

/// A URL to which requests append a path and a query. Parsed once.
struct BaseURL: Sendable {
    @HiddenFromReflection var url: URL
    private let isComplete: Bool
    /// The scheme, the host and the path.
    @HiddenFromReflection private var start: String
    /// The same without slashes at the end.
    @HiddenFromReflection private var startWithoutSlashes: String
    @HiddenFromReflection private var query: String?

    init(_ url: URL) {
        self.url = url
        isComplete = url.scheme.map { url.host?.isEmpty == false || !$0.isHTTP } ?? false
        let parts = URIReference(url.absoluteString)
        let start = parts.scheme.map { "\($0.lowercased())://\(parts.authority)\(parts.path)" } ?? String(parts.path)
        var shortened = start
        while shortened.utf8.last == UInt8(ascii: "/") { shortened.removeLast() }
        (self.start, startWithoutSlashes) = (start, shortened)
        query = parts.query.map { String($0) }
    }

    /// The URL with `path` and `query` appended.
    func appending(_ path: RequestPath, _ query: QueryParameters) throws -> URL {
        guard isComplete else {
            throw APIError.invalid("its URL \"\(url.redacted)\" needs a scheme and a host, as in \"https://api.example.com\"")
        }
        // Building the URL as text takes less than half the time of `URLComponents`.
        let (added, ownPath) = (query.percentEncoded, path.percentEncoded)
        var text = ownPath.isEmpty ? start : startWithoutSlashes
        text.reserveCapacity(text.utf8.count + ownPath.utf8.count + added.utf8.count + 2)
        if !ownPath.isEmpty, ownPath.utf8.first != UInt8(ascii: "/") { text += "/" }
        text += ownPath
        if self.query != nil || !added.isEmpty {
            text += "?"
            if let own = self.query, !own.isEmpty { text += added.isEmpty ? own : own + "&" }
            text += added
        }
        guard let url = URL(string: text) else {
            throw APIError.invalid("no URL can be made of \"\(self.url.redacted)\" and its path \"\(path)\"")
        }
        return url
    }
}
