import APIProvider
import Foundation

/// The URL of a stub: an origin or any, a path in which `*` stands for one segment, and query items.
struct URLPattern {
    /// The text before a query.
    let pathAndOrigin: Substring
    private let target: Target
    /// `nil` is any one segment that is not empty.
    private let segments: [String?]
    /// Why it matches nothing.
    let problem: String?

    init(_ text: String) {
        pathAndOrigin = text.prefix { $0 != "?" }
        target = Target(text)
        let isAny = pathAndOrigin.split(separator: "/", omittingEmptySubsequences: false).suffix(target.segments.count).map { $0 == "*" }
        segments = zip(target.segments, isAny).map { $1 ? nil : $0 }
        problem = Self.problem(of: text, target)
    }

    private static func problem(of text: String, _ target: Target) -> String? {
        let path = text.prefix { $0 != "?" }
        if text.contains("#") { return "it has a fragment, which is never sent" }
        guard let origin = target.origin else {
            if text.hasPrefix("//") || !text.hasPrefix("/") {
                return "it begins neither with a scheme and a host, as \"https://api.example.com/user\", nor with a slash, as \"/user\""
            }
            return segmentProblem(of: path)
        }
        guard ["http", "https"].contains(origin.scheme) else { return "its scheme is neither http nor https" }
        if origin.host.isEmpty { return "it has no host" }
        if target.hasUser { return "it has a user, which is never sent" }
        if origin.host.contains("*") { return "* stands for a segment of the path; for any host, begin with a slash" }
        return segmentProblem(of: path)
    }

    private static func segmentProblem(of path: Substring) -> String? {
        if path.split(separator: "/").contains(where: { $0.contains("*") && $0 != "*" }) {
            return "* stands for a whole segment of the path; a star that is meant as such is %2A"
        }
        let isEscaped = path.split(separator: "%", omittingEmptySubsequences: false).dropFirst().allSatisfy {
            $0.prefix(2).count == 2 && $0.prefix(2).allSatisfy(\.isHexDigit)
        }
        return isEscaped ? nil : "it has a % that begins no escape; a percent sign is %25"
    }

    /// What a request must have, the path first.
    func matchers(isRecorded: Bool = false) -> [Matcher] {
        [.path(segments, isRecorded: isRecorded)] + (target.origin.map { [.origin($0)] } ?? [])
    }

    var query: [URLQueryItem] { target.query }
}

extension Matcher {
    /// - Parameters:
    ///   - pattern: The segments; `nil` is any one segment that is not empty.
    ///   - mayFollowBasePath: Whether other segments may stand before these.
    ///   - isRecorded: Whether something may have been left out of a segment.
    static func path(_ pattern: [String?], mayFollowBasePath: Bool = false, isRecorded: Bool = false) -> Matcher {
        Matcher { incoming in
            let segments = incoming.target.segments
            return (mayFollowBasePath ? segments.count >= pattern.count : segments.count == pattern.count)
                && zip(pattern, segments.suffix(pattern.count)).allSatisfy { matches($0, $1, isRecorded: isRecorded) }
        } explain: { incoming in
            let segments = incoming.target.segments
            let same = zip(pattern, segments).reduce(0) { $0 + likeness($1.0, $1.1) }
            return Mismatch(
                name: "path", expected: "/" + pattern.map { $0 ?? "*" }.joined(separator: "/"), actual: incoming.target.path,
                distance: 3 * (1 - same / Double(max(pattern.count, segments.count))))
        }
    }

    /// 1 for a match, and less by how much of the beginning is the same.
    private static func likeness(_ pattern: String?, _ segment: String) -> Double {
        guard let pattern, pattern != segment else { return segment.isEmpty && pattern == nil ? 0 : 1 }
        return 0.9 * Double(pattern.commonPrefix(with: segment).count) / Double(max(pattern.count, segment.count))
    }

    private static func matches(_ pattern: String?, _ segment: String, isRecorded: Bool) -> Bool {
        guard let pattern else { return !segment.isEmpty }
        return isRecorded ? Redaction.matches(pattern, segment) : pattern == segment
    }
}
