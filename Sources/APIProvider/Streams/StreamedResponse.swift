public import Foundation
public import MiniRx

/// A response that is streamed: you read its body while it arrives.
///
/// The single of a request succeeds when the head of a successful response has arrived, and its value is the stream. The package has
/// ``ServerSentEvents``, ``JSONLines``, ``TextLines`` and ``ByteStream``. To support another format, conform your own type: iterate over
/// the bytes, and return the elements.
///
/// A stream can be read once. It holds its connection, and the server waits while the reader is behind. The transfer ends when the iterator
/// is released, when the last reference to an unread stream is released, and when the task that reads is cancelled.
public protocol StreamedResponse: AsyncSequence, Sendable where Element: Sendable {
    /// The media type that requests ask for in `Accept`, unless they set that header; `nil` asks for none.
    static var mediaType: String? { get }

    /// Creates a stream that parses `bytes`. It is called on a background queue when the head has arrived. If it throws, the request fails
    /// with that error.
    ///
    /// - Parameters:
    ///   - bytes: The head of the response, and its body as it arrives.
    ///   - decoder: The provider's decoder.
    init(_ bytes: ByteStream, decoder: any BodyDecoder) throws
}

extension StreamedResponse {
    /// No media type.
    public static var mediaType: String? { nil }

    /// Calls `body` with each element of the stream.
    ///
    /// ```swift
    /// provider.request(Chat(prompt: "Hi"))
    ///     .flatMap { events in
    ///         events.forEach { @MainActor event in model.text += event.data }
    ///     }
    ///     .subscribe(onFailure: { show($0) })
    ///     .disposed(by: bag)
    /// ```
    ///
    /// Disposing ends the stream, and cancels the task in which `body` runs. If `body` throws, the single fails with that error.
    ///
    /// - Parameter body: Called with one element after the other. The next is read when it returns.
    /// - Returns: A single that reads the stream when you subscribe, and succeeds when the stream ends.
    public func forEach(_ body: @escaping @Sendable (Element) async throws -> Void) -> Single<Void> {
        .create { for try await element in self { try await body(element) } }
    }
}

// MARK: - Endpoints and options

extension Endpoint where Response: StreamedResponse {
    /// Creates an endpoint whose response is streamed.
    ///
    /// The request succeeds when the head of a successful response has arrived. If the status is outside of 200...299, it fails with an
    /// error that has the whole body. The response that ``Endpoint/validating(_:)`` gets has no `data`.
    ///
    /// Neither the size nor the duration of the whole stream is limited.
    ///
    /// - Parameters:
    ///   - method: The request method.
    ///   - path: The path, which is appended to that of the provider's base URL, or a URL.
    ///   - query: The parameters, which are appended to the query of the base URL.
    ///   - headers: The header fields. Without an `Accept`, the request asks for ``StreamedResponse/mediaType``.
    ///   - body: The body, encoded once for each subscription.
    ///   - timeoutInterval: The time in seconds without activity in either direction, also within the body, after which the request
    ///     times out; `nil` is the session's setting.
    public init(
        _ method: HTTPMethod, _ path: RequestPath, query: QueryParameters = [:], headers: HTTPHeaders = [:], body: HTTPBody? = nil,
        timeoutInterval: TimeInterval? = nil
    ) {
        var headers = headers
        if let type = Response.mediaType, headers["Accept"] == nil { headers["Accept"] = type }
        let expectsEvents = Response.mediaType == ServerSentEvents.mediaType
        // WHATWG HTML, section 9.2.2.
        if expectsEvents, headers["Cache-Control"] == nil { headers["Cache-Control"] = "no-cache" }
        self.init(method, path, query, headers, body, timeoutInterval, usesProviderDecoder: false) {
            try Response(ByteStream($0), decoder: $0.decoder)
        }
        configuration.destination = .stream(expected: expectsEvents ? Response.mediaType : nil)
    }
}

extension ByteStream {
    var maxElementSize: Int { response.request.options.maxElementSize }
}
