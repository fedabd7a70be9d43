import Foundation
import PackagePlugin

/// Makes a source of the tests from the Swift code of each page and of each file with snippets in its comments.
@main
struct CodeOfPages: BuildToolPlugin {
    func createBuildCommands(context: PluginContext, target: any Target) throws -> [Command] {
        let root = context.package.directoryURL
        let folder = root.appendingPathComponent("Tests/PageCode")
        let script = folder.appendingPathComponent("code.awk")
        // The script `take` reads the same list.
        let pages = try String(contentsOf: folder.appendingPathComponent("pages"), encoding: .utf8)
        return try pages.split(separator: "\n").map(String.init).flatMap { path in
            let below = FileManager.default.enumerator(atPath: root.appendingPathComponent(path).path)?.compactMap { $0 as? String }
            return (below ?? []).isEmpty ? [path] : (below ?? []).map { "\(path)/\($0)" }
        }
        .filter { $0.hasSuffix(".md") || $0.hasSuffix(".swift") }
        .compactMap { path in
            let page = root.appendingPathComponent(path)
            let name = page.deletingPathExtension().lastPathComponent
            let hasCode = try name.hasPrefix("MovingFrom") || String(contentsOf: page, encoding: .utf8).contains("```swift\n")
            guard hasCode else { return nil }
            let frame = folder.appendingPathComponent("Frames/\(name).swift")
            let source = context.pluginWorkDirectoryURL.appendingPathComponent(path.replacingOccurrences(of: "/", with: "-") + ".swift")
            return .buildCommand(
                displayName: "Taking the code of \(path)", executable: URL(fileURLWithPath: "/usr/bin/awk"),
                arguments: ["-v", "frame=\(frame.path)", "-v", "out=\(source.path)", "-f", script.path, page.path],
                inputFiles: [script, page] + (FileManager.default.fileExists(atPath: frame.path) ? [frame] : []), outputFiles: [source])
        }
    }
}
