import APIProvider
import Foundation

/// A multipart body's parts (RFC 2046, section 5.1).
struct Multipart: Sendable {
    struct Part: Sendable {
        /// `nil` without a name, as in bodies other than forms.
        let name: String?
        /// The header fields, with lowercase names. `filename` replaces `Content-Disposition`.
        let fields: [(name: String, value: String)]
        let content: Data
        /// The content's place in the body.
        let range: Range<Int>

        var type: String? { fields.first { $0.name == "content-type" }?.value }
    }

    private(set) var parts: [Part] = []

    /// - Parameter type: The `Content-Type`, with the boundary.
    /// - Returns: `nil` for a body without the boundary at the beginning or end.
    init?(_ body: Data, type: String) {
        var parameters = type[...]
        guard let boundary = parameters.takeParameters().first(where: { $0.name == "boundary" })?.value else { return nil }
        let (body, delimiter, lineBreak) = (Data(body), Data("--\(boundary)".utf8), Data("\r\n".utf8))
        guard body.starts(with: delimiter) else { return nil }
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
            let parts = line.parts(between: UInt8(ascii: ":"))
            return (name: parts[0].lowercased(), value: parts.dropFirst().joined(separator: ":").trimmingCharacters(in: .whitespaces))
        }
        var disposition = (all.first { $0.name == "content-disposition" }?.value ?? "")[...]
        let parameters = disposition.takeParameters()
        name = parameters.first { $0.name == "name" }?.value
        fields = all.filter { $0.name != "content-disposition" } + parameters.filter { $0.name == "filename" }
        (content, self.range) = (Data(body[range]), range)
    }
}
