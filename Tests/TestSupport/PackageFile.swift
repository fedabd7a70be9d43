package import Foundation

/// A file of this package.
package struct PackageFile {
    /// The path from the package's root.
    package let path: String
    package let text: String

    /// The package's root folder.
    package static let root = URL(fileURLWithPath: #filePath).deletingLastPathComponent().deletingLastPathComponent()
        .deletingLastPathComponent()

    package init(path: String, text: String) { (self.path, self.text) = (path, text) }

    /// - Parameter path: The path from the package's root.
    package init(_ path: String) throws {
        self.init(path: path, text: try String(contentsOf: Self.root.appendingPathComponent(path), encoding: .utf8))
    }

    /// The names of the folders in Sources.
    package static func modules() throws -> [String] {
        try FileManager.default.contentsOfDirectory(atPath: root.appendingPathComponent("Sources").path).filter { !$0.hasPrefix(".") }
            .sorted()
    }

    /// The files below `folder` whose names end in one of `extensions`, sorted by their paths.
    package static func files(below folder: String, withExtensions extensions: String...) throws -> [PackageFile] {
        let names = FileManager.default.enumerator(atPath: root.appendingPathComponent(folder).path)?.compactMap { $0 as? String } ?? []
        return try names.filter { name in !name.contains(".build") && extensions.contains { name.hasSuffix(".\($0)") } }
            .sorted().map { try PackageFile("\(folder)/\($0)") }
    }
}
