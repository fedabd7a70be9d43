package import Foundation

extension JSONDecoder {
    /// Decodes whatever bytes there are, or throws.
    package func decodeAny<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        // The bracket that is one too many, the 513th, traps where the text ends with it or with a carriage return behind it.
        try decode(type, from: data.last.map { "[{\r".utf8.contains($0) } == true ? data + Data(" ".utf8) : data)
    }
}
