import APIProvider
import Foundation

/// The URL, a header or the body of a request or a response.
struct MessagePart {
    enum Field: Equatable { case url, header(String), body }

    /// The index of its exchange.
    let exchange: Int
    let isResponse: Bool
    let field: Field
    /// In UTF-8, if it is text.
    var bytes: [UInt8]
    /// Of a body.
    private(set) var type = ""
    /// The charset of a body that is text in another than UTF-8.
    private(set) var encoding: String.Encoding?
    private(set) var isBinary = false

    /// The part in a sentence.
    var name: String {
        let message = isResponse ? "its response" : "it"
        switch field {
        case .url: return "its URL"
        case .header(let name): return isResponse ? "the header \(name) of its response" : "its header \(name)"
        case .body: return "\(isBinary ? "the binary body" : "the body") of \(message)"
        }
    }

    /// How to change it with `editing`.
    var cure: String {
        let message = isResponse ? "$0.response?" : "$0"
        switch field {
        case .url: return "editing: { $0.url = … }"
        case .header(let name): return "editing: { \(message).headers[\"\(name)\"] = … }"
        case .body: return "editing: { \(message).body = … }"
        }
    }

    func edits(_ reader: ValueReader) -> Edits {
        guard !isBinary else { return [] }
        switch field {
        case .url: return reader.url(bytes, isOfRequest: true)
        case .header(let name): return reader.header(name, bytes)
        case .body: return reader.body(bytes, type)
        }
    }
}

extension MessagePart {
    private init(header field: (name: String, value: String), of exchange: Int, isResponse: Bool) {
        self.init(exchange: exchange, isResponse: isResponse, field: .header(field.name), bytes: Array(field.value.utf8))
    }

    private init(body: Data, _ type: String, of exchange: Int, isResponse: Bool) {
        self.init(exchange: exchange, isResponse: isResponse, field: .body, bytes: [UInt8](body), type: type)
        guard !bytes.isUTF8, !type.mediaType.hasPrefix("multipart/") else { return }
        var parameters = type[...]
        let charset = parameters.takeParameters().first { $0.name == "charset" }?.value.lowercased()
        encoding = charset.flatMap { String.Encoding(charset: $0, of: body) } ?? body.encodingOfUTF16
        // What does not come out as it went in cannot be changed in a place.
        guard let encoding, let text = String(data: body, encoding: encoding), text.data(using: encoding) == body else {
            isBinary = true
            return
        }
        bytes = Array(text.utf8)
    }

    /// The parts of a request, or of its response.
    static func parts(of exchange: RecordedExchange, at index: Int, isResponse: Bool) -> [MessagePart] {
        let headers = isResponse ? exchange.response?.headers ?? [:] : exchange.headers
        let fields = headers.dictionary.sortedByName.map { MessagePart(header: $0, of: index, isResponse: isResponse) }
        guard isResponse else {
            return [MessagePart(exchange: index, isResponse: false, field: .url, bytes: Array(exchange.url.utf8))] + fields
                + [MessagePart(body: exchange.body, exchange.type, of: index, isResponse: false)]
        }
        guard let response = exchange.response else { return [] }
        return fields + [MessagePart(body: response.body, response.type, of: index, isResponse: true)]
    }

    /// Writes the part into its exchange.
    func write(to exchange: inout RecordedExchange) {
        switch field {
        case .url: exchange.url = bytes.text
        case .header(let name):
            if isResponse { exchange.response?.headers[name] = bytes.text } else { exchange.headers[name] = bytes.text }
        case .body:
            let data = encoding.flatMap { isBinary ? nil : bytes.text.data(using: $0) } ?? Data(bytes)
            if isResponse { exchange.response?.body = data } else { exchange.body = data }
        }
    }
}

extension Data {
    /// The encoding of text that has a mark of UTF-16, or NULs between its characters.
    fileprivate var encodingOfUTF16: String.Encoding? {
        if starts(with: [0xFF, 0xFE]) || starts(with: [0xFE, 0xFF]) { return .utf16 }
        let start = prefix(8).map { $0 == 0 }
        if start.count > 3, start == [true, false, true, false] + start.dropFirst(4) { return .utf16BigEndian }
        return start.count > 3 && start == [false, true, false, true] + start.dropFirst(4) ? .utf16LittleEndian : nil
    }
}
