import APIProvider
public import Foundation

/// A fixture: the name of a file in a test target's bundle. Usually an enum with a case for each file.
///
/// ```swift
/// enum Fixture: String, MockDTO {
///     case user = "User"  // User.json
///     static let bundle = Bundle.module
/// }
/// ```
///
/// `Bundle.module` exists only in packages. In a test target of an Xcode project, write `#bundle` with Xcode 26, also for iOS 15. With an
/// older Xcode, write `Bundle(for: SomeClass.self)` with one of the test target's classes.
public protocol MockDTO: Sendable {
    /// The file's name. You may omit the extension `.json`. `""` means an empty body.
    var fileName: String { get }
    /// The bundle with the files: `Bundle.module` in a package, `#bundle` or `Bundle(for:)` in an Xcode project.
    static var bundle: Bundle { get }
    /// The files' folder in the bundle, as in `Bundle.url(forResource:withExtension:subdirectory:)`; by default `nil`.
    static var subdirectory: String? { get }
}

extension MockDTO {
    /// `nil`: the files are at the top of the bundle.
    public static var subdirectory: String? { nil }
}

extension MockDTO where Self: RawRepresentable, RawValue == String {
    /// The case's raw value.
    public var fileName: String { rawValue }
}

extension MockDTO {
    /// The possible file names: `fileName` itself, if there is a dot inside, and `fileName` with `.json`.
    private var names: [String] { (fileName.contains(".") ? [fileName] : []) + (fileName.hasSuffix(".json") ? [] : [fileName + ".json"]) }

    var isJSON: Bool { (try? file())?.pathExtension == "json" }

    /// The file's content.
    func load() throws -> Data {
        guard let file = try file() else { return Data() }
        do { return try Data(contentsOf: file) } catch {
            throw MockFailure("The fixture \"\(fileName)\" cannot be read from \(file.path): \(error.explanation)")
        }
    }

    /// The file, as found by `Bundle.url(forResource:withExtension:subdirectory:)`; `nil` for an empty body.
    private func file() throws -> URL? {
        guard !fileName.isEmpty else { return nil }
        let bundle = Self.bundle
        let resources = names.compactMap { bundle.url(forResource: $0, withExtension: nil, subdirectory: Self.subdirectory) }
        // A folder counts without another match: reading it fails with the reason.
        let found = resources.first { (try? $0.resourceValues(forKeys: [.isDirectoryKey]))?.isDirectory != true } ?? resources.first
        let root = bundle.bundleURL.absoluteURL.standardized
        let folder = Self.subdirectory.map { (bundle.resourceURL ?? root).appendingPathComponent($0) } ?? bundle.resourceURL ?? root
        // Not `standardizedFileURL`, which removes "/private" only from existing files: the prefixes would differ.
        let file = (found ?? folder.appendingPathComponent(names[0])).absoluteURL.standardized
        guard file.path.hasPrefix(root.path + "/") else {
            throw MockFailure("The fixture \"\(fileName)\" is outside of its bundle, \(root.path).")
        }
        if found != nil { return file }
        let files = (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.filter { !$0.hasPrefix(".") }.sorted()
        let content = files.map { $0.isEmpty ? "It is empty." : "It holds: \($0.joined(separator: ", "))." } ?? "There is no such folder."
        throw MockFailure(
            "There is no fixture \"\(names.joined(separator: "\" or \""))\" in \(folder.path). \(content) Is it a resource of its target?")
    }
}
