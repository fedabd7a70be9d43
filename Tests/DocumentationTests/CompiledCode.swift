import Foundation
import TestSupport

/// The code of the tests, in which snippets are looked for.
///
/// Code is compared without spaces, line breaks and commas, because the site is narrower than the tests, without comments, and without what a
/// snippet leaves out because it is not about it: imports, access levels, `static`, and `_ =` before a value that stands alone.
struct CompiledCode {
    private let files: [(path: String, code: Code)]

    init(_ sources: [PackageFile]) {
        files = sources.map { ($0.path, Code(zip(1..., $0.text.components(separatedBy: "\n")))) }
    }

    /// Why `snippet` is not compiled: what is nearest to it, and the first line that differs. `nil` if it is compiled.
    ///
    /// Its paragraphs may stand apart from each other, but in one file.
    func difference(to snippet: Snippet) -> String? {
        let paragraphs = zip(snippet.line..., snippet.code).split { $1.allSatisfy(\.isWhitespace) }
            .map { Code($0) }.filter { !$0.lines.isEmpty }
        let isThere = files.contains { file in paragraphs.allSatisfy { file.code.bytes.range(of: $0.bytes) != nil } }
        guard !isThere else { return nil }

        let found = files.map { file in paragraphs.map { $0.countOfLines(in: file.code) } }
        guard let best = found.indices.max(by: { found[$0].reduce(0, +) < found[$1].reduce(0, +) }),
            let (count, paragraph) = zip(found[best], paragraphs).first(where: { $0 < $1.lines.count })
        else { return nil }
        let expected = paragraph.lines[count]
        let place = "\(snippet.path):\(expected.number)"
        guard count > 0 else { return "\(place): nothing compiles the line\n    \(expected.text)" }
        let there = files[best].code.line(behind: paragraph.bytes(ofLines: count)).map {
            "\(files[best].path):\($0.number) has\n    \($0.text)"
        }
        return "\(place): the snippet has\n    \(expected.text)\nwhere \(there ?? "the file ends")"
    }

    /// Whether `code` is part of any file. An ellipsis in it stands for anything.
    func contains(_ code: String) -> Bool {
        let parts = code.components(separatedBy: "…").map { Data($0.compact.utf8) }
        return files.contains { file in parts.allSatisfy { $0.isEmpty || file.code.bytes.range(of: $0) != nil } }
    }
}

/// What counts of some lines.
private struct Code {
    private(set) var lines: [(number: Int, text: String, end: Int)] = []
    /// All in one.
    private(set) var bytes = Data()

    init(_ numbered: some Sequence<(Int, String)>) {
        for (number, line) in numbered {
            let text = Self.essence(of: line)
            guard !text.compact.isEmpty else { continue }
            bytes += Data(text.compact.utf8)
            lines.append((number, text, bytes.count))
        }
    }

    func bytes(ofLines count: Int) -> Data { bytes.prefix(lines[count - 1].end) }

    /// How many of these lines, from the first, stand in `other`.
    func countOfLines(in other: Code) -> Int {
        (1...lines.count).prefix { other.bytes.range(of: bytes(ofLines: $0)) != nil }.last ?? 0
    }

    func line(behind part: Data) -> (number: Int, text: String)? {
        bytes.range(of: part).flatMap { range in lines.first { $0.end > range.upperBound } }.map { ($0.number, $0.text) }
    }

    private static func essence(of line: String) -> String {
        var text = line.trimmingCharacters(in: .whitespaces)
        if let comment = text.range(of: #"(^|\s+)//( .*)?$"#, options: .regularExpression) { text.removeSubrange(comment) }
        for word in ["nonisolated(unsafe) ", "private ", "fileprivate ", "static "] where text.hasPrefix(word) {
            text.removeFirst(word.count)
        }
        // Without it, the compiler warns of a subscription that nobody keeps; a reader is to see it.
        if text.hasPrefix("_ = "), !text.contains("subscribe") { text.removeFirst("_ = ".count) }
        let isLeftOut = ["import ", "@testable import ", "#if canImport", "#endif"].contains { text.hasPrefix($0) }
        return isLeftOut ? "" : text
    }
}

extension String {
    fileprivate var compact: String { filter { !$0.isWhitespace && $0 != "," } }
}
