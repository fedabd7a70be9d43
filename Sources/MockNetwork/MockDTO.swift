public import Foundation

/// Names the fixtures that are bundled with a test target, one case for each.
///
/// ```swift
/// enum Fixture: String, MockDTO {
///     case user = "User"  // User.json
///     static let bundle = Bundle.module
/// }
/// ```
public protocol MockDTO: Sendable {
    /// The file's name. `""` is an empty body; a name without an extension means `.json`.
    var fileName: String { get }
    /// The bundle that holds the files, as a rule `Bundle.module`.
    static var bundle: Bundle { get }
    /// The folder within the bundle, if there is one.
    static var subdirectory: String? { get }
}

extension MockDTO {
    /// The bundle itself.
    public static var subdirectory: String? { nil }
}

extension MockDTO where Self: RawRepresentable, RawValue == String {
    /// The raw value.
    public var fileName: String { rawValue }
}

extension MockDTO {
    /// The file's name with its extension.
    private var fullName: String { URL(fileURLWithPath: fileName).pathExtension.isEmpty ? fileName + ".json" : fileName }

    var isJSON: Bool { !fileName.isEmpty && fullName.hasSuffix(".json") }

    /// The file's content.
    func load() throws -> Data {
        guard !fileName.isEmpty else { return Data() }
        let name = fullName
        let bundle = Self.bundle.resourceURL ?? Self.bundle.bundleURL
        let folder = Self.subdirectory.map { bundle.appendingPathComponent($0) } ?? bundle
        // By its text alone: `standardizedFileURL` takes "/private" off files that are there, and leaves it on those that are not.
        let file = folder.appendingPathComponent(name).absoluteURL.standardized
        guard file.path.hasPrefix(bundle.absoluteURL.standardized.path + "/") else {
            throw MockFailure("The fixture \"\(fileName)\" is outside of its bundle, \(bundle.path).")
        }
        guard let data = try? Data(contentsOf: file) else {
            let names = (try? FileManager.default.contentsOfDirectory(atPath: folder.path))?.filter { !$0.hasPrefix(".") }.sorted()
            let content =
                names.map { $0.isEmpty ? "It is empty." : "It holds: \($0.joined(separator: ", "))." } ?? "There is no such folder."
            throw MockFailure("There is no fixture \"\(name)\" in \(folder.path). \(content) Is it a resource of its target?")
        }
        return data
    }
}
