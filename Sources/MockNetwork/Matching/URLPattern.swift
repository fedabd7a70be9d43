import APIProvider
import Foundation

/// The URL of a stub: an optional origin, a path with `*` for one segment and `**` for the rest, and query items.
struct URLPattern {
    /// The text before the query.
    let pathAndOrigin: Substring
    private let url: URLParts
    let path: PathPattern
    /// The reason why it matches nothing. Otherwise `nil`.
    let problem: String?

    init(_ text: String) {
        pathAndOrigin = text.prefix { $0 != "?" }
        url = URLParts(text)
        let written = pathAndOrigin.split(separator: "/", omittingEmptySubsequences: false).suffix(url.segments.count)
        let hasTrailingWildcard = written.last == "**"
        let segments = zip(url.segments, written).dropLast(hasTrailingWildcard ? 1 : 0).map { $1 == "*" ? nil : $0 }
        path = PathPattern(segments: segments, hasTrailingWildcard: hasTrailingWildcard)
        problem = Self.problem(of: text, url)
    }

    private static func problem(of text: String, _ url: URLParts) -> String? {
        let path = text.prefix { $0 != "?" }
        if text.contains("#") { return "it has a fragment, which is never sent" }
        guard let origin = url.origin else {
            if text.hasPrefix("//") || !text.hasPrefix("/") {
                return "it begins neither with a scheme and a host, as \"https://api.example.com/user\", nor with a slash, as \"/user\""
            }
            return segmentProblem(of: path)
        }
        guard origin.hasPrefix("http://") || origin.hasPrefix("https://") else { return "its scheme is neither http nor https" }
        if origin.hasSuffix("://") || origin.contains("://:") { return "it has no host" }
        if url.hasUser { return "it has a user, which is never sent" }
        if origin.contains("*") { return "* stands for a segment of the path; for any host, begin with a slash" }
        return segmentProblem(of: path)
    }

    private static func segmentProblem(of path: Substring) -> String? {
        let segments = path.hasSuffix("/**") ? path.dropLast(2) : path
        if segments.split(separator: "/").contains(where: { $0.contains("*") && $0 != "*" }) {
            return "* stands for a whole segment of the path, and ** at its end for the rest; write a literal star as %2A"
        }
        let hasValidEscapes = path.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy {
            $0.prefix(2).count == 2 && $0.prefix(2).allSatisfy(\.isHexDigit)
        }
        return hasValidEscapes ? nil : "it has a % that does not start an escape; write a percent sign as %25"
    }

    var origin: String? { url.origin }

    var query: [URLQueryItem] { url.query }
}
