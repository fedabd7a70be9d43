package import Foundation

extension BodyPiece {
    /// A file's content, with the current length.
    package init(_ file: URL) throws {
        guard file.isFileURL else { throw APIError.invalid("the URL of its body, \(file.redacted), is not a file URL") }
        do {
            self = .file(file, count: try file.readableByteCount())
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be read from \(file.path)", underlying: error)
        }
    }
}
