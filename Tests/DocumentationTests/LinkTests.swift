import Foundation
import TestSupport
import Testing

@Suite("The documentation's links", tenMinutes)
struct LinkTests {
    private static let pages = [
        "README.md", "CONTRIBUTING.md", "SECURITY.md", "CHANGELOG.md", "RELEASING.md", "CODE_OF_CONDUCT.md", "Benchmarks/README.md",
        "Documentation/Upstream.md", "Documentation/Faults.md", "Transports/AsyncHTTPClientTransport/README.md",
        "Servers/MockServer/README.md",
    ]

    @Test("A link leads to a file, and an anchor to a heading", arguments: pages)
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

    @Test("Another page links each page, and none is missing here")
    func linked() throws {
        let folders = ["Documentation", "Benchmarks", "Transports", "Servers"]
        let found = try folders.flatMap { try PackageFile.files(below: $0, withExtensions: "md") }.map(\.path)
            .filter { !$0.contains(".docc/") && !$0.contains("/.build/") }
        #expect(Set(found).isSubset(of: Self.pages))
        for page in Self.pages.dropFirst() {
            let folder = (page as NSString).deletingLastPathComponent
            let names = [page, folder].filter { !$0.isEmpty }
            let isLinked = try Self.pages.contains { other in
                let text = try PackageFile(other).text
                return other != page && names.contains { text.contains("](\($0))") || text.contains("](\($0)#") }
            }
            #expect(isLinked, "no page links \(page)")
        }
    }
}

extension String {
    /// The first group of each match of `pattern`.
    func matches(of pattern: String) throws -> [String] {
        let expression = try NSRegularExpression(pattern: pattern)
        return expression.matches(in: self, range: NSRange(startIndex..., in: self)).compactMap { match in
            Range(match.range(at: 1), in: self).map { String(self[$0]) }
        }
    }
}
