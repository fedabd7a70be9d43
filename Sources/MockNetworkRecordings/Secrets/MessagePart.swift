import APIProvider

/// A URL, a header or a body of one message, and the secrets in it.
struct MessagePart {
    enum Field: Equatable { case url, requestHeader(Int), requestBody, responseHeader(Int), responseBody, claims(of: Int) }

    /// The index of its exchange.
    let exchange: Int
    let field: Field
    let isResponse: Bool
    let bytes: [UInt8]
    let leaves: [Leaf]
    /// The text of a body in another encoding than UTF-8. Secrets in it cannot be replaced.
    var textInOtherEncoding: [UInt8]?
    var hits: [(range: Range<Int>, secret: Int)] = []
}

extension MessagePart {
    /// The parts of a request, or of its response.
    static func parts(of exchange: RecordedExchange, at index: Int, isResponse: Bool) -> [MessagePart] {
        guard isResponse else {
            let url = Array(exchange.url.utf8)
            return [MessagePart(exchange: index, field: .url, isResponse: false, bytes: url, leaves: LeafFinder.leaves(ofURL: url))]
                + headers(exchange.headers, of: index, isResponse: false)
                + body(exchange.body ?? [], exchange.type, of: index, isResponse: false)
        }
        guard let response = exchange.response else { return [] }
        return headers(response.headers, of: index, isResponse: true)
            + body(response.body, response.value(of: "Content-Type") ?? "", of: index, isResponse: true)
    }

    private static func headers(_ fields: [RecordedExchange.Field], of index: Int, isResponse: Bool) -> [MessagePart] {
        fields.enumerated().map { number, field in
            let bytes = Array(field.value.utf8)
            return MessagePart(
                exchange: index, field: isResponse ? .responseHeader(number) : .requestHeader(number), isResponse: isResponse, bytes: bytes,
                leaves: LeafFinder.leaves(ofHeader: field.name, bytes))
        }
    }

    private static func body(_ bytes: [UInt8], _ type: String, of index: Int, isResponse: Bool) -> [MessagePart] {
        guard !bytes.isEmpty else { return [] }
        let isMultipart = type.mediaType.hasPrefix("multipart/")
        let leaves = bytes.isUTF8 || isMultipart ? LeafFinder.leaves(ofBody: bytes, type: type) : []
        return [
            MessagePart(
                exchange: index, field: isResponse ? .responseBody : .requestBody, isResponse: isResponse, bytes: bytes, leaves: leaves,
                textInOtherEncoding: isMultipart ? nil : bytes.textInOtherEncoding(type: type))
        ]
    }
}
