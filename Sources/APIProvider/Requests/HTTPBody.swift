public import Foundation

/// A request's body and content type.
///
/// The body is encoded when the request is built, once for each subscription, on the subscriber's thread.
public struct HTTPBody: Sendable {
    /// Creates the body and the media type with the provider's encoder.
    package let encode: @Sendable (JSONEncoder) throws -> (body: RequestBody, type: String)

    private init(contentType: String, piece: @escaping @Sendable () throws -> BodyPiece) {
        encode = { _ in (RequestBody([try piece()]), contentType) }
    }

    private init(encode: @escaping @Sendable (JSONEncoder) throws -> (body: RequestBody, type: String)) { self.encode = encode }

    /// JSON (RFC 8259). A value that cannot be encoded makes the request invalid.
    ///
    /// ### Text and literals
    ///
    /// A `String` is sent as a JSON string: `.json(#"{"a":1}"#)` sends `"{\"a\":1}"`. For JSON text, write
    /// `.data(Data(text.utf8), contentType: "application/json")`.
    ///
    /// A literal with values of several types, as in `["a": 1, "b": "x"]`, is a ``JSONValue``.
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder. `nil` means the provider's. Do not change the encoder afterwards.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPBody {
        HTTPBody { standard in
            do {
                return (RequestBody(try (encoder ?? standard).encode(value)), "application/json")
            } catch {
                let type = nameInSource(of: type(of: value))
                throw APIError.invalidRequest(reason: "its body of type \(type) cannot be encoded as JSON", underlying: error.withoutValue)
            }
        }
    }

    /// JSON with members of several types: `.json(["title": JSONValue(title), "priority": 1, "labels": ["bug", nil]])`.
    ///
    /// Keys are sorted, and otherwise unchanged: no setting of the provider's encoder changes this body. An infinite number or `NaN` makes
    /// the request invalid.
    public static func json(_ value: JSONValue) -> HTTPBody { json(value, encoder: JSONValue.encoder) }

    /// A form with `parameters`: `application/x-www-form-urlencoded`, by the WHATWG URL standard.
    public static func form(_ parameters: QueryParameters) -> HTTPBody {
        HTTPBody(contentType: "application/x-www-form-urlencoded") {
            if let problem = parameters.problem { throw APIError.invalid(problem) }
            return .data(Data(parameters.formEncoded.utf8))
        }
    }

    /// The bytes in `data`, with the media type `contentType`.
    public static func data(_ data: Data, contentType: String) -> HTTPBody {
        HTTPBody(contentType: contentType) { .data(data) }
    }

    /// The content of `file`, with the media type `contentType`. An unreadable file makes the request invalid.
    ///
    /// The file is read during the transfer. Do not change the file before the request ends.
    public static func file(_ file: URL, contentType: String) -> HTTPBody {
        HTTPBody(contentType: contentType) { try BodyPiece(file) }
    }

    /// A `multipart/form-data` body (RFC 7578) with `parts`, in order.
    ///
    /// Each subscription has a random boundary. Files are read during the transfer. On Apple's systems, ``URLSessionTransport`` puts the
    /// parts together in a temporary file, and removes that file at the end. An unreadable file, or a content type with a control
    /// character, makes the request invalid.
    ///
    /// A `Content-Type` in the headers may name another multipart type, such as `multipart/related`, and gets the boundary. A type other
    /// than multipart, or with another boundary, makes the request invalid.
    public static func multipart(_ parts: [MultipartPart]) -> HTTPBody {
        HTTPBody { encoder in
            let boundary = RequestBody.randomBoundary()
            return (try RequestBody(parts, boundary: boundary, encoder: encoder), "multipart/form-data; boundary=\(boundary)")
        }
    }
}

extension JSONEncoder {
    /// An encoder that sorts keys, so equal values have equal bytes.
    @usableFromInline package static var sortingKeys: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
