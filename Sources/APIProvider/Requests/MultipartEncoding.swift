import Foundation

extension HTTPBody.Content {
    /// `parts` as RFC 7578 writes them.
    init(multipart parts: [MultipartPart]) throws {
        let parts = try parts.map { try $0.encoded() }
        let boundary = Self.boundary(absentFrom: parts.flatMap { [$0.header, $0.content] })
        let (start, end) = (Data("--\(boundary)\r\n".utf8), Data("--\(boundary)--\r\n".utf8))

        var data = Data()
        data.reserveCapacity(parts.reduce(end.count) { $0 + start.count + $1.header.count + $1.content.count + 2 })
        for part in parts {
            for piece in [start, part.header, part.content, Data("\r\n".utf8)] { data.append(piece) }
        }
        data.append(end)
        self.init(type: "multipart/form-data; boundary=\(boundary)", data: data)
    }

    private static let prefix = "APIProvider-boundary-"
    /// What the numbers begin at, so that all have as many digits.
    private static let firstNumber = 1_000_000_000

    /// The first numbered boundary (RFC 2046, section 5.1.1) that stands in none of `texts`. One pass over them is enough, because all
    /// boundaries are of one length: each place where the prefix stands rules out one.
    private static func boundary(absentFrom texts: [Data]) -> String {
        let taken = texts.reduce(into: Set<Int>()) { $0.formUnion($1.numbers(after: prefix, digits: "\(firstNumber)".utf8.count)) }
        var number = firstNumber
        while taken.contains(number) { number += 1 }
        return "\(prefix)\(number)"
    }
}

extension Data {
    /// What stands behind each `prefix`, where that is a number.
    fileprivate func numbers(after prefix: String, digits: Int) -> Set<Int> {
        let prefix = Array(prefix.utf8)
        return withUnsafeBytes { bytes in
            var numbers = Set<Int>()
            var position = 0
            // `range(of:)` would take seconds for a large file.
            while let base = bytes.baseAddress, let found = memchr(base + position, Int32(prefix[0]), bytes.count - position) {
                let start = base.distance(to: found)
                if bytes[start...].starts(with: prefix) {
                    let text = String(decoding: bytes[(start + prefix.count)...].prefix(digits), as: UTF8.self)
                    if let number = Int(text) { numbers.insert(number) }
                }
                position = start + 1
            }
            return numbers
        }
    }
}
