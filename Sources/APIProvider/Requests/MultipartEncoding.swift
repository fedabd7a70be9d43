import Foundation

extension HTTPBody.Content {
    /// Encodes `parts` (RFC 7578), those of JSON with `encoder`.
    init(multipart parts: [MultipartPart], encoder: JSONEncoder) throws {
        let boundary = Self.randomBoundary()
        var text = "--\(boundary)"
        var pieces: [BodyPiece] = []
        for part in parts {
            let (header, content) = try part.encoded(by: encoder)
            pieces += [.data(Data("\(text)\r\n".utf8) + header), content]
            text = "\r\n--\(boundary)"
        }
        let end = BodyPiece.data(Data("\(text)--\r\n".utf8))
        self.init(type: "multipart/form-data; boundary=\(boundary)", body: RequestBody(pieces + [end]))
    }

    /// A boundary (RFC 2046, section 5.1.1). It has 128 random bits, so the content cannot contain it and need not be searched.
    private static func randomBoundary() -> String {
        let halves = (0..<2).map { _ in String(UInt64.random(in: .min ... .max), radix: 16) }
        return "APIProvider-" + halves.map { String(repeating: "0", count: 16 - $0.utf8.count) + $0 }.joined()
    }
}
