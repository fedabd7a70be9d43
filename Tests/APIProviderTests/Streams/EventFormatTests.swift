import APIProvider
import Foundation
import TestSupport
import Testing

/// What a server may send, and the type, the data and the last identifier of each event.
private let cases: [(name: String, text: String, events: [(String, String, String)])] = [
    ("two events", "data: a\n\ndata: b\n\n", [("message", "a", ""), ("message", "b", "")]),
    ("lines end in CR", "data: a\rdata: b\r\rdata: c\r\r", [("message", "a\nb", ""), ("message", "c", "")]),
    ("the ends are mixed", "data: a\r\ndata: b\rdata: c\n\r\n", [("message", "a\nb\nc", "")]),
    ("a byte order mark at the beginning is dropped", "\u{FEFF}data: a\n\n", [("message", "a", "")]),
    ("a second byte order mark is text", "\u{FEFF}\u{FEFF}data: a\n\ndata: b\n\n", [("message", "b", "")]),
    ("a byte order mark alone on the first line is a blank line", "\u{FEFF}\ndata: a\n\n", [("message", "a", "")]),
    ("one space after the first colon is dropped", "data:  a\ndata:\tb: \ndata:c \n\n", [("message", " a\n\tb: \nc ", "")]),
    ("data without a colon is an empty line", "data\n\n", [("message", "", "")]),
    ("data with nothing after the colon is an empty line", "data:\ndata: a\n\n", [("message", "\na", "")]),
    ("a line that begins with a colon is a comment", ": hello\n:\ndata: a\n:data: b\n\n", [("message", "a", "")]),
    ("other fields are ignored", "foo: a\ndata: b\ndatas: c\nDATA: d\n data: e\ndata : f\n\n", [("message", "b", "")]),
    ("an event has a type", "event: add\ndata: a\n\ndata: b\n\n", [("add", "a", ""), ("message", "b", "")]),
    ("an empty type means a message", "event: a\nevent:\ndata: x\n\n", [("message", "x", "")]),
    ("a type ends with its event, also with one without data", "event: a\n\ndata: x\n\n", [("message", "x", "")]),
    ("no data is no event", "event: a\nid: 1\n\n", []),
    ("blank lines are no events", "\n\n\r\r\r\n\r\n", []),
    ("an identifier stays", "id: 1\ndata: a\n\ndata: b\n\n", [("message", "a", "1"), ("message", "b", "1")]),
    ("an empty identifier resets it", "id: 1\ndata: a\n\nid\ndata: b\n\n", [("message", "a", "1"), ("message", "b", "")]),
    ("an identifier without data counts for the next event", "id: 1\n\ndata: a\n\n", [("message", "a", "1")]),
    ("an identifier after the data counts", "data: a\nid: 7\n\n", [("message", "a", "7")]),
    ("an identifier with NUL is ignored", "id: 1\ndata: a\n\nid: 2\u{0}3\ndata: b\n\n", [("message", "a", "1"), ("message", "b", "1")]),
    ("NUL in data is text", "data: a\u{0}b\n\n", [("message", "a\u{0}b", "")]),
    ("an event without a blank line after it is dropped", "data: a\n\ndata: b\n", [("message", "a", "")]),
]

/// Each way of handing over the bytes of `text` in two pieces, each byte alone, and all at once.
private func cuts(of text: String) -> [[ArraySlice<UInt8>]] {
    let bytes = Array(text.utf8)
    let pairs = bytes.indices.map { [bytes[..<$0], bytes[$0...]] }
    return pairs + [bytes.indices.map { bytes[$0...$0] }, [bytes[...]]]
}

@Suite("Server-sent events")
struct EventFormatTests {
    @Test("Events are read as the standard says, wherever their bytes are cut", arguments: cases)
    func events(name: String, text: String, events: [(String, String, String)]) async throws {
        let expected = events.map { ServerSentEvent(type: $0, data: $1, lastEventID: $2) }
        for chunks in cuts(of: text) {
            #expect(try await streamed(chunks, maxElementSize: .max).all() == expected, "\(name): \(chunks.map(Array.init))")
        }
    }

    private func streamed(_ chunks: [some Sequence<UInt8>], maxElementSize: Int? = nil) throws -> ServerSentEvents {
        let bytes = streamedResponse(chunks, type: "text/event-stream", maxElementSize: maxElementSize)
        return try ServerSentEvents(bytes, decoder: JSONDecoder())
    }

    @Test("Bytes that are not UTF-8 become replacement characters")
    func invalid() async throws {
        let stream = try streamed([Array("data: a".utf8) + [0xC3, 0x28, 0xFF] + Array("\n\n".utf8)])
        #expect(try await stream.all().map(\.data) == ["a\u{FFFD}(\u{FFFD}"])
    }

