package import Foundation

extension JSONDecoder {
    /// Decodes whatever bytes there are, or throws.
    package func decodeAny<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        // The decoder traps if the data ends with a 513th open bracket, which is one too many, or with a CR after it.
        try decode(type, from: data.last.map { "[{\r".utf8.contains($0) } == true ? data + Data(" ".utf8) : data)
    }
}
