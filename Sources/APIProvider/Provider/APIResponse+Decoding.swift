import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// The body as text, in the charset of its `Content-Type` or else in UTF-8; `nil` if it is no such text.
    ///
    /// Errors and logs show no body. To see one, ask for it: `print(error.response?.text ?? "")`.
    public var text: String? { try? String(data, of: httpResponse) }

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
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` with whatever the decoder throws, also that of a strategy or of an
    ///   `init(from:)` of yours.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T { try decode(type, from: data) { self } }

    /// Decodes `data`, which may be a part of the body.
    ///
    /// - Parameter excerpt: Returns the response of an error.
    func decode<T: Decodable>(_ type: T.Type, from data: Data, excerpt: () -> APIResponse) throws -> T {
        try Self.explainingErrors(of: type, in: excerpt(), where: { _ in true }) {
            let optional = type as? any OptionalResponse.Type
            if data.isEmpty, let none = optional?.none as? T { return none }
            let wrapped = optional?.wrapped ?? type
            if wrapped == Data.self, let value = data as? T { return value }
            if wrapped == String.self, let value = try String(data, of: httpResponse) as? T { return value }
            return try decoder.decodeWithoutTrapping(type, from: data)
        }
    }

    /// The decoder of the endpoint or the provider that got the response.
    var decoder: any BodyDecoder { requestOptions[DecoderKey.self] ?? requestOptions.context?.decoder ?? Self.standardDecoder }

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
        guard requestOptions.transport != nil else { return self }
        var response = self
        response.request.options.transport = nil
        return response
    }

    /// Runs `decode`, and turns an error of a decoder into an ``APIError`` of `response`. Other errors pass through.
    static func explainingErrors<T>(
        of type: T.Type, in response: @autoclosure () -> APIResponse, where isOfDecoder: (any Error) -> Bool = { $0 is DecodingError },
        _ decode: () throws -> T
    ) throws -> T {
        do {
            return try decode()
        } catch  where isOfDecoder(error) {
            var response = response()
            if case .convertFromSnakeCase? = (response.decoder as? JSONDecoder)?.keyDecodingStrategy { response.convertsSnakeCase = true }
            throw APIError.decoding(response, expected: nameInSource(of: type), underlying: error)
        }
    }

    /// Whether the provider's decoder reads a response of this type.
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
