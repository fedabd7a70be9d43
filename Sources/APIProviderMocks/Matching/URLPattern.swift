import APIProvider
import Foundation

/// A stub's URL: an optional origin, a path with `*` for one segment and `**` for the rest, and query items.
struct URLPattern {
    /// The text before the query.
    let pathAndOrigin: Substring
    private let url: URLParts
    let path: PathPattern
    /// The reason why the pattern matches nothing, if any.
    let problem: String?

    init(_ text: String) {
        pathAndOrigin = text.parts(between: UInt8(ascii: "?"))[0]
        url = URLParts(text)
        let written = pathAndOrigin.parts(between: UInt8(ascii: "/")).suffix(url.segments.count)
        let hasTrailingWildcard = written.last == "**"
        let segments = zip(url.segments, written).dropLast(hasTrailingWildcard ? 1 : 0).map { $1 == "*" ? nil : $0 }
        path = PathPattern(segments: segments, hasTrailingWildcard: hasTrailingWildcard)
        problem = Self.problem(of: text, pathAndOrigin, url)
    }

    private static func problem(of text: String, _ path: Substring, _ url: URLParts) -> String? {
        if text.hasScalars("#") { return "it has a fragment, which is never sent" }
        guard let origin = url.origin else {
            if text.utf8.starts(with: "//".utf8) || !text.utf8.starts(with: "/".utf8) {
                return "it begins neither with a scheme and a host, as \"https://api.example.com/user\", nor with a slash, as \"/user\""
            }
            return segmentProblem(of: path)
        }
        guard origin.hasPrefix("http://") || origin.hasPrefix("https://") else { return "its scheme is neither http nor https" }
        if origin.hasSuffix("://") || origin.contains("://:") { return "it has no host" }
        if url.hasUser { return "it has a user, which is never sent" }
        if origin.hasScalars("*") { return "* stands for a segment of the path; for any host, begin with a slash" }
        return segmentProblem(of: path)
    }

    private static func segmentProblem(of path: Substring) -> String? {
        let segments = path.parts(between: UInt8(ascii: "/"))
        if segments.dropLast(segments.last == "**" ? 1 : 0).contains(where: { $0.hasScalars("*") && $0 != "*" }) {
            return "* stands for a whole segment of the path, and ** at its end for the rest; write a literal star as %2A"
        }
        let hasValidEscapes = path.parts(between: UInt8(ascii: "%")).dropFirst().allSatisfy {
            $0.utf8.prefix(2).compactMap(\.hexValue).count == 2
        }
        return hasValidEscapes ? nil : "it has a % that does not start an escape; write a percent sign as %25"
    }

    var origin: String? { url.origin }

    var query: [URLQueryItem] { url.query }
}

// MARK: - Paths

/// A stub's path.
struct PathPattern: Sendable {
    /// The segments; `nil` is any nonempty segment.
    var segments: [String?]
    /// Whether the path is an `APIRequest`'s, without a base URL.
    var isRelative = false
    /// Whether other segments may follow.
    var hasTrailingWildcard = false
    /// The path in reports, without secrets.
    var redacted: String?

    func matches(_ path: [String]) -> Bool {
        guard path.count == segments.count || path.count > segments.count && hasTrailingWildcard else { return false }
        return zip(segments, path).allSatisfy(matches)
    }

    /// Whether `path` ends with this path, after other segments, usually a base URL's.
    private func isSuffix(of path: [String]) -> Bool {
        isRelative && path.count > segments.count && zip(segments, path.suffix(segments.count)).allSatisfy(matches)
    }

    private func matches(_ pattern: String?, _ segment: String) -> Bool {
        guard let pattern else { return !segment.isEmpty }
        return pattern.hasSameBytes(as: segment)
    }

    /// A segment such as `{id}` or `:id`: other tools' sign for any segment.
    private var placeholder: String? {
        segments.lazy.compactMap { $0 }.first { $0.count > 1 && ($0.hasPrefix(":") || $0.hasPrefix("{") && $0.hasSuffix("}")) }
    }

    /// A hint for a different `path`, or an empty text.
    func hint(for path: [String]) -> String {
        if isSuffix(of: path) { return "; if that is the path of a base URL, pass the base URL to the stub as baseURL" }
        if let placeholder { return "; for any segment in place of \(placeholder), write *" }
        var open = self
        open.hasTrailingWildcard = true
        if segments.last == .some(nil), open.matches(path) { return "; a * is one segment, and ** is any number" }
        let hasEscapedQuery = path.contains { $0.hasScalars("?") } && !segments.contains { $0?.hasScalars("?") == true }
        return hasEscapedQuery ? "; the path of the request has an escaped ?: pass its query as query" : ""
    }

    /// From 0 for the same path to 3.
    func distance(to path: [String]) -> Double {
        if isSuffix(of: path) { return 0.5 }
        let same = zip(segments, path).reduce(0) { $0 + similarity($1.0, $1.1) }
        return 3 * (1 - same / Double(max(segments.count, path.count, 1)))
    }

    /// 1 for a match, otherwise the common prefix's share.
    private func similarity(_ pattern: String?, _ segment: String) -> Double {
        if matches(pattern, segment) { return 1 }
        guard let pattern else { return 0 }
        let common = zip(pattern.utf8, segment.utf8).prefix { $0 == $1 }.count
        return 0.9 * Double(common) / Double(max(pattern.utf8.count, segment.utf8.count))
    }
}

extension PathPattern: CustomStringConvertible {
    var description: String { redacted ?? (segments.map { $0 ?? "*" } + (hasTrailingWildcard ? ["**"] : [])).path }
}
