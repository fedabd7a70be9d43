import Foundation

/// Server-sent events (WHATWG HTML standard, section 9.2).
///
/// ```swift
/// let events = try await provider.request(Endpoint<ServerSentEvents>(.get, "/events"))
///     .value
/// for try await event in events { print(event.type, event.data) }
/// ```
///
/// The request has the header `Cache-Control: no-cache`, unless the endpoint sets that header. A 204 is a stream without events.
///
/// ### Other responses
///
/// The request fails
///
/// - with ``APIError/unacceptableStatus(_:)`` if the status is neither 200 nor 204;
/// - with ``APIError/decoding(_:expected:underlying:)`` if the `Content-Type` is not `text/event-stream`. Without a `Content-Type`, or with
///   `text/event-stream` among several, the body is read as events.
///
/// The second error's response contains a JSON body, or a body of known length. If that body does not end before the timeout, or exceeds
/// ``RequestOptions/maxElementSize``, the request fails with ``APIError/transport(_:underlying:)``.
///
/// ### Errors while you read
///
/// Reading throws ``ByteStream``'s errors, and ``APIError/transport(_:underlying:)`` for too large an event.
public struct ServerSentEvents: StreamedResponse {
    /// `text/event-stream`.
    public static var mediaType: String? { eventStream }
    static let eventStream = "text/event-stream"

    private let bytes: ByteStream

    /// Creates the events in `bytes`. Their data is decoded by `decoder`.
    ///
    /// - Throws: ``APIError/unacceptableStatus(_:)`` or ``APIError/decoding(_:expected:underlying:)`` for a response without events.
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
    public func makeAsyncIterator() -> StreamIterator<ServerSentEvent> { makeReader(resumingFrom: nil).events }

    /// An iterator, and a closure that returns what the server has set by now.
    typealias Reader = (events: StreamIterator<ServerSentEvent>, settings: () -> (lastEventID: String?, retry: Int?))

    /// - Parameter lastEventID: The previous stream's identifier, which counts until this stream sets another.
    func makeReader(resumingFrom lastEventID: String?) -> Reader {
        var parser = EventParser(response: bytes.response, maxSize: bytes.maxElementSize, lastEventID: lastEventID)
        // An event without a blank line after it is dropped.
        let events = StreamIterator<ServerSentEvent>(bytes, includesUnterminatedLine: false) { try parser.parse($0, into: &$1) }
        return (events, { (parser.lastEventID, parser.retry) })
    }
}

// MARK: - Parsing

/// Interprets an event stream (WHATWG HTML, section 9.2.6).
struct EventParser {
    private let source: ServerSentEvent.Source
    private let maxSize: Int
    private var type = ""
    private var data: [UInt8] = []
    private var id: String?
    /// The last identifier set by a whole event, even without data; `nil` without one.
    private(set) var lastEventID: String?
    /// The server's time to wait before the next request, in milliseconds, if any.
    private(set) var retry: Int?

    init(response: APIResponse, maxSize: Int, lastEventID: String? = nil) {
        (source, self.maxSize, id, self.lastEventID) = (ServerSentEvent.Source(response), maxSize, lastEventID, lastEventID)
    }

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
            // A number too large for an Int counts as the largest Int.
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
