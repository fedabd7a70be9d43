import Foundation

/// Server-sent events, as the WHATWG HTML standard defines them (section 9.2).
///
/// ```swift
/// let events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/events"))
///     .value
/// for try await event in events { print(event.type, event.data) }
/// ```
///
/// The request has the header `Cache-Control: no-cache`, unless the endpoint sets that header. A 204 is a stream without events.
///
/// ### Responses that are no stream of events
///
/// The request fails
///
/// - with ``APIError/unacceptableStatus(_:)`` if the status is neither 200 nor 204;
/// - with ``APIError/decoding(_:expected:underlying:)`` if the `Content-Type` is not `text/event-stream`. Without a `Content-Type`, or with
///   several of which one is `text/event-stream`, the body is read as events.
///
/// The response of the second error has the body if it is JSON or its length is known. If that body does not end before the timeout, or has
/// more bytes than ``RequestOptions/maxElementSize``, the request fails with ``APIError/transport(_:underlying:)``.
///
/// ### Errors while you read
///
/// Reading throws what ``ByteStream`` throws, and ``APIError/transport(_:underlying:)`` if an event is too large.
public struct ServerSentEvents: StreamedResponse {
    /// `text/event-stream`.
    public static var mediaType: String? { eventStream }
    static let eventStream = "text/event-stream"

    private let bytes: ByteStream

    /// Creates the events of `bytes`, whose data `decoder` decodes.
    ///
    /// - Throws: ``APIError/unacceptableStatus(_:)`` or ``APIError/decoding(_:expected:underlying:)`` if the response is no stream of
    ///   events.
    public init(_ bytes: ByteStream, decoder: any BodyDecoder) throws {
        let status = bytes.response.statusCode
        guard status == 200 || status == 204 else { throw APIError.unacceptableStatus(bytes.response) }
        guard bytes.response.httpResponse.mayHaveMediaType(Self.eventStream) || status == 204 else {
            let reason = "it is not text/event-stream"
            let problem = DecodingError.Context(codingPath: [], debugDescription: reason, underlyingError: BodyMismatch(reason))
            throw APIError.decoding(bytes.response, expected: "ServerSentEvents", underlying: DecodingError.dataCorrupted(problem))
        }
        self.bytes = ByteStream(bytes.response.with(decoder: decoder))
    }

    /// Returns an iterator over the events.
    public func makeAsyncIterator() -> AsyncIterator {
        let parser = EventParser(response: bytes.response, maxSize: bytes.maxElementSize)
        return AsyncIterator(events: LineIterator(bytes, LineSplitter(maxSize: bytes.maxElementSize), parser))
    }

    /// Reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        var events: LineIterator<EventParser>

        /// Waits for an event and returns it; `nil` is the end.
        ///
        /// - Throws: ``APIError/transport(_:underlying:)`` if the connection has broken or the event is too large, or `CancellationError`.
        public mutating func next() async throws -> ServerSentEvent? { try await events.nextElement(isolation: nil) }

        /// Like ``next()``, but runs on `actor`, which a `for` loop sets to its own.
        @available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
        public mutating func next(isolation actor: isolated (any Actor)?) async throws -> ServerSentEvent? {
            try await events.nextElement(isolation: actor)
        }
    }
}

// MARK: - Parsing

/// Interprets an event stream (WHATWG HTML, section 9.2.6).
struct EventParser: LineParser {
    /// An event that is not followed by a blank line is dropped.
    static var includesUnterminatedLine: Bool { false }

    private let source: ServerSentEvent.Source
    private let maxSize: Int
    private var type = ""
    private var data: [UInt8] = []
    private var id: String?
    /// The last identifier that a whole event has set, also one without data; `nil` if none has.
    private(set) var lastEventID: String?
    /// The time to wait before the next request, in milliseconds, if the server has set it.
    private(set) var retry: Int?

    init(response: APIResponse, maxSize: Int) {
        (source, self.maxSize) = (ServerSentEvent.Source(response), maxSize)
    }

    /// The identifier of the previous stream counts until this one brings another.
    mutating func resume(from lastEventID: String?) { (id, self.lastEventID) = (lastEventID, lastEventID) }

    mutating func parse(_ line: UnsafeBufferPointer<UInt8>, into events: inout [ServerSentEvent]) throws {
        guard !line.isEmpty else { return dispatch(into: &events) }
        let colon = line.firstIndex(of: UInt8(ascii: ":"))
        let name = line[..<(colon ?? line.endIndex)]
        var value = colon.map { line[($0 + 1)...] } ?? line[line.endIndex...]
        if value.first == UInt8(ascii: " ") { value.removeFirst() }
        if name.elementsEqual("data".utf8) {
            data.append(contentsOf: value)
            data.append(UInt8(ascii: "\n"))
            if data.count - 1 > maxSize { throw ElementTooLarge(maxSize: maxSize) }
        } else if name.elementsEqual("event".utf8) {
            type = String(decoding: value, as: UTF8.self)
        } else if name.elementsEqual("id".utf8) {
            if !value.contains(0) { id = String(decoding: value, as: UTF8.self) }
        } else if name.elementsEqual("retry".utf8) {
            let isNumber = !value.isEmpty && value.allSatisfy(\.isDigit)
            // A number that is too large for an Int counts as the largest Int.
            if isNumber { retry = Int(String(decoding: value, as: UTF8.self)) ?? .max }
        }
    }

    private mutating func dispatch(into events: inout [ServerSentEvent]) {
        lastEventID = id
        defer {
            data.removeAll(keepingCapacity: data.capacity <= 65_536)
            type = ""
        }
        guard !data.isEmpty else { return }
        let text = String(decoding: data.dropLast(), as: UTF8.self)
        events.append(ServerSentEvent(type: type.isEmpty ? "message" : type, data: text, lastEventID: lastEventID ?? "", source: source))
    }
}
