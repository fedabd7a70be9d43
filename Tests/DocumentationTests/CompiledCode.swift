import Foundation
import TestSupport

/// The code in which snippets are looked for.
///
/// A file has a snippet if it has each of its paragraphs. White space and commas do not count, because the site is narrower than the tests.
/// Neither do comments, imports, access levels, `static`, and `_ =` before a value.
struct CompiledCode {
    private let files: [Data]

    init(_ files: [PackageFile]) { self.files = files.map { Data($0.text.essence.utf8) } }

    /// The first line of `snippet` that no file has after the lines before it, as `path:line: code`. `nil` if a file has the snippet.
    func missingLine(of snippet: Snippet) -> String? {
        let paragraphs = zip(snippet.line..., snippet.code).split { $1.allSatisfy(\.isWhitespace) }
        guard !files.contains(where: { file in paragraphs.allSatisfy { file.has($0.map(\.1).joined(separator: "\n").essence) } }) else {
            return nil
        }
        for paragraph in paragraphs {
            var text = ""
            for (number, line) in paragraph {
                text += line.essence
                if !files.contains(where: { $0.has(text) }) { return "\(snippet.path):\(number): \(line)" }
            }
        }
        return "\(snippet.path):\(snippet.line): no file has all of its paragraphs"
    }

    /// Whether `code` is part of any file. An ellipsis in it stands for anything.
    func contains(_ code: String) -> Bool {
        let parts = code.components(separatedBy: "…").map(\.essence)
        return files.contains { file in parts.allSatisfy { file.has($0) } }
    }
}

extension Data {
    fileprivate func has(_ text: String) -> Bool { text.isEmpty || range(of: Data(text.utf8)) != nil }
}

extension String {
    /// What counts of these lines.
    fileprivate var essence: String {
        components(separatedBy: "\n").map { line in
            var text = line.trimmingCharacters(in: .whitespaces)
            if text.contains("//"), let comment = text.range(of: #"(^|\s+)///?( .*)?$"#, options: .regularExpression) {
                text.removeSubrange(comment)
            }
            for word in ["nonisolated(unsafe) ", "private ", "fileprivate ", "static "] where text.hasPrefix(word) {
                text.removeFirst(word.count)
            }
            // Without it, the compiler warns about a subscription that nobody keeps, and a reader should see it.
            if text.hasPrefix("_ = "), !text.contains("subscribe") { text.removeFirst("_ = ".count) }
            let isLeftOut = ["import ", "@testable import ", "#if canImport", "#endif"].contains { text.hasPrefix($0) }
            return isLeftOut ? "" : text.filter { !$0.isWhitespace && $0 != "," }
        }
        .joined()
    }
}
