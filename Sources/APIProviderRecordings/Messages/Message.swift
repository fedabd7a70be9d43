import APIProvider
import Foundation

/// A request or a response, as parts.
struct Message {
    struct Part {
        enum Field: Equatable { case url, header(String), body }

        let field: Field
        var bytes: [UInt8]
        /// Whether the body is no text in UTF-8, and nothing can be replaced.
        var isBinary: Bool { field == .body && !bytes.isUTF8 }
        /// Whether the body is a picture, an archive or a film by its first bytes, whatever its media type.
        var isMedia: Bool { Self.beginnings.contains { bytes.dropFirst($0.offset).starts(with: $0.bytes) } && isBinary }

        private static let beginnings: [(bytes: [UInt8], offset: Int)] = [
            ([0x89, 0x50, 0x4E, 0x47], 0), ([0xFF, 0xD8, 0xFF], 0), (Array("GIF8".utf8), 0), (Array("WEBP".utf8), 8),
            (Array("ftyp".utf8), 4), ([0x50, 0x4B, 3, 4], 0), ([0x1F, 0x8B], 0), ([0x1A, 0x45, 0xDF, 0xA3], 0),
        ]
    }

    /// The exchange's index.
    let exchange: Int
    let isResponse: Bool
    /// The position of the request, or of the response's end, among a recording's events.
    let time: Int
    var parts: [Part] = []

    init(_ exchange: RecordedExchange, at index: Int = 0, isResponse: Bool) {
        (self.exchange, self.isResponse, time) = (index, isResponse, isResponse ? exchange.order.end : exchange.order.begin)
        if !isResponse { parts.append(Part(field: .url, bytes: Array(exchange.url.utf8))) }
        for (name, value) in ((isResponse ? exchange.response?.headers : exchange.headers) ?? [:]).dictionary.sortedByName {
            parts.append(Part(field: .header(name), bytes: Array(value.utf8)))
        }
        parts.append(Part(field: .body, bytes: [UInt8]((isResponse ? exchange.response?.body : exchange.body) ?? Data())))
    }

    static func all(of exchanges: [RecordedExchange]) -> [Message] {
        exchanges.enumerated().flatMap { index, exchange in [false, true].map { Message(exchange, at: index, isResponse: $0) } }
    }

    /// All parts but media, with line breaks.
    var texts: [UInt8] { parts.reduce(into: []) { $0 += $1.isMedia ? [] : $1.bytes + [0x0A] } }

    /// Writes the parts to the exchange.
    func write(to exchange: inout RecordedExchange) {
        for part in parts {
            switch part.field {
            case .url: exchange.url = part.bytes.text
            case .header(let name) where isResponse: exchange.response?.headers[name] = part.bytes.text
            case .header(let name): exchange.headers[name] = part.bytes.text
            case .body where isResponse: exchange.response?.body = Data(part.bytes)
            case .body: exchange.body = Data(part.bytes)
            }
        }
    }

    /// A part in a sentence, and its change with `editing`.
    func description(of part: Part) -> (name: String, cure: String) {
        let (of, owner) = isResponse ? (" of its response", "$0.response?") : ("", "$0")
        switch part.field {
        case .url: return ("its URL", "editing: { $0.url = … }")
        case .header(let name): return ("the header \(name)\(of)", "editing: { \(owner).headers[\"\(name)\"] = … }")
        case .body: return ("the \(part.isBinary ? "binary " : "")body\(of)", "editing: { \(owner).body = … }")
        }
    }
}
