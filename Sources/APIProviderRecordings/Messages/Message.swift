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

    /// All parts, with line breaks.
    var bytes: [UInt8] { parts.reduce(into: []) { $0 += $1.bytes + [0x0A] } }

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
