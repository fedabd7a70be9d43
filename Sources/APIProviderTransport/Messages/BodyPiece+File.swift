package import Foundation

extension BodyPiece {
    /// The content of a file, with the file's current length.
    package init(_ file: URL) throws {
        guard file.isFileURL else { throw APIError.invalid("the URL of its body, \(file.redacted), is not a file URL") }
        do {
            self = .file(file, count: try file.countOfReadableBytes())
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be read from \(file.path)", underlying: error)
        }
    }
}
