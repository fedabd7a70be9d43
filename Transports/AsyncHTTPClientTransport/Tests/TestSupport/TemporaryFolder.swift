package import Foundation

/// A folder that lives as long as the test that holds it.
package final class TemporaryFolder: Sendable {
    package let url = FileManager.default.temporaryDirectory
        .appendingPathComponent("APIProviderTests-\(UUID().uuidString)", isDirectory: true)

    package init() {
        do {
            try FileManager.default.createDirectory(at: url, withIntermediateDirectories: true)
        } catch {
            preconditionFailure("There is no place for temporary files: \(error)")
        }
    }

    deinit { try? FileManager.default.removeItem(at: url) }

    package func url(_ name: String) -> URL { url.appendingPathComponent(name) }

    /// The names of all files, hidden ones as well.
    package var names: [String] { get throws { try FileManager.default.contentsOfDirectory(atPath: url.path).sorted() } }
}
