package import APIProvider
package import Foundation

// The lines of a whole request: `method`, `host`, `path 1`, `query page`, `header accept`, `cookie sid`, and what is in the body.
extension Lines {
    package mutating func add(_ method: HTTPMethod) { add(Value(.text(method.rawValue)), at: Place("method")) }

    /// Adds the host, with its scheme and port, and the segments of the path, which are counted from 1.
    package mutating func add(_ url: URLParts) {
        if let origin = url.origin { add(Value(.text(origin)), at: Place("host")) }
        for (index, segment) in url.segments.enumerated() { add(Value(.text(segment)), at: Place("path \(index + 1)")) }
    }

    package mutating func add(query items: [URLQueryItem]) {
        for item in items { add(Value(.text(item.value ?? "")), at: Place("query \(item.name)")) }
    }

    /// Adds a header field, or each cookie of a `Cookie`.
    package mutating func add(header name: String, _ value: String) {
        guard name.lowercased() == "cookie" else { return add(Value(.text(value)), at: Place("header \(name.lowercased())")) }
        for cookie in [URLQueryItem](cookies: value) { add(Value(.text(cookie.value ?? "")), at: Place("cookie \(cookie.name)")) }
    }

    /// Adds what the body consists of, read by its media type and its look. An empty body has no lines.
    package mutating func add(body: Data, type: String) { add(Lines(body: body, type: type), within: Place("body")) }
}
