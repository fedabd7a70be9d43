import Foundation
import TestSupport

/// A block of Swift code in a page or in a doc comment.
struct Snippet {
    /// The file, from the package's root.
    let path: String
    /// The line of the file on which the code begins.
    let line: Int
    let code: [String]
}

extension PackageFile {
    /// The blocks of Swift code in a page, or in the doc comments of a Swift file.
    var snippets: [Snippet] {
        var snippets: [Snippet] = []
        var code: [String]?
        var start = 0
        for (index, line) in text.components(separatedBy: "\n").enumerated() {
            guard let text = path.hasSuffix(".swift") ? line.docComment : line else {
                code = nil
                continue
            }
            let trimmed = text.trimmingCharacters(in: .whitespaces)
            if let block = code, trimmed == "```" {
                snippets.append(Snippet(path: path, line: start, code: block))
                code = nil
            } else if code != nil {
                code?.append(text)
            } else if trimmed == "```swift" {
                (code, start) = ([], index + 2)
            }
        }
        return snippets
    }
}

extension String {
    /// The text of a line of a doc comment, or `nil`.
    fileprivate var docComment: String? {
        let line = trimmingCharacters(in: .whitespaces)
        guard line.hasPrefix("///") else { return nil }
        return String(line.dropFirst(line.hasPrefix("/// ") ? 4 : 3))
    }
}
