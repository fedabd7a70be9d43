public import Foundation
package import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// A response with any status, and the answered request.
public struct APIResponse: Sendable {
    /// The answered request: after redirects, the last one.
    public package(set) var request: PreparedRequest {
        get { content.request }
        set { content.request = newValue }
    }
    /// The options of ``request``, without a copy of the request.
    package var requestOptions: RequestOptions { content.request.options }
    /// Foundation's response. For the header fields, see ``headers``.
    public var httpResponse: HTTPURLResponse { content.head }
    /// The body. Empty if the body is streamed: see ``StreamedResponse``.
    public var data: Data { content.body }
    /// The durations of the request's phases; `nil` if the transport does not measure them.
    ///
    /// To collect all requests' metrics, read this property in a ``Middleware``:
    /// `next(request).do(onSuccess: { log.append("\($0.metrics?.timeToFirstByte ?? 0)") })`.
    public var metrics: TransferMetrics? { content.metrics }
    /// A download's body, in a file beside the destination.
    package var file: PartialFile? {
        get { content.file }
        set { content.file = newValue }
    }
    /// Whether the response came from a cache. Includes stale responses served after a failed validation, as without a connection or with a
    /// status 500, 502, 503 or 504. Set this property in your own cache.
    public var isFromCache: Bool {
        get { content.isFromCache }
        set { content.isFromCache = newValue }
    }
    /// The owner of the streamed body, if any; `nil` inside after an iterator takes the stream.
    package var bodyStream: Locked<StreamHandle?>? { content.bodyStream }
    /// The data's name in errors: "the body", or a part such as "line 3".
    var partName: String { content.partName }
    /// The app's `errorMessage` for this response.
    package var errorMessage: String? {
        get { content.errorMessage }
        set { content.errorMessage = newValue?.nonblank }
    }

    /// Boxed, because a response passes through each operator of a chain.
    @Boxed private var content: Content

    private struct Content: Sendable {
        var request: PreparedRequest
        let head: HTTPURLResponse
        var body: Data
        var bodyStream: Locked<StreamHandle?>?
        var metrics: TransferMetrics?
        var file: PartialFile?
        var isFromCache = false
        var partName = "the body"
        var errorMessage: String?
    }

    // MARK: - Creating a response

    /// Creates a response from Foundation's, for a ``Transport``.
    ///
    /// - Parameters:
    ///   - request: The request, as passed to the transport.
    ///   - httpResponse: The status and the header fields.
    ///   - data: The body, decoded by the `Content-Encoding`.
    public init(request: PreparedRequest, httpResponse: HTTPURLResponse, data: Data) {
        self.init(request, httpResponse, data)
    }

    /// - Parameters:
    ///   - stream: The streamed body, if any.
    ///   - metrics: The metrics, if the transport measures them.
    ///   - file: The body in a file, if any.
    init(
        _ request: PreparedRequest, _ response: HTTPURLResponse, _ data: Data, stream: StreamBuffer? = nil, metrics: TransferMetrics? = nil,
        file: PartialFile? = nil
    ) {
        let stream = stream.map { Locked<StreamHandle?>(StreamHandle($0, of: request)) }
        // The first byte's index is 0, even if the transport passed a slice.
        let body = data.startIndex == 0 ? data : Data(data)
        content = Content(request: request, head: response, body: body, bodyStream: stream, metrics: metrics, file: file)
    }

    /// Creates a response with a streamed body.
    init(request: PreparedRequest, httpResponse: HTTPURLResponse, stream: StreamBuffer) {
        self.init(request, httpResponse, Data(), stream: stream)
    }

    /// Creates a response to `request`, for tests and for your own transports.
    ///
    /// - Parameters:
    ///   - request: The answered request.
    ///   - statusCode: The status code, from 100 to 999.
    ///   - headers: The header fields.
    ///   - data: The body.
    public init(to request: PreparedRequest, statusCode: Int = 200, headers: HTTPHeaders = [:], data: Data = Data()) {
        guard
            let head = HTTPURLResponse(url: request.url, statusCode: statusCode, httpVersion: "HTTP/1.1", headerFields: headers.dictionary)
        else {
            preconditionFailure("\(statusCode) is not a valid HTTP status code.")
        }
        self.init(request: request, httpResponse: head, data: data)
    }

    // MARK: - Reading

    /// The status code (RFC 9110, section 15).
    public var statusCode: Int { httpResponse.statusCode }

    /// `404 Not Found`
    var statusDescription: String {
        APIResponse.reasonPhrases[statusCode].map { "\(statusCode) \($0)" } ?? "\(statusCode)"
    }

    /// The header fields, sorted by name. Fields of the same name are joined with `", "`, and values are read as UTF-8.
    public var headers: HTTPHeaders { HTTPHeaders(httpResponse.joinedFields) }

    /// The value of the header field `name`. Names are case-insensitive. Fields of the same name are joined with `", "`.
    public func value(forHTTPHeaderField name: String) -> String? { httpResponse.joinedValue(forHTTPHeaderField: name) }

    /// The same response with a part of the body, such as a line.
    package func part(named name: String, data: Data) -> APIResponse {
        var content = content
        (content.partName, content.body, content.bodyStream) = (name, data, nil)
        return APIResponse(content)
    }

    private init(_ content: Content) { self.content = content }
}

extension APIResponse {
    /// The reason phrases in IANA's registry of HTTP status codes.
    package static let reasonPhrases = [
        200: "OK", 201: "Created", 202: "Accepted", 203: "Non-Authoritative Information", 204: "No Content", 205: "Reset Content",
        206: "Partial Content", 207: "Multi-Status", 208: "Already Reported", 226: "IM Used",
        300: "Multiple Choices", 301: "Moved Permanently", 302: "Found", 303: "See Other", 304: "Not Modified", 305: "Use Proxy",
        307: "Temporary Redirect", 308: "Permanent Redirect",
        400: "Bad Request", 401: "Unauthorized", 402: "Payment Required", 403: "Forbidden", 404: "Not Found", 405: "Method Not Allowed",
        406: "Not Acceptable", 407: "Proxy Authentication Required", 408: "Request Timeout", 409: "Conflict", 410: "Gone",
        411: "Length Required", 412: "Precondition Failed", 413: "Content Too Large", 414: "URI Too Long", 415: "Unsupported Media Type",
        416: "Range Not Satisfiable", 417: "Expectation Failed", 421: "Misdirected Request", 422: "Unprocessable Content", 423: "Locked",
        424: "Failed Dependency", 425: "Too Early", 426: "Upgrade Required", 428: "Precondition Required", 429: "Too Many Requests",
        431: "Request Header Fields Too Large", 451: "Unavailable For Legal Reasons",
        500: "Internal Server Error", 501: "Not Implemented", 502: "Bad Gateway", 503: "Service Unavailable", 504: "Gateway Timeout",
        505: "HTTP Version Not Supported", 506: "Variant Also Negotiates", 507: "Insufficient Storage", 508: "Loop Detected",
        511: "Network Authentication Required",
    ]
}
