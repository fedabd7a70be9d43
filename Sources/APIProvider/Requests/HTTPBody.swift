public import Foundation

/// The body of a request and its content type.
///
/// It is encoded when the request is built, once for each subscription, on the subscriber's thread.
public struct HTTPBody: Sendable {
    /// The bytes to send, and their media type.
    package struct Content {
        package let type: String
        package let data: Data
    }

    /// Makes the content with the provider's encoder.
    package let encode: @Sendable (JSONEncoder) throws -> Content

    private init(contentType: String, data: @escaping @Sendable () throws -> Data) {
        encode = { _ in Content(type: contentType, data: try data()) }
    }

    private init(encode: @escaping @Sendable (JSONEncoder) throws -> Content) { self.encode = encode }

    /// JSON (RFC 8259). If the value cannot be encoded, the request is invalid.
    ///
    /// Values of several types, as in `["a": 1, "b": "x"]`, are not `Encodable` together, and a compiler may crash where it should say so.
    /// Declare a struct:
    ///
    /// ```swift
    /// struct NewIssue: Encodable {
    ///     let title: String
    ///     let milestone: Int
    /// }
    ///
    /// let body = HTTPBody.json(NewIssue(title: "It crashes", milestone: 1))
    /// ```
    ///
    /// - Parameters:
    ///   - value: The value to encode.
    ///   - encoder: The encoder. `nil` means the provider's. Do not change it afterwards.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder? = nil) -> HTTPBody {
        HTTPBody { standard in
            do {
                return Content(type: "application/json", data: try (encoder ?? standard).encode(value))
            } catch {
                throw APIError.invalidRequest(reason: "its body of type \(type(of: value)) cannot be encoded as JSON", underlying: error)
            }
        }
    }

    /// A form: `application/x-www-form-urlencoded`, by the WHATWG URL standard.
    public static func form(_ parameters: QueryParameters) -> HTTPBody {
        HTTPBody(contentType: "application/x-www-form-urlencoded") { Data(parameters.formEncoded.utf8) }
    }

    /// Bytes with a content type.
    public static func data(_ data: Data, contentType: String) -> HTTPBody {
        HTTPBody(contentType: contentType) { data }
    }

    /// The content of a file. If it cannot be read, the request is invalid.
    ///
    /// The file is mapped into memory and not read, so that a large one takes address space alone; on Linux the loading system copies it
    /// when the request is sent. It must not be cut short before the request has ended.
    public static func file(_ file: URL, contentType: String) -> HTTPBody {
        HTTPBody(contentType: contentType) { try Data(mapping: file) }
    }

    /// A `multipart/form-data` body (RFC 7578) with these parts in order.
    ///
    /// The boundary follows from the parts, and occurs in none of them. The whole body is put together in memory, once for each
    /// subscription: what is too large for that is better sent by ``file(_:contentType:)``. A file that cannot be read, or a content type
    /// with a line break, makes the request invalid.
    public static func multipart(_ parts: [MultipartPart]) -> HTTPBody {
        HTTPBody { _ in try Content(multipart: parts) }
    }
}

extension JSONEncoder {
    /// An encoder that sorts keys, so the same value always has the same bytes.
    @usableFromInline package static var sortingKeys: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}

extension Data {
    /// The content of a file, which is read from the disk page by page when it is used.
    init(mapping file: URL) throws {
        guard file.isFileURL else { throw APIError.invalidRequest(reason: "its body is to come from \(file.redacted), which is no file") }
        do {
            self = try Data(contentsOf: file, options: .alwaysMapped)
        } catch {
            throw APIError.invalidRequest(reason: "its body cannot be read from \(file.path)", underlying: error)
        }
    }
}
