package import class Foundation.Progress
package import struct Foundation.URL

// With the signatures that Apple documents. Pages use them.

package final class NSItemProvider {
    @discardableResult
    package func loadFileRepresentation(
        forTypeIdentifier typeIdentifier: String, completionHandler: @escaping @Sendable (URL?, (any Error)?) -> Void
    ) -> Progress { Progress(totalUnitCount: 1) }
}

extension URL {
    package func startAccessingSecurityScopedResource() -> Bool { true }
    package func stopAccessingSecurityScopedResource() {}
}
