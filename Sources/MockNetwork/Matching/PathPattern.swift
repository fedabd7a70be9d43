import APIProvider
import Foundation

/// The path of a stub.
struct PathPattern: Sendable {
    /// The segments; `nil` is any one segment that is not empty.
    var segments: [String?]
    /// Whether it is the path of an `APIRequest` without a base URL.
    var isRelative = false
    /// Whether other segments may follow.
    var hasTrailingWildcard = false
    /// The path in reports, without secrets.
    var redacted: String?

    func matches(_ path: [String]) -> Bool {
        guard path.count == segments.count || path.count > segments.count && hasTrailingWildcard else { return false }
        return zip(segments, path).allSatisfy(matches)
    }

    /// Whether `path` ends with this path, after other segments, usually those of a base URL.
    func isSuffix(of path: [String]) -> Bool {
        isRelative && path.count > segments.count && zip(segments, path.suffix(segments.count)).allSatisfy(matches)
    }

    private func matches(_ pattern: String?, _ segment: String) -> Bool {
        guard let pattern else { return !segment.isEmpty }
        return pattern.hasSameBytes(as: segment)
    }

    /// A segment such as `{id}` or `:id`, by which other tools mean any segment.
    var placeholder: String? {
        segments.lazy.compactMap { $0 }.first { $0.count > 1 && ($0.hasPrefix(":") || $0.hasPrefix("{") && $0.hasSuffix("}")) }
    }

    /// A hint on why it does not match `path`, or an empty text.
    func hint(for path: [String]) -> String {
        if let placeholder { return "; for any segment in place of \(placeholder), write *" }
        var open = self
        open.hasTrailingWildcard = true
        if segments.last == .some(nil), open.matches(path) { return "; a * is one segment, and ** is any number" }
        let hasEscapedQuery = path.contains { $0.contains("?") } && !segments.contains { $0?.contains("?") == true }
        return hasEscapedQuery ? "; the path of the request has an escaped ?: pass its query as query" : ""
    }

    /// From 0, for a path that is the same, to 3.
    func distance(to path: [String]) -> Double {
        let same = zip(segments, path).reduce(0) { $0 + similarity($1.0, $1.1) }
        return 3 * (1 - same / Double(max(segments.count, path.count, 1)))
    }

    /// 1 for a match, otherwise the share of the common prefix.
    private func similarity(_ pattern: String?, _ segment: String) -> Double {
        if matches(pattern, segment) { return 1 }
        guard let pattern else { return 0 }
        return 0.9 * Double(pattern.commonPrefix(with: segment).count) / Double(max(pattern.count, segment.count))
    }
}

extension PathPattern: CustomStringConvertible {
    var description: String { redacted ?? (segments.map { $0 ?? "*" } + (hasTrailingWildcard ? ["**"] : [])).path }
}
