import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Charsets of text")
struct CharsetTests {
    private func response(_ type: String, _ body: Data) -> APIResponse {
        APIResponse(to: PreparedRequest(.get, example), headers: ["Content-Type": type], data: body)
    }

    @Test(
        "Text is read by its charset, which is UTF-8 unless the Content-Type has another",
        arguments: [
            ("text/plain", Data("né".utf8)), ("text/plain; charset=UTF-8", Data("né".utf8)), ("text/plain; charset=", Data("né".utf8)),
            ("text/plain; charset=\"utf-8\"", Data("né".utf8)), ("text/plain; charset='utf-8'", Data("né".utf8)),
            ("text/plain; CHARSET=ISO-8859-1", Data([0x6E, 0xE9])), ("text/plain;charset=latin1", Data([0x6E, 0xE9])),
            ("text/plain; x=\"a;charset=b\"; charset=latin1", Data([0x6E, 0xE9])), ("text/a, text/b; charset=l1", Data([0x6E, 0xE9])),
            ("text/plain; charset=utf-8, text/plain", Data("né".utf8)), ("text/a; charset=l1, text/b", Data("né".utf8)),
            ("text/a; charset=utf-8, text/a; charset=l1", Data([0x6E, 0xE9])), ("text/a; charset=l1, Text/A; x=y", Data([0x6E, 0xE9])),
            ("text/a; charset=l1, */*; charset=utf-8", Data([0x6E, 0xE9])), ("text/a; charset=l1, a b/c, text", Data([0x6E, 0xE9])),
            ("text/a; charset=l1, text/b, text/a", Data("né".utf8)), ("text/a; charset=l1, text/a; charset=", Data([0x6E, 0xE9])),
            ("text/a; charset=; charset=l1", Data([0x6E, 0xE9])), ("text/a; charset='', text/a", Data("né".utf8)),
            ("text/plain; charset=utf-8; charset=l1", Data("né".utf8)),
            ("text/plain; charset=windows-1252", Data([0x6E, 0xE9])), ("text/plain; charset=utf-16le", Data([0x6E, 0, 0xE9, 0])),
            ("text/plain; charset=utf-16be", Data([0, 0x6E, 0, 0xE9])), ("text/plain; charset=UTF-16", Data([0, 0x6E, 0, 0xE9])),
            ("text/plain; charset=UTF-16", Data([0xFF, 0xFE, 0x6E, 0, 0xE9, 0])),
            ("text/plain; charset=UTF-16", Data([0xFE, 0xFF, 0, 0x6E, 0, 0xE9])),
        ] as [(String, Data)])
    func charset(type: String, body: Data) throws {
        #expect(try response(type, body).decode(String.self) == "né")
    }

    @Test("The media type of an error body is the last one, too", arguments: ["text/html, text/plain", "text/plain, */*", "text/plain;x"])
    func message(type: String) throws {
        let response = APIResponse(
            to: PreparedRequest(.get, example), statusCode: 400, headers: ["Content-Type": type], data: Data("No.".utf8))
        #expect(APIError.unacceptableStatus(response).description.contains("\"No.\""))
    }

    @Test(
        "Charsets of the web are read as Foundation knows them",
        arguments: [
            ("ISO-8859-2", [0xAE, 0x6C, 0x75, 0xBB], "Žluť"),
            ("iso-8859-5", [0xBC, 0xD8, 0xE0], "Мир"),
            ("iso-8859-15", [0x31, 0x20, 0xA4], "1 €"),
            ("ISO-8859-16", [0xAA], "Ș"),
            ("windows-1250", [0x8E, 0x6C, 0x75, 0x9D], "Žluť"),
            ("windows-1251", [0xCC, 0xE8, 0xF0], "Мир"),
            ("cp1251", [0xCC, 0xE8, 0xF0], "Мир"),
            ("windows-1256", [0xD3, 0xE1, 0xC7, 0xE3], "سلام"),
            ("Shift_JIS", [0x93, 0xFA, 0x96, 0x7B, 0x5C], "日本\\"),
            ("ISO-2022-JP", [0x1B, 0x24, 0x42, 0x46, 0x7C, 0x4B, 0x5C, 0x1B, 0x28, 0x42], "日本"),
            ("gb2312", [0xD6, 0xD0, 0xCE, 0xC4], "中文"),
            ("GBK", [0xD6, 0xD0, 0xCE, 0xC4, 0x9C, 0x79], "中文測"),
            ("gb18030", [0xD6, 0xD0, 0xCE, 0xC4, 0xA2, 0xE3], "中文€"),
            ("Big5", [0xA4, 0xA4, 0xA4, 0xE5], "中文"),
            ("EUC-KR", [0xC7, 0xD1, 0xB1, 0xB9], "한국"),
            ("KOI8-R", [0xED, 0xC9, 0xD2], "Мир"),
            ("macintosh", [0x47, 0x72, 0x9F, 0xA7, 0x65], "Grüße"),
            ("IBM866", [0x8C, 0xA8, 0xE0], "Мир"),
        ] as [(String, [UInt8], String)])
    func foundation(name: String, bytes: [UInt8], text: String) throws {
        #expect(try response("text/html; charset=\(name)", Data(bytes)).decode(String.self) == text)
    }

    @Test(
        "Text that does not fit its charset, or whose charset is not known, is an error that names it",
        arguments: [
            ("text/plain", Data([0xEE, 0xD8]), "it is not utf-8 text, or has characters that this system cannot read"),
            ("text/plain; charset=utf-16", Data([0xEE, 0xD8, 0xC1]), "it is not utf-16 text"),
            ("text/plain; charset=big5", Data([0xA4]), "it is not big5 text"),
            // The bytes happen to be UTF-8.
            ("text/plain; charset=x-unknown", Data("né".utf8), "its charset x-unknown is not known here; read it as Data"),
            ("text/plain; charset=iso-8859-12", Data("né".utf8), "its charset iso-8859-12 is not known here"),
            ("text/plain; charset=euc-jp; x=y", Data([0xA4]), "it is not euc-jp text"),
        ] as [(String, Data, String)])
    func wrongCharset(type: String, body: Data, reason: String) throws {
        let error = try #require(throws: APIError.self) { try response(type, body).decode(String.self) }
        #expect(error.description.contains("returned 200, but the body is not String: \(reason)"), "\(error)")
    }

    @Test("A name of a charset has up to 40 bytes, and a longer one is cut", arguments: [(40, "x"), (41, "…"), (10_000, "…")])
    func longName(length: Int, end: String) throws {
        let name = String(repeating: "x", count: length)
        let error = try #require(throws: APIError.self) { try response("a/b; charset=\(name)", Data("a".utf8)).decode(String.self) }
        let shown = String(repeating: "x", count: 40 - end.utf8.count) + end
        #expect(error.description.contains("its charset \(shown) is not known here"), "\(error)")
    }
}
