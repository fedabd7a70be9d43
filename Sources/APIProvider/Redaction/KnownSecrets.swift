import Foundation
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The secrets that this process has been told of: path segments that requests have called secret, and headers into which tokens were put.
///
/// They are known to the whole process, as a CI runner knows its masked values: a URL goes through sessions, middlewares and servers' answers,
/// and keeps no note of where it came from.
enum KnownSecrets {
    /// What begins a secret: its first letters and digits, up to eight.
    fileprivate typealias Start = UInt64

    /// Where a secret stands in relation to its first letter or digit.
    fileprivate struct Extent: Hashable {
        let before: Int
        let after: Int
    }

    struct Segments {
        /// What is shown in the place of each segment, as it is sent and as plain text.
        private var shown = Newest()
        /// How many segments of this extent begin so, so that looking for them takes no longer where there are many.
        private var extents: [Start: [Extent: Int]] = [:]
        /// A shorter one may be any word. It is a secret between slashes alone.
        private static let minimumInText = 6

        var isEmpty: Bool { shown.isEmpty }

        mutating func add(_ segment: [UInt8], shownAs text: [UInt8]) {
            guard let first = segment.firstIndex(where: \.isWordByte), shown[segment] == nil else { return }
            extents[segment.start(at: first), default: [:]][segment.extent(from: first), default: 0] += 1
            if let oldest = shown.add(segment, text) { remove(oldest) }
        }

        private mutating func remove(_ segment: [UInt8]) {
            guard let first = segment.firstIndex(where: \.isWordByte) else { return }
            let (start, extent) = (segment.start(at: first), segment.extent(from: first))
            let count = extents[start]?[extent] ?? 0
            extents[start]?[extent] = count > 1 ? count - 1 : nil
            if extents[start]?.isEmpty == true { extents[start] = nil }
        }

        /// The segments that stand as words in `bytes` so that their first letter or digit is at `position`.
        func matches(in bytes: [UInt8], at position: Int) -> [(range: Range<Int>, shown: [UInt8])] {
            guard let extents = extents[bytes.start(at: position)] else { return [] }
            return extents.keys.compactMap { extent in
                let (start, end) = (position - extent.before, position + extent.after)
                guard start >= 0, end <= bytes.count,
                    start == 0 || !bytes[start - 1].isWordByte, end == bytes.count || !bytes[end].isWordByte,
                    end - start >= Self.minimumInText || bytes.isSegment(start..<end),
                    let shown = shown[Array(bytes[start..<end])]
                else { return nil }
                return (start..<end, shown)
            }
        }
    }

    private struct State {
        var segments = Segments()
        /// Names and values.
        var headers = Newest()
    }

    private static let state = Locked(State())

    static var segments: Segments { state.withLock(\.segments) }

    /// Remembers text that is secret wherever it stands.
    static func add(_ secrets: [String]) {
        for secret in secrets { add([secret, secret.percentEncoded(except: .unreserved)], shownAs: "…") }
    }

    /// Remembers the segments of `path` that are shown in another way in `text`.
    static func addSegments(of path: String, shownAs text: String) {
        guard path != text else { return }
        let segments = [path, text].map { $0.split(separator: "/", omittingEmptySubsequences: false) }
        for (segment, text) in zip(segments[0], segments[1]) where segment != text {
            add([String(segment), segment.removingPercentEncoding ?? ""], shownAs: text)
        }
    }

    private static func add(_ forms: Set<String>, shownAs text: some StringProtocol) {
        state.withLock { state in
            for form in forms { state.segments.add(Array(form.utf8), shownAs: Array(text.utf8)) }
        }
    }

    /// Whether a token was put into a header of this name and value.
    static func hasHeader(_ name: String, _ value: String) -> Bool { state.withLock { $0.headers[header(name, value)] != nil } }

    /// Remembers the headers into which a token was put.
    static func addHeaders(of authorized: URLRequest, notIn plain: URLRequest) {
        for (name, value) in authorized.headers(notIn: plain) where !Redaction.secrets.hides(name, as: .header) && !isPublic(name) {
            state.withLock { _ = $0.headers.add(header(name, value), []) }
        }
    }

    private static func header(_ name: String, _ value: String) -> [UInt8] { Array("\(name.lowercased()): \(value)".utf8) }

    /// Whether all requests have a header of this name, and so one that has no token.
    private static func isPublic(_ name: String) -> Bool {
        ["accept", "accept-encoding", "accept-language", "content-length", "content-type", "user-agent"].contains(name.lowercased())
    }
}

/// Texts, and what is shown in their places. A server may have a secret for each of its users: the oldest are forgotten, long after their
/// requests are over.
private struct Newest {
    private var shown: [[UInt8]: [UInt8]] = [:]
    private var texts: [[UInt8]] = []
    private var oldest = 0

    private static let maximum = 10_000

    var isEmpty: Bool { texts.isEmpty }

    subscript(text: [UInt8]) -> [UInt8]? { shown[text] }

    /// Returns the text that is forgotten for `text`.
    mutating func add(_ text: [UInt8], _ other: [UInt8]) -> [UInt8]? {
        guard shown.updateValue(other, forKey: text) == nil else { return nil }
        guard texts.count == Self.maximum else {
            texts.append(text)
            return nil
        }
        let forgotten = texts[oldest]
        shown[forgotten] = nil
        texts[oldest] = text
        oldest = (oldest + 1) % Self.maximum
        return forgotten
    }
}

extension URLRequest {
    /// The headers that `other` has not, or with other values.
    func headers(notIn other: URLRequest) -> [String: String] {
        (allHTTPHeaderFields ?? [:]).filter { other.value(forHTTPHeaderField: $0.key) != $0.value }
    }
}

extension [UInt8] {
    /// Whether a segment of a path stands here.
    fileprivate func isSegment(_ range: Range<Int>) -> Bool {
        range.lowerBound > 0 && self[range.lowerBound - 1] == UInt8(ascii: "/")
            && (range.upperBound == count || "/?#".utf8.contains(self[range.upperBound]))
    }

    /// The letters and digits from `position`, eight at the most, as one number.
    fileprivate func start(at position: Int) -> UInt64 {
        self[position..<Swift.min(count, position + 8)].prefix(while: \.isWordByte).reduce(0) { $0 << 8 | UInt64($1) }
    }

    fileprivate func extent(from first: Int) -> KnownSecrets.Extent { KnownSecrets.Extent(before: first, after: count - first) }
}

extension UInt8 {
    /// Whether the byte is a letter or a digit, or a part of a letter beyond ASCII.
    var isWordByte: Bool { isLetter || isDigit || self >= 0x80 }

    var isLetter: Bool { isLowercaseLetter || isUppercaseLetter }

    var isLowercaseLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }

    var isUppercaseLetter: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

    var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    var isWhitespace: Bool { self == 0x20 || 0x09...0x0D ~= self }

    var lowercased: UInt8 { isUppercaseLetter ? self | 0x20 : self }
}
