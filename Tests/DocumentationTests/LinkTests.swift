import Foundation
import TestSupport
import Testing

@Suite("The documentation's links", tenMinutes)
struct LinkTests {
    @Test(
        "Each link to a file leads to one, and each anchor to a heading",
        arguments: ["README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "Benchmarks/README.md"])
    func links(path: String) throws {
        let text = try PackageFile(path).text
        let folder = PackageFile.root.appendingPathComponent(path).deletingLastPathComponent()
        let targets = try text.matches(of: #"\]\(([^)\s]+)\)"#) + text.matches(of: #"(?:src|srcset)="([^"]+)""#)
        for target in targets where !target.hasPrefix("http") {
            let parts = target.components(separatedBy: "#")
            let file = folder.appendingPathComponent(parts[0])
            #expect(FileManager.default.fileExists(atPath: file.path), "\(path) links to \(target)")
            guard parts.count > 1 else { continue }
            let anchors = try String(contentsOf: file, encoding: .utf8).components(separatedBy: "\n").filter { $0.hasPrefix("#") }
                .map { $0.drop { $0 == "#" || $0 == " " }.lowercased().replacingOccurrences(of: " ", with: "-") }
            #expect(anchors.contains(parts[1]), "\(path) links to \(target)")
        }
    }
}

extension String {
    /// The first group of each match of `pattern`.
    fileprivate func matches(of pattern: String) throws -> [String] {
        let expression = try NSRegularExpression(pattern: pattern)
        return expression.matches(in: self, range: NSRange(startIndex..., in: self)).compactMap { match in
            Range(match.range(at: 1), in: self).map { String(self[$0]) }
        }
    }
}
