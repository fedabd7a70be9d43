import Foundation
import MiniRx

/// The path segments that requests have called secret, so that whatever shows a URL leaves them out.
///
/// They are known to the whole process, as a CI runner knows its masked values: a URL goes through sessions, middlewares and servers' answers,
/// and keeps no note of where it came from.
package enum SecretSegments {
    private struct State {
        /// Each segment, as it is sent and as plain text, and what is shown in its place.
        var shown: [String: String] = [:]
        /// The segments in the order in which they came.
        var order: [String] = []
        var next = 0

        mutating func add(_ segment: String, shownAs text: String) {
            guard shown.updateValue(text, forKey: segment) == nil else { return }
            guard order.count == maximum else { return order.append(segment) }
            shown[order[next]] = nil
            order[next] = segment
            next = (next + 1) % maximum
        }
    }

    /// A server may have a secret for each of its users. The oldest are forgotten, long after their requests are over.
    private static let maximum = 10_000

    private static let state = Locked(State())

    /// Remembers the segments of `path` that are shown in another way in `text`.
    static func add(of path: String, shownAs text: String) {
        guard path != text else { return }
        let pairs = zip(path.split(separator: "/"), text.split(separator: "/")).filter { $0 != $1 }
        state.withLock { state in
            for (segment, text) in pairs {
                state.add(String(segment), shownAs: String(text))
                if let plain = segment.removingPercentEncoding, plain != segment { state.add(plain, shownAs: String(text)) }
            }
        }
    }

    /// The path of a URL with `…` for what is secret in it.
    package static func masked(inPath path: String) -> String {
        let shown = state.withLock(\.shown)
        guard !shown.isEmpty else { return path }
        return path.split(separator: "/", omittingEmptySubsequences: false).map { shown[String($0)] ?? String($0) }.joined(separator: "/")
    }

    /// Text with `…` for each secret segment that stands in it as a word.
    ///
    /// - Parameter placeholder: What stands for it.
    package static func masked(inText text: String, with placeholder: String = "…") -> String {
        state.withLock(\.shown).reduce(text) { text, segment in
            text.replacingWords(segment.key, with: segment.value.replacingOccurrences(of: "…", with: placeholder))
        }
    }
}

extension String {
    fileprivate func replacingWords(_ word: String, with other: String) -> String {
        var result = ""
        var rest = self[...]
        while let found = rest.range(of: word, options: .literal) {
            let isWord = rest[..<found.lowerBound].last?.isPartOfWord != true && rest[found.upperBound...].first?.isPartOfWord != true
            result += rest[..<found.lowerBound] + (isWord ? other : word)
            rest = rest[found.upperBound...]
        }
        return result + rest
    }
}

extension Character {
    fileprivate var isPartOfWord: Bool { isLetter || isNumber }
}
