import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProvider

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "Each word of six characters and more that has a digit is left out, and nothing else",
        arguments: [
            ("Bad credentials", "Bad credentials"), ("password: is required", "password: is required"),
            ("12345 is short, 123456 is not", "12345 is short, … is not"), ("a1b2c is short, a1b2c3 is not", "a1b2c is short, … is not"),
            ("Incorrect API key provided: sk-proj-abcd1234efgh5678.", "Incorrect API key provided: …"),
            ("user (hunter2), \"hunter2\"\tand\u{a0}hunter2\n", "user … …\tand\u{a0}…\n"),
            ("token=wJalrXUtnFEMI/K7MDENG and ABCD-1234-EFGH-5678", "… and …"), ("see https://u:p@h:8080/reset?t=1 now", "see … now"),
            ("see https://u:p@example.com/reset?token=letters now", "see https://example.com/reset?token=… now"),
            (#"got {"value":"a1b2c3"} here"#, "got … here"), ("parol\u{663}x, ABC-\u{FF11}23", "… …"), ("", ""),
            ("パスワードが必要です", "パスワードが必要です"), ("six-letters", "six-letters"),
        ])
    func words(text: String, shown: String) {
        #expect(Redactor().message(text) == shown)
        #expect(Redactor(.none).message(text) == text)
    }

    @Test(
        "The server's words are the first text under a known name, or one line of plain text",
        arguments: [
            (#"{"title":"t","detail":"d","error_description":"e","message":"m"}"#, "application/json", "m"),
            (#"{"title":"t","detail":"d","error_description":"e"}"#, "", "e"), (#"{"error":"e","title":"t","detail":"d"}"#, "", "d"),
            (#"{"error":"e","title":"t"}"#, "", "t"), (#"{"errors":["a"],"error":"e"}"#, "", "e"),
            (#"{"error":{"type":"x","message":"m"}}"#, "text/html", "m"), (#"{"message":["a","b"]}"#, "", "a"),
            (#"{"errors":[{"code":7,"message":"m"},{"message":"n"}]}"#, "", "m"), (#"{"errors":{"b":["x"],"a":["y"]}}"#, "", "y"),
            (#"{"message":" \n","error":{"code":1},"errors":{"a":"b","c":[{"d":"e"}],"f":["g"]}}"#, "", "g"),
            (#"{"message":"a\nb\u001b[2J a1b2c3"}"#, "", "a b [2J …"), (#"{"msg":"m","code":"c","reason":{"message":"m"}}"#, "", nil),
            (#"["a"]"#, "text/plain", nil), (#"{"token":"abcdef"}"#, "text/plain", nil), ("a", "Text/Plain; charset=utf-8", "a"),
            ("a\n", "text/plain", "a"), ("a\nb", "text/plain", nil), ("a", "", nil), ("a", "text/html", nil), ("message=a", "", nil),
            (#"{"message":"a"#, "application/json", nil), ("", "text/plain", nil), ("\u{FEFF}{\"message\":\"m\"}", "", "m"),
        ] as [(String, String, String?)])
    func serverMessages(body: String, type: String, shown: String?) {
        let response = APIResponse(to: PreparedRequest("GET"), headers: ["Content-Type": type], data: Data(body.utf8))
        #expect(Redactor().message(of: response) == shown)
    }

    @Test("A message in a deep or long body is found in no time, or not at all", tenMinutes)
    func longMessages() {
        func message(_ body: String) -> String? { Redactor().message(of: APIResponse(to: PreparedRequest("GET"), data: Data(body.utf8))) }
        #expect(message(String(repeating: #"{"error":"#, count: 400) + #"{"message":"m"}"# + String(repeating: "}", count: 400)) == "m")
        #expect(message(#"{"message":"\#(String(repeating: "a", count: 1 << 20))"}"#) == nil)
        #expect(message(#"{"message":"\#(String(repeating: "é", count: 300))"}"#) == String(repeating: "é", count: 98) + "…")
    }

    @Test("The size of a body comes with its media type")
    func size() {
        #expect(Redactor().size(5120, type: "Text/HTML; charset=utf-8") == "(text/html, 5,120 bytes)")
        #expect(Redactor().size(1, type: nil) == "(1 byte)")
    }

    @Test("A segment that a request calls secret is left out of its URL, alone or as a part, and no other is")
    func secrets() throws {
        for (path, shown) in [
            ("/bot\(secret: "7:ab")/x", "/bot…/x"), ("/\(secret: "Z")/Zebra", "/…/Zebra"), ("/\(secret: "é/ü")", "/…"),
            ("/a\(secret: "letters")/b", "/a…/b"),
        ] as [(RequestPath, String)] {
            let request = try Endpoint<Void>(.get, path, query: ["q": "letters"]).preparedRequest(relativeTo: example)
            #expect(Redactor(for: request).line(of: request) == "GET https://api.example.com\(shown)?q=…")
            #expect("\(path)" == shown)
            var other = request
            other.headers["Accept"] = "letters"
            #expect(other.curlCommand().contains("https://api.example.com\(shown)?q="))
        }
        let request = try Endpoint<Void>(.get, "/\(secret: "letters")/a").preparedRequest(relativeTo: example)
        #expect(Redactor(for: request).message("no letters at /letters/a") == "no … at /…/a")
        #expect(Redactor(for: request).header("Accept", "letters") == "…")
        #expect(Redactor(.none, for: request).line(of: request) == "GET https://api.example.com/letters/a")
    }

    @Test(
        "The text of a form is decoded as the WHATWG URL standard says (5.1)",
        arguments: [
            ("a+b%20c", "a b c"), ("%zz%41", "%zzA"), ("100%&", "100%&"), ("%4", "%4"), ("%C3%A9%FF", "é\u{FFFD}"),
            ("%F0%9F%98", "\u{FFFD}"), ("%-0%-f", "%-0%-f"), ("%EF%BB%BFa", "\u{FEFF}a"), ("é%2B", "é+"), ("", ""), ("%2525", "%25"),
        ])
    func form(text: String, decoded: String) { #expect(Array(text.formDecoded.unicodeScalars) == Array(decoded.unicodeScalars)) }

    @Test("A secret that begins as another does is hidden whole")
    func nestedSecrets() throws {
        // Enough that no order of a dictionary is right by chance.
        let pairs = (10..<40).map { ("supersecret\($0)", "supersecret\($0)word") }
        for (short, long) in pairs {
            let request = try Endpoint<Void>(.get, "/\(secret: short)/\(secret: long)").preparedRequest(relativeTo: example)
            #expect(Redactor(for: request).message("no \(long) at \(short)") == "no … at …")
        }
    }

    @Test("Secrets of a request stay secret, whatever a closure or a middleware makes of the request", arguments: [false, true])
    func keptSecrets(isMiddleware: Bool) async throws {
        let change: @Sendable (inout PreparedRequest) -> Void = { request in
            request.urlRequest.mainDocumentURL = example
            request.timeoutInterval = 5
        }
        let sent = Log<PreparedRequest>()
        let transport = ClosureTransport { request in
            sent.append(request)
            return .error(APIError.transport(request, underlying: URLError(.badServerResponse)))
        }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: transport, middlewares: isMiddleware ? [Changing(change: change)] : [])
        let request = Endpoint<Data>(.get, "/\(secret: "s3cret")/a", body: .data(Data("body".utf8), contentType: "a/b"))
        let error = try await #require(throws: APIError.self) {
            try await provider.request(isMiddleware ? request : request.adapting(change)).value
        }
        #expect(error.description.hasPrefix("GET https://api.example.com/…/a failed"), "\(error)")
        #expect(sent.entries.map(\.timeoutInterval) == [5])
    }

    private struct Changing: Middleware {
        let change: @Sendable (inout PreparedRequest) -> Void

        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            var request = request
            change(&request)
            return next(request)
        }
    }
}
