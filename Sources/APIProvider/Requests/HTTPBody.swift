public import Foundation

/// The body of a request and its content type. It is encoded when the request is built, once per subscription.
public struct HTTPBody: Sendable {
    let contentType: String
    let encode: @Sendable () throws -> Data

    /// `value` as JSON (RFC 8259). A value that cannot be encoded makes the request invalid.
    ///
    /// - Parameters:
    ///   - value: What to encode.
    ///   - encoder: Set it up before; it is not to be changed afterwards.
    public static func json(_ value: some Encodable & Sendable, encoder: JSONEncoder = JSONEncoder()) -> HTTPBody {
        HTTPBody(contentType: "application/json") {
            do {
                return try encoder.encode(value)
            } catch {
                throw APIError.invalidRequest(reason: "its body of type \(type(of: value)) cannot be encoded as JSON", underlying: error)
            }
        }
    }

    /// `parameters` as `application/x-www-form-urlencoded`, as the WHATWG URL standard writes it.
    public static func form(_ parameters: QueryParameters) -> HTTPBody {
        HTTPBody(contentType: "application/x-www-form-urlencoded") { Data(parameters.formEncoded.utf8) }
    }

    /// `data` as it is.
    public static func data(_ data: Data, contentType: String) -> HTTPBody {
        HTTPBody(contentType: contentType) { data }
    }
}
