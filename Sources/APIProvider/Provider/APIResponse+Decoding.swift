import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// Decodes the body as `type`. It works for errors, too: `try error.response?.decode(GitHubError.self)`.
    ///
    /// `Data` is the body, and an `Optional` is `nil` if it is empty. Other types are decoded by the decoder of the provider that got the
    /// response, or as JSON if there was no provider.
    ///
    /// ### Text
    ///
    /// A `String` is read with the charset of the `Content-Type`, and as UTF-8 if it names none. One that is not known here, or that the
    /// text does not fit, is an error. Known are UTF-8, UTF-16, ISO-8859, Windows-125x, and the usual ones of Japan, China, Korea and
    /// Russia; on Linux, Foundation does not read EUC-JP.
    ///
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` if the body does not fit the type.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T { try decode(type, from: data) { self } }

    /// Decodes `data`, which may be a part of the body.
    ///
    /// - Parameter excerpt: Returns the response of an error.
    func decode<T: Decodable>(_ type: T.Type, from data: Data, excerpt: () -> APIResponse) throws -> T {
        try Self.explainingDecodingErrors(of: type, in: excerpt()) {
            let optional = type as? any OptionalResponse.Type
            if data.isEmpty, let none = optional?.none as? T { return none }
            let wrapped = optional?.wrapped ?? type
            if wrapped == Data.self, let value = data as? T { return value }
            if wrapped == String.self, let value = try String(data, of: httpResponse) as? T { return value }
            return try decoder.decodeWithoutTrapping(type, from: data)
        }
    }

    /// The decoder of the endpoint or the provider that got the response.
    var decoder: any BodyDecoder { request.options[DecoderKey.self] ?? request.context?.decoder ?? Self.standardDecoder }

    private static let standardDecoder = JSONDecoder()

    /// The same response with another decoder.
    package func with(decoder: any BodyDecoder) -> APIResponse {
        // A response to the provider's own request has it already.
        if let new = decoder as? JSONDecoder, new === self.decoder as? JSONDecoder { return self }
        var response = self
        response.request.options[DecoderKey.self] = decoder
        return response
    }

    /// The response without the transport of its request, which one from a cache has.
    func releasingTransport() -> APIResponse {
        guard request.transport != nil else { return self }
        var response = self
        response.request.transport = nil
        return response
    }

    /// Runs `decode`, and turns a `DecodingError` into an ``APIError`` of `response`. Other errors pass through.
    static func explainingDecodingErrors<T>(of type: T.Type, in response: @autoclosure () -> APIResponse, _ decode: () throws -> T) throws
        -> T
    {
        do {
            return try decode()
        } catch let error as DecodingError {
            var response = response()
            response.isReadAsJSON = response.decoder is JSONDecoder
            throw APIError.decoding(response, expected: nameInSource(of: type), underlying: error)
        }
    }

    /// Whether the provider's decoder reads a response of this type.
    static func usesProviderDecoder(for type: Any.Type) -> Bool {
        let type = (type as? any OptionalResponse.Type)?.wrapped ?? type
        return type != Data.self && type != String.self && type is any Decodable.Type
    }
}

private enum DecoderKey: BuiltInOptionKey { static var defaultValue: (any BodyDecoder)? { nil } }

private protocol OptionalResponse {
    static var wrapped: Any.Type { get }
    static var none: Self { get }
}

extension Optional: OptionalResponse {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}
