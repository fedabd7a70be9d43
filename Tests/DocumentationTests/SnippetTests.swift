import Foundation
import TestSupport
import Testing

@Suite("The documentation's code", tenMinutes)
struct SnippetTests {
    /// What the tests compile, or show not to compile, and the tutorials, which `Tests/TutorialTests/run` compiles.
    private static let code = Result {
        let folders = ["Tests", "Documentation/Guide.docc/Tutorials"]
        let files = try folders.flatMap { try PackageFile.files(below: $0, withExtensions: "swift") }
        return CompiledCode(files.filter { !$0.path.hasSuffix("/SnippetTests.swift") })
    }

    private static let pages = Result {
        try [PackageFile("README.md"), PackageFile("CONTRIBUTING.md"), PackageFile("Benchmarks/README.md")]
            + ["Sources", "Documentation/Guide.docc"].flatMap {
                try PackageFile.files(below: $0, withExtensions: "md", "tutorial", "swift")
            }
    }

    @Test("A test compiles each snippet of the README, the articles and the doc comments")
    func snippets() throws {
        let code = try Self.code.get()
        let snippets = try Self.pages.get().flatMap(\.snippets)
        #expect(snippets.count > 85)
        for snippet in snippets {
            if let line = code.missingLine(of: snippet) { Issue.record("No test compiles this line after those before it: \(line)") }
        }
    }

    @Test("The file to copy into an app that moves from RxSwift is the file that the tests compile")
    func fileToCopy() throws {
        let file = try PackageFile("Tests/SourceCompatibilityTests/RxSwiftNames.swift").text
        let article = try PackageFile("Sources/MiniRx/MiniRx.docc/MovingFromRxSwift.md").text
        #expect(article.contains("```swift\n\(file)```"))
    }

    @Test("The site cuts no line of code")
    func width() throws {
        func check(_ line: String, at place: String, _ columns: Int) {
            #expect(line.count <= columns, "\(place) has \(line.count) columns; the site shows \(columns)")
        }
        for snippet in try Self.pages.get().flatMap(\.snippets) {
            for (number, line) in zip(snippet.line..., snippet.code) { check(line, at: "\(snippet.path):\(number)", 84) }
        }
        for file in try PackageFile.files(below: "Documentation/Guide.docc/Tutorials", withExtensions: "swift") {
            for line in file.text.components(separatedBy: "\n") { check(line, at: file.path, 90) }
        }
    }

    @Test("A test compiles the code in the tables of the moving guides")
    func tables() throws {
        let code = try Self.code.get()
        let articles = try Self.pages.get().filter { $0.path.contains("MovingFrom") }
        #expect(articles.count > 1)
        for article in articles {
            let rows = article.text.components(separatedBy: "\n").enumerated().filter { $1.hasPrefix("| ") && $1.contains("`") }
            for (index, row) in rows {
                let cell = row.components(separatedBy: " | ").last ?? ""
                for part in cell.codeSpans where !code.contains(part) {
                    Issue.record("\(article.path):\(index + 1): no test compiles `\(part)`")
                }
            }
        }
    }

    @Test("The compiler or this package says each message of the index")
    func messages() throws {
        let lines = try ["Sources", "Tests/CompileTests"].flatMap { try PackageFile.files(below: $0, withExtensions: "swift") }
            .flatMap { $0.text.components(separatedBy: "\n") }
        let index = try PackageFile("Documentation/Guide.docc/WhenItDoesNotWork.md")
        let messages = index.text.components(separatedBy: "\n- **`").dropFirst().compactMap { $0.components(separatedBy: "`**:").first }
        #expect(messages.count > 25)
        for message in messages {
            let parts = message.components(separatedBy: "…").map { $0.trimmingCharacters(in: .whitespaces) }
            let isSaid = lines.contains { line in parts.allSatisfy { $0.isEmpty || line.contains($0) } }
            #expect(isSaid, "Nothing says: \(message)")
        }
    }

    @Test(
        "A snippet in a doc comment is found, and its first line that differs is named",
        arguments: [
            ("func f() {\n  let a = 1  // one\n  g(a)\n}", nil),
            ("g(a)\n\nlet a = 1", nil),
            ("let a = 1\ng(b)", "F.swift:5: g(b)"),
            ("let b = 1", "F.swift:4: let b = 1"),
        ])
    func difference(snippet: String, missing: String?) throws {
        let code = CompiledCode([PackageFile(path: "", text: "import A\n\nfunc f() {\n    private let a = 1\n    // why\n    g(a)\n}\n")])
        let lines = ["Text.", "", "```swift"] + snippet.components(separatedBy: "\n") + ["```"]
        let text = lines.map { "/// \($0)\n" }.joined() + "func f() {}\n/// ```swift\nfunc g() {}\n"
        let snippets = PackageFile(path: "F.swift", text: text).snippets
        try #require(snippets.count == 1)
        #expect(code.missingLine(of: snippets[0]) == missing)
    }
}

extension String {
    /// The text between single backticks. A row with linked symbols, which stand between two, has none.
    fileprivate var codeSpans: [String] {
        guard !contains("``") else { return [] }
        return components(separatedBy: "`").enumerated().filter { $0.offset % 2 == 1 }.map(\.element)
    }
}
