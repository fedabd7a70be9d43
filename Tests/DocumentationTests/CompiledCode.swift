import Foundation
import TestSupport

/// The code of the tests, in which snippets are looked for.
///
/// Lines are compared without their indentation, without comments, and without what a snippet leaves out because it is not about it: imports,
/// access levels, `static`, and `_ =` before a value that stands alone.
struct CompiledCode {
    private struct File {
        let path: String
        let lines: [(number: Int, text: String)]
    }

    private let files: [File]
    /// Where each line stands: the index of the file, and that of the line in it.
    private let places: [String: [(file: Int, line: Int)]]

    init(_ sources: [PackageFile]) {
        files = sources.map { source in
            let lines = source.text.components(separatedBy: "\n").enumerated().compactMap { index, line in
                Self.essence(of: line).map { (index + 1, $0) }
            }
            return File(path: source.path, lines: lines)
        }
        var places: [String: [(file: Int, line: Int)]] = [:]
        for (file, source) in files.enumerated() {
            for (line, content) in source.lines.enumerated() { places[content.text, default: []].append((file, line)) }
        }
        self.places = places
    }

    /// Why `snippet` is not compiled: what is nearest to it, and the first line that differs. `nil` if it is compiled.
    ///
    /// Its paragraphs may stand apart from each other, but in one file.
    func difference(to snippet: Snippet) -> String? {
        let paragraphs = zip(snippet.line..., snippet.code).split { $1.allSatisfy(\.isWhitespace) }
            .map { $0.compactMap { number, line in Self.essence(of: line).map { (number: number, text: $0) } } }.filter { !$0.isEmpty }
        guard !paragraphs.isEmpty else { return nil }
        let matches = files.indices.map { file in paragraphs.map { longestMatch(of: $0, in: file) } }
        let isThere = matches.contains { match in zip(match, paragraphs).allSatisfy { $0.count == $1.count } }
        guard !isThere else { return nil }

        let best = matches.indices.max { matches[$0].reduce(0) { $0 + $1.count } < matches[$1].reduce(0) { $0 + $1.count } }
        guard let best, let (match, paragraph) = zip(matches[best], paragraphs).first(where: { $0.count < $1.count }) else { return nil }
        let expected = paragraph[match.count]
        let place = "\(snippet.path):\(expected.number)"
        guard match.count > 0 else { return "\(place): nothing compiles the line\n    \(expected.text)" }
        let lines = files[best].lines
        let next = match.start + match.count
        let there =
            lines.indices.contains(next) ? "\(files[best].path):\(lines[next].number) has\n    \(lines[next].text)" : "the file ends"
        return "\(place): the snippet has\n    \(expected.text)\nwhere \(there)"
    }

    /// Whether `code` is part of any line. An ellipsis in it stands for anything.
    func contains(_ code: String) -> Bool {
        let parts = code.components(separatedBy: "…").map { $0.trimmingCharacters(in: .whitespaces) }
        return files.contains { $0.lines.contains { line in parts.allSatisfy { $0.isEmpty || line.text.contains($0) } } }
    }

    /// The place in `file` that has the most lines of `paragraph`, from its first.
    private func longestMatch(of paragraph: [(number: Int, text: String)], in file: Int) -> (start: Int, count: Int) {
        let lines = files[file].lines
        return (places[paragraph[0].text] ?? []).filter { $0.file == file }.map { place in
            let count = zip(paragraph, lines[place.line...]).prefix { $0.text == $1.text }.count
            return (place.line, count)
        }.max { $0.1 < $1.1 } ?? (0, 0)
    }

    /// What counts of a line; `nil` if nothing does.
    private static func essence(of line: String) -> String? {
        var text = line.trimmingCharacters(in: .whitespaces)
        if let comment = text.range(of: #"(^|\s+)//( .*)?$"#, options: .regularExpression) { text.removeSubrange(comment) }
        for word in ["nonisolated(unsafe) ", "private ", "fileprivate ", "static "] where text.hasPrefix(word) {
            text.removeFirst(word.count)
        }
        // Without it, the compiler warns of a subscription that nobody keeps; a reader is to see it.
        if text.hasPrefix("_ = "), !text.contains("subscribe") { text.removeFirst("_ = ".count) }
        if text.hasSuffix(",") { text.removeLast() }
        let isLeftOut = text.isEmpty || ["import ", "@testable import ", "#if canImport", "#endif"].contains { text.hasPrefix($0) }
        return isLeftOut ? nil : text
    }
}
