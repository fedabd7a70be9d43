import Foundation

/// Draws the pictures of the documentation from what the code does, and writes the page of its errors: `swift run documentation-pictures`.
///
/// With `--check` nothing is written, and a picture or page that is not as it would be written is an error.
@main
enum DocumentationPictures {
    static func main() async throws {
        let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent().deletingLastPathComponent()
        let isCheck = CommandLine.arguments.contains("--check")
        var differences = 0
        var pictures = operators.map(\.picture) + streams.map(\.picture) + [flow, try await cacheDecisions(), await unansweredReport()]
        #if os(macOS) || os(Linux)
        pictures.append(try demo())
        #endif
        var files = pictures.reduce(into: [String: String]()) { $0.merge($1.files) { $1 } }
        let page = try await sentences()
        files[page.path] = page.text
        for (path, text) in files.sorted(by: { $0.key < $1.key }) {
            let file = root.appendingPathComponent(path)
            guard (try? String(contentsOf: file, encoding: .utf8)) != text else { continue }
            differences += 1
            if isCheck {
                print("\(path) is not what the code does now. Write it with: swift run documentation-pictures")
            } else {
                try FileManager.default.createDirectory(at: file.deletingLastPathComponent(), withIntermediateDirectories: true)
                try text.write(to: file, atomically: true, encoding: .utf8)
                print("wrote \(path)")
            }
        }
        if isCheck, differences > 0 { exit(1) }
    }
}
