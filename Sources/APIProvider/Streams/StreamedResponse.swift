public import Foundation
public import MiniRx

/// A streamed response: you read the body on arrival.
///
/// The request's single succeeds with the head of a successful response, and the value is the stream. The package provides
/// ``ServerSentEvents``, ``JSONLines``, ``TextLines`` and ``ByteStream``. For another format, conform your own type: iterate over the
/// bytes, and return the elements.
///
/// ```swift
/// struct Numbers: StreamedResponse {
///     private let bytes: ByteStream
///
///     init(_ bytes: ByteStream, decoder: any BodyDecoder) { self.bytes = bytes }
///
///     func makeAsyncIterator() -> AsyncIterator {
///         AsyncIterator(bytes: bytes.makeAsyncIterator())
///     }
///
///     struct AsyncIterator: AsyncIteratorProtocol {
///         var bytes: ByteStream.AsyncIterator
///         var rest = Data()
///
///         mutating func next() async throws -> UInt32? {
///             while rest.count < 4 {
///                 guard let chunk = try await bytes.next() else { return nil }
///                 rest += chunk
///             }
///             defer { rest = Data(rest.dropFirst(4)) }
///             return rest.prefix(4).reduce(0) { $0 << 8 | UInt32($1) }
///         }
///     }
/// }
/// ```
///
/// A stream can be read once. The stream holds the connection, and the server waits while the reader is behind. The transfer ends when you
/// release the iterator, release an unread stream, or cancel the reading task.
public protocol StreamedResponse: AsyncSequence, Sendable where Element: Sendable {
    /// The media type for the `Accept` header, unless a request sets that header; `nil` for none.
    static var mediaType: String? { get }

    /// Creates a stream that parses `bytes`. Called on a background queue after the head. If the initializer throws, the request fails with
    /// that error.
    ///
    /// - Parameters:
    ///   - bytes: The response's head and arriving body.
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
    /// Disposing ends the stream, and cancels the task of `body`. If `body` throws, the single fails with that error.
    ///
    /// - Parameter body: Called with one element after another. The next is read after the call returns.
    /// - Returns: A single that reads the stream at the subscription, and succeeds at the stream's end.
    public func forEach(_ body: @escaping @Sendable (Element) async throws -> Void) -> Single<Void> {
        .create { for try await element in self { try await body(element) } }
    }
}

// MARK: - Endpoints and options

extension Endpoint where Response: StreamedResponse {
    /// Creates an endpoint with a streamed response.
    ///
    /// The request succeeds with the head of a successful response. With a status outside 200...299, the request fails, and the error
    /// contains the whole body. The response in ``Endpoint/validating(_:)`` has no `data`.
    ///
    /// Neither the size nor the duration of the whole stream is limited. The `timeoutInterval` limits the silence in either direction, even
    /// within the body. Without an `Accept`, the request asks for ``StreamedResponse/mediaType``. Each argument sets the property with the
    /// same name.
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
