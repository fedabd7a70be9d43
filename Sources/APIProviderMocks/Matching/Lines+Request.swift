import APIProvider
package import Foundation

// A whole request's lines: `method`, `host`, `path 1`, `query page`, `header accept`, `cookie sid`, and the body's.
extension Lines {
    /// - Parameters:
    ///   - query: The query items.
    ///   - headers: The compared headers.
    ///   - type: The `Content-Type`, with its parameters.
    package init(
        method: HTTPMethod, _ url: URLParts, query: [URLQueryItem], headers: [(name: String, value: String)], body: Data, type: String
    ) {
        var values = ["method": [Value(kind: .text, text: method.rawValue)]]
        if let origin = url.origin { values["host"] = [Value(kind: .text, text: origin)] }
        for (index, segment) in url.segments.enumerated() { values["path \(index + 1)"] = [Value(kind: .text, text: segment)] }
        for (place, texts) in Lines(query, prefix: "query ").values { values[place] = texts }
        for (name, value) in headers where name.lowercased() != "cookie" {
            values["header \(name.lowercased())", default: []].append(Value(kind: .text, text: value))
        }
        for (name, value) in headers where name.lowercased() == "cookie" {
            for (place, texts) in Lines(cookies: value).values { values[place, default: []] += texts }
        }
        for (place, inner) in Lines(body: body, type: type).values { values["body".appending(place)] = inner }
        self.init(values)
    }

    /// Query items or form items.
    init(_ items: [URLQueryItem], prefix: String = "") {
        self.init(
            Dictionary(grouping: items) { prefix + $0.name.uniqueSpelling }.mapValues {
                $0.map { Value(kind: .text, text: $0.value ?? "") }
            }
        )
    }

    /// A `Cookie`'s pairs (RFC 6265, section 4.2).
    init(cookies text: String) {
        let pairs = text.utf8.split(separator: UInt8(ascii: ";")).map { pair in
            let parts = Substring(pair).parts(between: UInt8(ascii: "="))
            let texts = [String(parts[0]), parts.dropFirst().joined(separator: "=")].map { $0.trimmingCharacters(in: [" ", "\t"]) }
            return URLQueryItem(name: texts[0], value: texts[1])
        }
        self.init(pairs, prefix: "cookie ")
    }
}
