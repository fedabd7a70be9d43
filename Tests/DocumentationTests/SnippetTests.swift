import Foundation
import TestSupport
import Testing

@Suite("The documentation's code", tenMinutes)
struct SnippetTests {
    /// What the tests compile, or what a test shows that it does not compile. `Tests/TutorialTests/run` compiles the tutorials.
    private static let code = Result {
        let folders = ["Tests", "Documentation/Guide.docc/Tutorials"]
        let files = try folders.flatMap { try PackageFile.files(below: $0, withExtensions: "swift") }
        return CompiledCode(files.filter { !$0.path.hasSuffix("/SnippetTests.swift") })
    }

    private static let documents = Result {
        try [PackageFile("README.md"), PackageFile("CONTRIBUTING.md"), PackageFile("Benchmarks/README.md")]
            + ["Sources", "Documentation/Guide.docc"].flatMap {
                try PackageFile.files(below: $0, withExtensions: "md", "tutorial", "swift")
            }
    }

    @Test("Every snippet of the README, of the articles and of the doc comments is compiled by a test")
    func snippets() throws {
        let code = try Self.code.get()
        let snippets = try Self.documents.get().flatMap(\.snippets)
        #expect(snippets.count > 85)
        for snippet in snippets {
            if let difference = code.difference(to: snippet) { Issue.record("\(difference)") }
        }
    }

    @Test("The file to copy into an app that moves from RxSwift is the one that the tests compile, from its first line to its last")
    func fileToCopy() throws {
        let file = try PackageFile("Tests/SourceCompatibilityTests/RxSwiftNames.swift").text
        let article = try PackageFile("Sources/MiniRx/MiniRx.docc/MovingFromRxSwift.md").text
        #expect(article.contains("```swift\n\(file)```"))
    }

    @Test("No line of code is cut on a site of 1,280 pixels")
    func width() throws {
        func check(_ line: String, at place: String, _ columns: Int) {
            #expect(line.count <= columns, "\(place) has \(line.count) columns, and \(columns) are seen")
        }
        for snippet in try Self.documents.get().flatMap(\.snippets) {
            for (number, line) in zip(snippet.line..., snippet.code) { check(line, at: "\(snippet.path):\(number)", 84) }
        }
        for file in try PackageFile.files(below: "Documentation/Guide.docc/Tutorials", withExtensions: "swift") {
            for line in file.text.components(separatedBy: "\n") { check(line, at: file.path, 90) }
        }
    }

    @Test("What the tables of the articles say is written here is compiled by a test")
    func tables() throws {
        let code = try Self.code.get()
        let articles = try Self.documents.get().filter { $0.path.contains("MovingFrom") }
        #expect(articles.count > 1)
        for article in articles {
            let rows = article.text.components(separatedBy: "\n").enumerated().filter { $1.hasPrefix("| ") && $1.contains("`") }
            for (index, row) in rows {
                let cell = row.components(separatedBy: " | ").last ?? ""
                for part in cell.codeSpans where !code.contains(part) {
                    Issue.record("\(article.path):\(index + 1): nothing compiles `\(part)`")
                }
            }
        }
    }

    @Test("Each message of the index is one that the compiler or this package says")
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

    @Test("A snippet that differs is named, with its line and that of the nearest code")
    func difference() throws {
        let text = "import A\n\nfunc f() {\n    private let a = 1\n    // why\n    g(a)\n}\n"
        let code = CompiledCode([PackageFile(path: "Code.swift", text: text)])
        func difference(_ text: String) -> String? {
            PackageFile(path: "Article.md", text: "Text.\n\n```swift\n\(text)\n```\n").snippets.first.flatMap(code.difference)
        }
        #expect(difference("import B\nfunc f() {\n  let a = 1  // one\n  g(a)\n}") == nil)
        #expect(difference("g(a)\n\nlet a = 1") == nil)
        #expect(
            difference("let a = 1\ng(b)")
                == "Article.md:5: the snippet has\n    g(b)\nwhere Code.swift:6 has\n    g(a)")
        #expect(difference("let b = 1") == "Article.md:4: nothing compiles the line\n    let b = 1")
    }

    @Test("Snippets are found in doc comments, and end with them")
    func comments() {
        let text = "/// Text.\n///\n/// ```swift\n/// f()\n/// ```\nfunc f() {}\n/// ```swift\nfunc g() {}\n/// x\n"
        let file = PackageFile(path: "F.swift", text: text)
        #expect(file.snippets.map(\.code) == [["f()"]])
        #expect(file.snippets.map(\.line) == [4])
    }
}

extension String {
    /// The text between single backticks.
    fileprivate var codeSpans: [String] {
        let pieces = components(separatedBy: "`")
        // Symbols that are linked stand between two backticks each, so that their pieces are empty.
        guard !contains("``") else { return [] }
        return pieces.indices.filter { $0 % 2 == 1 }.map { pieces[$0] }
    }
}
