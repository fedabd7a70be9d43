public import APIProvider
public import Foundation

/// A fixture: the name of a file that is bundled with a test target. Usually an enum has a case for each file.
///
/// ```swift
/// enum Fixture: String, MockDTO {
///     case user = "User"  // User.json
///     static let bundle = Bundle.module
/// }
/// ```
///
/// `Bundle.module` exists only in packages. In a test target of an Xcode project, write `#bundle`, which needs Xcode 26 and works back to
/// iOS 15. With an older Xcode, write `Bundle(for: SomeClass.self)` with a class of the test target.
public protocol MockDTO: Sendable {
    /// The name of the file. A name without an extension means `.json`, and `""` means an empty body.
    var fileName: String { get }
    /// The bundle with the files: `Bundle.module` in a package, `#bundle` or `Bundle(for:)` in an Xcode project.
    static var bundle: Bundle { get }
    /// The folder of the files in the bundle. `nil` by default.
    static var subdirectory: String? { get }
}

extension MockDTO {
    /// `nil`: the files are at the top of the bundle.
    public static var subdirectory: String? { nil }
}

extension MockDTO where Self: RawRepresentable, RawValue == String {
    /// The raw value of the case.
    public var fileName: String { rawValue }
}

extension MockDTO {
    /// The name of the file with its extension.
    private var fullName: String { URL(fileURLWithPath: fileName).pathExtension.isEmpty ? fileName + ".json" : fileName }

    fileprivate var isJSON: Bool { !fileName.isEmpty && fullName.hasSuffix(".json") }

    /// The content of the file.
    func load() throws -> Data {
        guard !fileName.isEmpty else { return Data() }
        let name = fullName
        let bundle = Self.bundle.resourceURL ?? Self.bundle.bundleURL
        let folder = Self.subdirectory.map { bundle.appendingPathComponent($0) } ?? bundle
        // Not `standardizedFileURL`: it removes "/private" only from files that exist, and then the prefix would differ.
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

extension StubResponse {
    /// The content of a fixture. The file is read when this is called. If the file is missing, each request fails, and the error names the
    /// files that are there.
    ///
    /// A `.json` file has the `Content-Type` `application/json`, unless `headers` has another.
    public static func fixture(_ dto: some MockDTO, statusCode: Int = 200, headers: HTTPHeaders = [:]) -> StubResponse {
        StubResponse(statusCode: statusCode, headers: headers, type: dto.isJSON ? "application/json" : nil) { steps(of: try dto.load()) }
    }
}
