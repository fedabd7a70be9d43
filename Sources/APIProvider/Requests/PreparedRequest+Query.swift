import Foundation

extension PreparedRequest {
    /// The query parameters in ``url``: `request.query["lang"] = "en"`.
    ///
    /// New items are escaped like an endpoint's. Unchanged items keep their bytes, so a signed URL stays valid. A `+` is read as a space,
    /// as on servers.
    public var query: QueryParameters {
        get {
            var query = QueryParameters(url.queryItems.map(\.item))
            query.infiniteKeys = infiniteQueryKeys
            return query
        }
        set {
            infiniteQueryKeys = newValue.infiniteKeys
            let old = url.queryItems
            // By bytes, unlike Swift's text comparison.
            var texts = Dictionary(grouping: old, by: \.item.percentEncoded).mapValues { $0.map(\.text)[...] }
            let items = newValue.map { item in texts[item.percentEncoded]?.popFirst() ?? item.percentEncoded }
            guard items != old.map(\.text) else { return }
            let query = items.isEmpty ? "" : "?" + items.joined(separator: "&")
            url = URL(string: url.absoluteString.prefix { $0 != "?" } + query) ?? url
        }
    }
}

extension URLQueryItem {
    fileprivate var percentEncoded: String { QueryParameters([self]).percentEncoded }
}

extension URL {
    /// The query items, each with the original text.
    fileprivate var queryItems: [(text: String, item: URLQueryItem)] {
        guard let query = URIReference(absoluteString).query, !query.isEmpty else { return [] }
        return query.parts(between: UInt8(ascii: "&")).map { text in
            let parts = text.split(separator: "=", maxSplits: 1, omittingEmptySubsequences: false).map(\.formDecoded)
            return (String(text), URLQueryItem(name: parts[0], value: parts.count > 1 ? parts[1] : nil))
        }
    }
}
