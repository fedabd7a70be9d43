import APIProvider
package import Foundation

/// The parts of a multipart body (RFC 2046, section 5.1).
package struct Multipart: Sendable {
    package struct Part: Sendable {
        /// `nil` if it has none, as in a body that is no form.
        package let name: String?
        package let fileName: String?
        /// The fields of its head, but `Content-Disposition`. Their names are in lower case.
        package let fields: [(name: String, value: String)]
        package let content: Data
        /// The place of its content in the body.
        package let range: Range<Int>

        package var type: String? { fields.first { $0.name == "content-type" }?.value }
    }

    package private(set) var parts: [Part] = []

    /// - Parameter type: The `Content-Type`. Without a boundary there, the first line has it.
    /// - Returns: `nil` if the body does not begin with a boundary, or does not end with it.
    package init?(_ body: Data, type: String = "") {
        let body = Data(body)
        var parameters = type[...]
        let boundary = parameters.takeParameters().first { $0.name == "boundary" }?.value
        let lineBreak = Data("\r\n".utf8)
        guard let delimiter = boundary.map({ Data("--\($0)".utf8) }) ?? body.firstLine, body.starts(with: delimiter) else { return nil }
        var start = delimiter.count
        while !body[start...].starts(with: "--".utf8) {
            guard let line = body.range(of: lineBreak, in: start..<body.count),
                let end = body.range(of: lineBreak + delimiter, in: line.lowerBound..<body.count)
            else { return nil }
            // A head without fields is an empty line.
            let blank = body.range(of: lineBreak + lineBreak, in: line.lowerBound..<end.lowerBound)
            let head = body[line.upperBound..<max(line.upperBound, blank?.lowerBound ?? end.lowerBound)]
            parts.append(Part(head, body, min(blank?.upperBound ?? end.lowerBound, end.lowerBound)..<end.lowerBound))
            start = end.upperBound
        }
    }
}

extension Multipart.Part {
    fileprivate init(_ head: Data, _ body: Data, _ range: Range<Int>) {
        let all = String(decoding: head, as: UTF8.self).split(separator: "\r\n").map { line in
            let name = line.prefix { $0 != ":" }
            return (name: name.lowercased(), value: line[name.endIndex...].dropFirst().trimmingCharacters(in: .whitespaces))
        }
        var disposition = (all.first { $0.name == "content-disposition" }?.value ?? "")[...]
        let parameters = disposition.takeParameters()
        func parameter(_ name: String) -> String? { parameters.first { $0.name == name }?.value }
        (name, fileName) = (parameter("name"), parameter("filename"))
        fields = all.filter { $0.name != "content-disposition" }
        (content, self.range) = (Data(body[range]), range)
    }
}

extension Data {
    /// The delimiter on the first line. In a body without parts, that has closing hyphens.
    fileprivate var firstLine: Data? {
        guard starts(with: Data("--".utf8)), let end = range(of: Data("\r\n".utf8)) else { return nil }
        let line = self[..<end.lowerBound]
        return Data(count == end.upperBound ? line.dropLast(2) : line)
    }
}
