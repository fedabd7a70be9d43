import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// The body as text, in the charset of the `Content-Type` or else in UTF-8; `nil` for other bytes.
    ///
    /// Errors and logs show no body. To see one, print this property: `print(error.response?.text ?? "")`.
    public var text: String? { try? String(data, of: httpResponse) }

    /// Decodes the body as `type`. Works for errors, too: `try error.response?.decode(GitHubError.self)`.
    ///
    /// `Data` is the body, and an `Optional` is `nil` for an empty body. Other types are decoded by the provider's decoder, or as JSON
    /// without a provider.
    ///
    /// ### Text
    ///
    /// A `String` is read in the charset of the `Content-Type`, by default as UTF-8. An unknown charset is an error, and so is text in
    /// another one. Known are UTF-8, UTF-16, ISO-8859, Windows-125x, and the usual ones in Japan, China, Korea and Russia; on Linux,
    /// Foundation does not read EUC-JP.
    ///
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` with whatever the decoder throws, including a strategy's errors and your
    ///   `init(from:)`'s.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T { try decode(type, from: data) { self } }

    /// Decodes `data`, maybe only part of the body.
    ///
    /// - Parameter errorResponse: Returns the response for an error.
    func decode<T: Decodable>(_ type: T.Type, from data: Data, errorResponse: () -> APIResponse) throws -> T {
        try Self.wrappingErrors(of: type, in: errorResponse(), where: { _ in true }) {
            let optional = type as? any OptionalResponse.Type
            if data.isEmpty, let none = optional?.none as? T { return none }
            let wrapped = optional?.wrapped ?? type
            if wrapped == Data.self, let value = data as? T { return value }
            if wrapped == String.self, let value = try String(data, of: httpResponse) as? T { return value }
            return try decoder.decodeWithoutTrapping(type, from: data)
        }
    }

    /// The endpoint's or the provider's decoder.
    var decoder: any BodyDecoder { requestOptions[DecoderKey.self] ?? requestOptions.context?.decoder ?? Self.standardDecoder }

    private static let standardDecoder = JSONDecoder()

    /// The same response with another decoder.
    package func with(decoder: any BodyDecoder) -> APIResponse {
        // A response to the provider's own request already has the decoder.
        if let new = decoder as? JSONDecoder, new === self.decoder as? JSONDecoder { return self }
        var response = self
        response.request.options[DecoderKey.self] = decoder
        return response
    }

    /// The response without the request's transport, which is still there in a response from a cache.
    func releasingTransport() -> APIResponse {
        guard requestOptions.transport != nil else { return self }
        var response = self
        response.request.options.transport = nil
        return response
    }

    /// Runs `decode`, and turns a decoder's error into an ``APIError`` with `response`. Other errors pass through.
    static func wrappingErrors<T>(
        of type: T.Type, in response: @autoclosure () -> APIResponse, where isDecoderError: (any Error) -> Bool = { $0 is DecodingError },
        _ decode: () throws -> T
    ) throws -> T {
        do {
            return try decode()
        } catch  where isDecoderError(error) {
            throw APIError.decoding(response(), expected: nameInSource(of: type), underlying: error)
        }
    }

    /// Whether the provider's decoder reads a response as this type.
    static func usesProviderDecoder(for type: any Decodable.Type) -> Bool {
        let type = (type as? any OptionalResponse.Type)?.wrapped ?? type
        return type != Data.self && type != String.self
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
