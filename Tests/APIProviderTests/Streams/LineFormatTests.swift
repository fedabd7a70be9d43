import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Lines and JSON lines")
struct LineFormatTests {
    @Test(
        "Lines end in LF, CR and CRLF, wherever their bytes are cut",
        arguments: [
            ("a\nb\n", ["a", "b"]), ("a\r\nb\rc", ["a", "b", "c"]), ("\n\na", ["", "", "a"]), ("a\r\r\nb", ["a", "", "b"]), ("", []),
            ("\u{FEFF}a\n\u{FEFF}b", ["a", "\u{FEFF}b"]), ("\r\n", [""]), ("한\u{2028}\n", ["한\u{2028}"]),
        ])
    func lines(_ text: String, _ expected: [String]) async throws {
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            let lines = try TextLines(streamedResponse([bytes[..<cut], bytes[cut...]]), decoder: JSONDecoder())
            #expect(try await lines.all() == expected, "cut at \(cut)")
        }
    }

    @Test(
        "The lines of another charset than UTF-8 are an error that names it, before any is read",
        arguments: ["ISO-8859-1", "utf-16", "x-é"])
    func otherCharset(charset: String) throws {
        let bytes = streamedResponse(["a\n".utf8], type: "text/plain; charset=\(charset)")
        let error = #expect(throws: APIError.self) { try Endpoint<TextLines>(.get, "/log").value(of: bytes.response) }
        #expect(error?.description.hasSuffix("its Content-Type is text/plain; charset=\(charset), and not that of TextLines.") == true)
        let whole = APIResponse(
            to: PreparedRequest("GET"), headers: ["Content-Type": "text/plain; charset=\(charset)"], data: Data("a".utf8))
        let same = #expect(throws: APIError.self) { try Endpoint<TextLines>(.get, "/log").value(of: whole) }
        #expect(same?.description.contains("its charset \(charset) is not UTF-8; read it as a String or a ByteStream") == true)
    }

    @Test(
        "Lines are read as UTF-8 with each name of it, and without one",
        arguments: ["text/plain", "a/b; charset=\"Utf-8\"", "a/b;charset=us-ascii"])
    func utf8(type: String) async throws {
        let lines = try Endpoint<TextLines>(.get, "/log").value(of: streamedResponse(["é\n".utf8], type: type).response)
        #expect(try await lines.all() == ["é"])
    }

    @Test("Random texts have the same lines, however they are cut")
    func random() async throws {
        var generator = SeededGenerator(seed: 7)
        for _ in 0..<rounds(100) {
            let text = (0..<6).map { _ in ["a", "\r", "\n", "\r\n", "한", ":", "data: ", ""].randomElement(using: &generator)! }.joined()
            let bytes = Array(text.utf8)
            let cuts = (0..<3).map { _ in Int.random(in: 0...bytes.count, using: &generator) }.sorted()
            let chunks = zip([0] + cuts, cuts + [bytes.count]).map { bytes[$0..<$1] }

            let whole = try await TextLines(streamedResponse([bytes]), decoder: JSONDecoder()).all()
            #expect(
                try await TextLines(streamedResponse(chunks), decoder: JSONDecoder()).all() == whole, "\(text.debugDescription) \(cuts)")
            let unified = text.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
            #expect(whole.joined(separator: "\n") == (unified.hasSuffix("\n") ? String(unified.dropLast()) : unified))
        }
    }

    @Test("JSON lines end in LF or CRLF, wherever their bytes are cut, and the decoder decodes them")
    func jsonLines() async throws {
        struct Row: Decodable { let userName: String }
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let text = "{\"user_name\":\"a\"}\n\r\n\n{\"user_name\":\r\"\u{2028}\"}\r\n\u{1E}{\"user_name\":\"c\"}"
        let bytes = Array(text.utf8)
        for cut in 0...bytes.count {
            let lines = JSONLines<Row>(streamedResponse([bytes[..<cut], bytes[cut...]]), decoder: decoder)
            #expect(try await lines.all().map(\.userName) == ["a", "\u{2028}", "c"])
        }
    }

    @Test("A line that does not decode is named in the error, which ends the stream")
    func undecodable() async throws {
        let text = "{\"id\":1,\"name\":\"a\"}\n\n{\"id\":2,\"name\":null}\n{\"id\":3,\"name\":\"c\"}\n"
        var lines = JSONLines<Item>(streamedResponse([text.utf8], type: "application/x-ndjson"), decoder: JSONDecoder()).makeAsyncIterator()
        #expect(try await lines.next() == Item(id: 1, name: "a"))
        let error = await #expect(throws: APIError.self) { try await lines.next() }
        let reason = "line 3 is not Item: expected String at name, found null (application/x-ndjson, 20 bytes)."
        #expect(error?.description == "GET https://api.example.com returned 200, but \(reason)")
        #expect(try await lines.next() == nil)
    }

    @Test("Events, lines and JSON lines have one iterator, also under each type's own name for it")
    func oneIterator() {
        #expect(ServerSentEvents.AsyncIterator.self == StreamIterator<ServerSentEvent>.self)
        #expect(TextLines.AsyncIterator.self == StreamIterator<String>.self)
        #expect(JSONLines<Item>.AsyncIterator.self == StreamIterator<Item>.self)
    }

    @Test("The size of a line is limited by maxElementSize")
    func limit() async throws {
        let bytes = streamedResponse(["1234\n12", "345"].map(\.utf8), maxElementSize: 4)
        var lines = try TextLines(bytes, decoder: JSONDecoder()).makeAsyncIterator()
        #expect(try await lines.next() == "1234")
        let error = await #expect(throws: APIError.self) { try await lines.next() }
        #expect(error?.urlError?.code == .dataLengthExceedsMaximum)
    }

    @Test("The lines before an error are read first")
    func error() async throws {
        let broken = APIError.transport(PreparedRequest(.get, example), underlying: URLError(.networkConnectionLost))
        var lines = try TextLines(streamedResponse(["a\nb".utf8], then: broken), decoder: JSONDecoder()).makeAsyncIterator()
        #expect(try await lines.next() == "a")
        let error = await #expect(throws: APIError.self) { try await lines.next() }
        #expect(error?.urlError?.code == .networkConnectionLost)
        #expect(try await lines.next() == nil)
    }
}
