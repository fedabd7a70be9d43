public import Foundation

/// Decodes response bodies: `JSONDecoder`, `PropertyListDecoder`, or a decoder for another format.
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
    /// The media type for the `Accept` header, unless a request sets that header; `nil` for none.
    var mediaType: String? { get }

    /// Decodes `type` from `data`. A `DecodingError` becomes an ``APIError/decoding(_:expected:underlying:)``.
    ///
    /// Called on background queues, maybe several times at once.
    func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value
}

extension BodyDecoder {
    /// No media type.
    public var mediaType: String? { nil }

    /// Decodes `data`, and throws instead of a `JSONDecoder`'s trap.
    package func decodeWithoutTrapping<T: Decodable>(_ type: T.Type, from data: Data) throws -> T {
        // A text ending at the bracket beyond the nesting limit of 512, or at a CR after that bracket, traps. White space behind the text
        // prevents the trap, in the same encoding: UTF-16 and UTF-32 put NULs around each ASCII character.
        guard let last = data.last, last == 0 || "[{\r".utf8.contains(last), self is JSONDecoder,
            let mark = data.suffix(4).last(where: { $0 != 0 }), "[{\r".utf8.contains(mark)
        else { return try decode(type, from: data) }
        return try decode(type, from: data + Data(data.suffix(4).map { $0 == 0 ? 0 : UInt8(ascii: " ") }))
    }
}

#if !canImport(FoundationNetworking) && !os(watchOS) && !os(visionOS)
// Apple declares its decoders `Sendable` from macOS 13, iOS 16 and watchOS 9 on.
extension JSONDecoder: @retroactive @unchecked Sendable {}  // Decoding does not mutate the decoder on older systems either.
extension PropertyListDecoder: @retroactive @unchecked Sendable {}  // Decoding does not mutate the decoder on older systems either.
#endif

extension JSONDecoder: BodyDecoder {
    /// `application/json` (RFC 8259).
    public var mediaType: String? { "application/json" }
}

extension PropertyListDecoder: BodyDecoder {
    /// `application/x-plist`.
    public var mediaType: String? { "application/x-plist" }
}