    @Test(
        "A stream of events has the media type text/event-stream, among others, or none; another is an error that says which",
        arguments: [
            ("TEXT/Event-Stream", nil), (" text/event-stream ; x=y", nil), ("text/event-stream;", nil), (nil, nil), ("", nil),
            ("text/html; charset=utf-8, text/event-stream; charset=utf-8", nil), ("text/event-stream,application/json", nil),
            ("text/html; charset=utf-8", "text/html; charset=utf-8"), ("text/event-streams", "text/event-streams"),
        ] as [(String?, String?)])
    func types(_ type: String?, refused: String?) throws {
        let response = streamedResponse([Data()], type: type).response
        guard let refused else {
            _ = try Endpoint<ServerSentEvents>(.get, "/stream").value(of: response)
            return
        }
        let error = #expect(throws: APIError.self) { try Endpoint<ServerSentEvents>(.get, "/stream").value(of: response) }
        #expect(
            error?.description
                == "GET https://api.example.com returned 200, but its Content-Type is \(refused), and not that of ServerSentEvents.")
    }

    @Test("Only 200 is the status of a stream of events, and a 204 is one without events", arguments: [201, 204, 206, 404])
    func otherStatus(status: Int) async throws {
        let bytes = streamedResponse([Data()], type: status == 204 ? nil : "text/event-stream", status: status)
        let stream = Result { try ServerSentEvents(bytes, decoder: JSONDecoder()) }
        if status == 204 {
            #expect(try await stream.get().all().isEmpty)
        } else {
            let error = #expect(throws: APIError.self) { try stream.get() }
            #expect(error?.description.contains("failed: \(status)") == true, "\(String(describing: error))")
        }
    }

    @Test("A request for events bypasses caches, unless its headers say otherwise; other streams do not")
    func headers() {
        #expect(Endpoint<ServerSentEvents>(.get, "/events").headers["Accept"] == "text/event-stream")
        #expect(Endpoint<JSONLines<Item>>(.get, "/items").headers["Accept"] == "application/x-ndjson")
        #expect(Endpoint<ServerSentEvents>(.get, "/events").headers["Cache-Control"] == "no-cache")
        #expect(Endpoint<ServerSentEvents>(.get, "/events", headers: ["cache-control": "no-store"]).headers["Cache-Control"] == "no-store")
        #expect(Endpoint<TextLines>(.get, "/log").headers["Cache-Control"] == nil)
    }

    @Test("The size of an event is limited by maxElementSize")
    func limit() async throws {
        var events = try streamed(["data: 1234\n\ndata: 12345\ndata: 67890\n\n".utf8], maxElementSize: 10).makeAsyncIterator()
        #expect(try await events.next()?.data == "1234")
        let error = await #expect(throws: APIError.self) { try await events.next() }
        #expect(error?.urlError?.code == .dataLengthExceedsMaximum)
        #expect(error?.description.contains("maxElementSize of 10 bytes") == true, "\(String(describing: error))")
        #expect(try await events.next() == nil)
    }

    @Test("After a cancel no event comes, even if it is there already")
    func cancelled() async throws {
        let (stream, read) = (try streamed(["data: 1\n\ndata: 2\n\n".utf8]), Log<String>())
        let task = Task {
            for try await event in stream {
                read.append(event.data)
                withUnsafeCurrentTask { $0?.cancel() }
            }
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(read.entries == ["1"])
    }

    @Test("An event decodes its data with the decoder of the stream, or of the response")
    func decoding() async throws {
        struct Delta: Decodable, Equatable {
            let word: String
            let time: Date
        }
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let text = "data: {\"word\":\"a\",\"time\":9}\n\ndata: {\"word\":null,\"time\":9}\n\n"
        func response() -> ByteStream { streamedResponse([text.utf8], type: "text/event-stream") }
        let events = try await ServerSentEvents(response(), decoder: decoder).all()
        let same = try await Endpoint<ServerSentEvents>(.get, "/").value(of: response().response.with(decoder: decoder)).all()
        for event in [events[0], same[0]] {
            #expect(try event.decode(Delta.self) == Delta(word: "a", time: Date(timeIntervalSince1970: 9)))
        }
        let latin = streamedResponse(["data: é\n\n".utf8], type: "text/event-stream; charset=iso-8859-1")
        let accented = try await ServerSentEvents(latin, decoder: decoder).all()[0]
        #expect(try accented.decode(String.self) == "é" && accented.decode(String?.self) == "é")
        let error = #expect(throws: APIError.self) { try events[1].decode(Delta.self) }
        let description = try #require(error).description
        #expect(description.contains("the event is not EventFormatTests.Delta: expected String at word"), "\(description)")
    }
}
