import Foundation

/// A file of this package, so that what it says can be compared with what is.
package struct PackageFile {
    package let text: String

    package init(text: String) { self.text = text }

    /// - Parameter path: The path from the package's root.
    package init(_ path: String) throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        text = try String(contentsOf: root.appendingPathComponent(path), encoding: .utf8)
    }

    /// The Swift code of a Markdown file, block by block.
    package var swiftBlocks: [String] {
        text.components(separatedBy: "\n```").filter { $0.hasPrefix("swift\n") }.map { String($0.dropFirst("swift\n".count)) }
    }

    /// Whether the lines of `code` stand here one after the other, indented as they may be.
    package func contains(code: String) -> Bool {
        let lines = Self.lines(of: text)
        let sought = Self.lines(of: code)
        return lines.indices.contains { lines[$0...].starts(with: sought) }
    }

    private static func lines(of text: String) -> [String] {
        text.split(separator: "\n").map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
    }
}
