import Foundation
import TestSupport
import Testing

@Suite("The documentation's pages", tenMinutes)
struct PageTests {
    @Test("The file to copy into an app that moves from RxSwift is the file that the tests compile")
    func fileToCopy() throws {
        let file = try PackageFile("Tests/SourceCompatibilityTests/RxSwiftNames.swift").text
        let article = try PackageFile("Sources/MiniRx/MiniRx.docc/MovingFromRxSwift.md").text
        #expect(article.contains("```swift\n\(file)```"))
    }

    @Test("The guide's dependency is the one in the manifest of the five minutes")
    func dependency() throws {
        let guide = try PackageFile("Documentation/Guide.docc/Guide.md").text
        let manifest = try PackageFile("Sources/APIProviderMocks/APIProviderMocks.docc/FiveMinutes.md").text
        let line = try #require(guide.components(separatedBy: "\n").first { $0.hasPrefix("dependencies: ") })
        #expect(manifest.contains("\n    \(line)\n"))
    }

    @Test("The site cuts no line of the tutorials' code")
    func width() throws {
        for file in try PackageFile.files(below: "Documentation/Guide.docc/Tutorials", withExtensions: "swift") {
            for line in file.text.components(separatedBy: "\n") {
                #expect(line.count <= 90, "\(file.path) has \(line.count) columns; the site shows 90")
            }
        }
    }

    @Test("The compiler or this package says each message of the index")
    func messages() throws {
        let files = try ["Sources", "Tests/CompileTests"].flatMap { try PackageFile.files(below: $0, withExtensions: "swift") }.map(\.text)
        let index = try PackageFile("Documentation/Guide.docc/WhenItDoesNotWork.md")
        let messages = index.text.components(separatedBy: "\n- **`").dropFirst().compactMap { $0.components(separatedBy: "`**:").first }
        #expect(messages.count > 25)
        for message in messages {
            let parts = message.components(separatedBy: "…").map { $0.trimmingCharacters(in: .whitespaces) }
            func isSaid(in text: String) -> Bool { parts.allSatisfy { $0.isEmpty || text.contains($0) } }
            let isSaid = files.contains { isSaid(in: $0) && $0.components(separatedBy: "\n").contains(where: isSaid) }
            #expect(isSaid, "Nothing says: \(message)")
        }
    }

    @Test("No page names what only the packages of transports and servers can import")
    func systemInterface() throws {
        let sources = try PackageFile.files(below: "Sources", withExtensions: "swift").map(\.text).joined()
        let interface = try PackageFile.files(below: "Documentation/Interface", withExtensions: "txt").map(\.text).joined()
        let words = Set(interface.components(separatedBy: CharacterSet.alphanumerics.inverted))
        let names = Set(try sources.matches(of: #"@_spi\(\w+\) public (?:static |final )?(?:func|var|class|struct) (\w+)"#))
            .subtracting(words)
        #expect(names.contains("makeReader"))
        for page in try ["Sources", "Documentation"].flatMap({ try PackageFile.files(below: $0, withExtensions: "md") }) {
            for name in names { #expect(!["(", "`"].contains { page.text.contains("`\(name)\($0)") }, "\(page.path) names \(name)") }
        }
    }
}
