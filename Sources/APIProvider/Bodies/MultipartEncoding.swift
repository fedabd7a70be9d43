import Foundation

extension HTTPBody.Content {
    /// Encodes `parts` (RFC 7578).
    init(multipart parts: [MultipartPart]) throws {
        let parts = try parts.map { try $0.encoded() }
        let boundary = try Self.boundary(absentFrom: BodyStream(parts.flatMap { [.data($0.header), $0.content] }))
        var text = "--\(boundary)"
        var pieces: [BodyPiece] = []
        for part in parts {
            pieces += [.data(Data("\(text)\r\n".utf8) + part.header), part.content]
            text = "\r\n--\(boundary)"
        }
        self.init(type: "multipart/form-data; boundary=\(boundary)", pieces: pieces + [.data(Data("\(text)--\r\n".utf8))])
    }

    private static let prefix = Array("APIProvider-boundary-".utf8)
    /// Numbers start here, so that all have the same number of digits.
    private static let firstNumber = 1_000_000_000
    private static let digits = "\(firstNumber)".utf8.count

    /// The first numbered boundary (RFC 2046, section 5.1.1) that does not occur in `content`. One pass is enough: all boundaries have the
    /// same length, so each occurrence of the prefix rules out one number.
    private static func boundary(absentFrom content: BodyStream) throws -> String {
        var taken = Set<Int>()
        var chunk = [UInt8](repeating: 0, count: min(content.length, 1 << 18))
        // The end of a chunk may be the beginning of a boundary.
        var end: [UInt8] = []
        content.open()
        defer { content.close() }
        while case let count = content.read(&chunk, maxLength: chunk.count), count > 0 {
            let text = end + chunk[..<count]
            taken.formUnion(text.withUnsafeBytes { $0.numbers(after: prefix, digits: digits) })
            end = text.suffix(prefix.count + digits - 1)
        }
        if let error = content.streamError { throw APIError.invalidRequest(reason: "its body cannot be read", underlying: error) }
        var number = firstNumber
        while taken.contains(number) { number += 1 }
        return "\(String(decoding: prefix, as: UTF8.self))\(number)"
    }
}

extension UnsafeRawBufferPointer {
    /// The numbers that follow each `prefix`.
    fileprivate func numbers(after prefix: [UInt8], digits: Int) -> Set<Int> {
        var numbers = Set<Int>()
        var position = 0
        // `range(of:)` would take seconds for a large file.
        while let base = baseAddress, let found = memchr(base + position, Int32(prefix[0]), count - position) {
            let start = base.distance(to: found)
            if self[start...].starts(with: prefix) {
                let text = String(decoding: self[(start + prefix.count)...].prefix(digits), as: UTF8.self)
                if let number = Int(text) { numbers.insert(number) }
            }
            position = start + 1
        }
        return numbers
    }
}
