public import Foundation

/// Decodes the bodies of responses: `JSONDecoder`, `PropertyListDecoder`, or a decoder of another format.
///
/// ```swift
/// struct LinesDecoder: BodyDecoder {
///     var mediaType: String? { "application/x-ndjson" }
///     func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws
///         -> Value
///     {
///         let lines = data.split(separator: UInt8(ascii: "\n")).joined(
///             separator: Data(",".utf8))
///         return try JSONDecoder().decode(
///             type, from: Data("[".utf8) + Data(lines) + Data("]".utf8))
///     }
/// }
/// let provider = DefaultAPIProvider(baseURL: api, decoder: LinesDecoder())
/// ```
public protocol BodyDecoder: Sendable {
    /// The media type that requests ask for in `Accept`, unless they set that header. With `nil`, they ask for none.
    var mediaType: String? { get }

    /// Decodes `type` from `data`. A `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``.
    ///
    /// It is called on background queues, maybe several times at once.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension BodyDecoder {
    /// No media type.
    public var mediaType: String? { nil }
}

#if !canImport(FoundationNetworking) && !os(visionOS)
// Apple's decoders are Sendable from macOS 13 and iOS 16 on, with the same code. Before, too, decoding does not change a decoder.
extension JSONDecoder: @retroactive @unchecked Sendable {}
extension PropertyListDecoder: @retroactive @unchecked Sendable {}
#endif

extension JSONDecoder: BodyDecoder {
    /// `application/json` (RFC 8259).
    public var mediaType: String? { "application/json" }

    /// Decodes whatever bytes there are, or throws.
    package func decodeAny<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        // The decoder traps if the data ends with a 513th open bracket, which is one too many, or with a CR after it.
        try decode(type, from: data.last.map { "[{\r".utf8.contains($0) } == true ? data + Data(" ".utf8) : data)
    }
}

extension PropertyListDecoder: BodyDecoder {
    /// `application/x-plist`.
    public var mediaType: String? { "application/x-plist" }
}
