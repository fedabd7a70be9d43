public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A response with any status, and the request that it answers.
public struct APIResponse: Sendable {
    /// The request that got this response. After redirects, it is the last one.
    public internal(set) var request: PreparedRequest
    /// The status and the headers.
    public var response: HTTPURLResponse { head }
    /// The body. Empty if the body is streamed: see ``StreamedResponse``.
    public var data: Data { body }
    /// The durations of the phases of the request; `nil` if its transport does not measure them.
    ///
    /// To collect the metrics of all requests, read this property in a ``Middleware``:
    /// `next(request).do(onSuccess: { log.append("\($0.metrics?.firstByte ?? 0)") })`.
    public private(set) var metrics: TransferMetrics?
    /// Whether the body is in the file where it should go.
    var isSaved = false
    /// Whether a cache answered, without a request to the server or after one that failed.
    package var wasServedFromCache = false
    /// The body, if it is streamed.
    package private(set) var bodyStream: UnclaimedStream?
    // `response` and `data` are stored under other names: a public property cannot have the wrapper, which is `package`.
    @HiddenFromReflection private var head: HTTPURLResponse
    @HiddenFromReflection private var body: Data
    /// What errors call the data: "the body", or a part of it such as "line 3".
    private(set) var dataDescription = "the body"
    /// The decoder of the provider that got the response.
    @HiddenFromReflection private(set) var decoder: any BodyDecoder
    private static let standardDecoder = JSONDecoder()

    /// Creates a response. A ``Transport`` uses it.
    public init(request: PreparedRequest, response: HTTPURLResponse, data: Data) {
        (self.request, head, body, decoder) = (request, response, data, request.context?.decoder ?? Self.standardDecoder)
    }

    /// Creates a response whose body is streamed.
    package init(request: PreparedRequest, response: HTTPURLResponse, stream: StreamBuffer) {
        self.init(request: request, response: response, data: Data())
        bodyStream = UnclaimedStream(StreamOwner(stream))
    }

    /// Creates a response to `request`, for tests and for your own transports.
    ///
    /// - Parameters:
    ///   - request: The request that it answers.
    ///   - status: The status code, from 100 to 999.
    ///   - headers: The header fields.
    ///   - data: The body.
    public init(to request: PreparedRequest, status: Int = 200, headers: HTTPHeaders = [:], data: Data = Data()) {
        guard let head = HTTPURLResponse(url: request.url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: headers.dictionary)
        else {
            preconditionFailure("\(status) is not a valid HTTP status code.")
        }
        self.init(request: request, response: head, data: data)
    }

    /// The status code (RFC 9110, section 15).
    public var statusCode: Int { response.statusCode }

    /// The value of the header field `name`. Names are case-insensitive. Fields of the same name are joined with `", "`.
    public func value(forHTTPHeaderField name: String) -> String? { response.joinedValue(forHTTPHeaderField: name) }

    /// Decodes the body. It works for errors, too: `try error.response?.decode(GitHubError.self)`.
    ///
    /// `Data` is the body, and an `Optional` is `nil` if it is empty. Other types are decoded by the decoder of
    /// the provider that got the response, or as JSON if there was no provider.
    ///
    /// A `String` is read with the charset of the `Content-Type`: UTF-8, which is the default, UTF-16, ISO-8859-1 or Windows-1252. With any
    /// other charset, it is read as UTF-8.
    ///
    /// - Throws: ``APIError/decoding(_:expected:underlying:)`` if the body does not fit the type.
    public func decode<T: Decodable>(_ type: T.Type) throws -> T {
        try explainingDecodingErrors(of: type) {
            let optional = type as? any OptionalResponse.Type
            if data.isEmpty, let none = optional?.none as? T { return none }
            if let raw = (optional?.wrapped ?? type) as? any RawResponse.Type, let value = try raw.init(self) as? T { return value }
            return try (decoder as? JSONDecoder)?.decodeWithoutTrapping(type, from: data) ?? decoder.decode(type, from: data)
        }
    }

    var isReadAsJSON: Bool { decoder is JSONDecoder }

    /// The same response with another decoder.
    package func with(decoder: any BodyDecoder) -> APIResponse {
        var response = self
        response.decoder = decoder
        return response
    }

    /// The same response with what its transport has measured.
    func with(metrics: TransferMetrics) -> APIResponse {
        var response = self
        response.metrics = metrics
        return response
    }

    /// The same response with a part of its body, such as a line.
    func excerpt(_ name: String, _ data: Data) -> APIResponse {
        var response = self
        (response.dataDescription, response.body, response.bodyStream) = (name, data, nil)
        return response
    }

    /// The same response without its body, which is in a file.
    func withoutBody() -> APIResponse {
        var response = self
        (response.body, response.bodyStream) = (Data(), nil)
        return response
    }

    /// Runs `decode`, and turns a `DecodingError` into an ``APIError``. Other errors pass through.
    func explainingDecodingErrors<T>(of type: T.Type, _ decode: () throws -> T) throws -> T {
        do {
            return try decode()
        } catch let error as DecodingError {
            throw APIError.decoding(self, expected: "\(type)", underlying: error)
        }
    }

    /// Whether the provider's decoder reads a response of this type.
    static func usesProviderDecoder(for type: Any.Type) -> Bool {
        if let type = type as? any OptionalResponse.Type { return usesProviderDecoder(for: type.wrapped) }
        return type is any Decodable.Type && !(type is any RawResponse.Type)
    }
}

/// A type of response that needs no decoder.
private protocol RawResponse {
    init(_ response: APIResponse) throws
}

extension Data: RawResponse {
    fileprivate init(_ response: APIResponse) { self = response.data }
}

extension String: RawResponse {
    fileprivate init(_ response: APIResponse) throws {
        let charset = response.response.textEncodingName ?? "UTF-8"
        let encoding = String.Encoding(charset: charset.lowercased(), of: response.data)
        // On Linux, Foundation decodes UTF-16 with an odd number of bytes as an empty string.
        let isWhole = encoding?.isOfUTF16 != true || response.data.count % 2 == 0
        guard isWhole, let text = String(data: response.data, encoding: encoding ?? .utf8) else {
            let problem = encoding == nil ? "not UTF-8 text, and its charset \(charset) is not known here" : "not \(charset) text"
            throw DecodingError.dataCorrupted(
                .init(codingPath: [], debugDescription: "it is \(problem)", underlyingError: CharsetMismatch()))
        }
        self = text
    }
}

/// The underlying error of text that does not fit its charset. The error message then does not mention JSON.
struct CharsetMismatch: Error {}

extension String.Encoding {
    /// The encoding of `text` by its name in a Content-Type (RFC 9110, section 8.3.2), in lower case.
    fileprivate init?(charset: String, of text: Data) {
        switch charset {
        case "utf-8", "utf8", "us-ascii", "ascii": self = .utf8
        case "iso-8859-1", "latin1", "l1": self = .isoLatin1
        case "windows-1252", "cp1252": self = .windowsCP1252
        case "utf-16le": self = .utf16LittleEndian
        case "utf-16be": self = .utf16BigEndian
        // Without a byte order mark, it is big-endian (RFC 2781, section 4.3).
        case "utf-16": self = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) ? .utf16 : .utf16BigEndian
        default: return nil
        }
    }

    fileprivate var isOfUTF16: Bool { [.utf16, .utf16LittleEndian, .utf16BigEndian].contains(self) }
}

private protocol OptionalResponse {
    static var wrapped: Any.Type { get }
    static var none: Self { get }
}

extension Optional: OptionalResponse {
    fileprivate static var wrapped: Any.Type { Wrapped.self }
}
