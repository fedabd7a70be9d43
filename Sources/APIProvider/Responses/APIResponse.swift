public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// What a server answered, whatever its status, and the request that it answered.
public struct APIResponse: Sendable {
    /// The request that got this answer: after redirects, the last one.
    public let request: URLRequest
    /// The status and the headers.
    public let response: HTTPURLResponse
    /// The body.
    public let data: Data

    /// Creates a response, as a ``Transport`` does.
    public init(request: URLRequest, response: HTTPURLResponse, data: Data) {
        self.request = request
        self.response = response
        self.data = data
    }

    /// The status code (RFC 9110, section 15).
    public var statusCode: Int { response.statusCode }

    /// The value of the header field `name`, in any case. Fields of the same name are joined with `", "`.
    public func value(forHTTPHeaderField name: String) -> String? { response.values(forHTTPHeaderField: name) }

    /// Decodes the body, also that of an error: `try error.response?.decode(GitHubError.self)`.
    ///
    /// `Data` and `String` come as they are, ``Empty`` whatever there is, an `Optional` is `nil` for an empty body, and anything else comes
    /// from JSON, by `decoder`: a provider's own is not known here.
    ///
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` when the body is something else.
    public func decode<T: Decodable>(_ type: T.Type, using decoder: JSONDecoder = JSONDecoder()) throws -> T {
        try explainingDecodingErrors(of: type) {
            let optional = type as? any OptionalResponse.Type
            if data.isEmpty, let none = optional?.none as? T { return none }
            if let raw = (optional?.wrapped ?? type) as? any RawResponse.Type, let value = try raw.init(self) as? T { return value }
            return try decoder.decodeAny(type, from: data)
        }
    }

    /// Runs `decode`, and turns a `DecodingError` that it throws into an ``APIError``. Other errors pass through.
    func explainingDecodingErrors<T>(of type: T.Type, _ decode: () throws -> T) throws -> T {
        do {
            return try decode()
        } catch let error as DecodingError {
            throw APIError.decoding(self, expected: "\(type)", underlying: error)
        }
    }

    /// Whether a response of this type comes from JSON.
    static func isJSON(_ type: Any.Type) -> Bool {
        if let type = type as? any OptionalResponse.Type { return isJSON(type.wrapped) }
        return type is any Decodable.Type && !(type is any RawResponse.Type)
    }
}

extension APIResponse: CustomStringConvertible, CustomReflectable {
    /// `GET https://api.example.com/search?q=…: 200 OK, 812 bytes`. Headers and body may hold secrets, and are left out.
    public var description: String { "\(request.line): \(statusLine), \(data.count) bytes" }

    /// Shows the same line alone, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// A response that is not decoded from JSON.
private protocol RawResponse {
    init(_ response: APIResponse) throws
}

extension Data: RawResponse {
    fileprivate init(_ response: APIResponse) { self = response.data }
}

extension Empty: RawResponse {
    fileprivate init(_ response: APIResponse) { self.init() }
}

extension String: RawResponse {
    fileprivate init(_ response: APIResponse) throws {
        guard let text = String(data: response.data, encoding: .utf8) else {
            throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "The body is not UTF-8 text."))
        }
        self = text
    }
}

private protocol OptionalResponse {
    static var wrapped: Any.Type { get }
    static var none: Self { get }
}

extension Optional: OptionalResponse {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}
