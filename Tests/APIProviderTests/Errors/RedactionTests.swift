import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProvider
@testable import APIProviderTransport

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "A word with letters and digits of at least 12 characters is left out, and a number of more than seven digits, and nothing else",
        arguments: [
            ("Bad credentials", "Bad credentials"),
            ("at least 8 of 1234567 or 12,345,678, not 12345678", "at least 8 of 1234567 or 12,345,678, not …"),
            ("abcdefghij1 is short, abcdefghijk1 is not", "abcdefghij1 is short, … is not"), ("abcdefghijkl", "abcdefghijkl"),
            ("Incorrect API key provided: sk-proj-abcd1234efgh5678.", "Incorrect API key provided: …."),
            ("user (hunter2hunter2), \"hunter2hunter2\"\tand\u{a0}hunter2hunter2\n", "user (…), \"…\"\tand\u{a0}…\n"),
            ("token=wJalrXUtnFEMI/K7MDENG and ABCD-1234-EFGH-5678", "… and …"), ("card 4111-1111-1111-1111", "card …"),
            ("see (https://u:p@h:8080/reset?t=1 now", "see (https://h:8080/reset?t=… now"),
            ("see https://u:p@example.com/reset/abcdefghijk1/2?token=letters now", "see https://example.com/reset/…/2?token=… now"),
            ("Cannot GET /api/v1/users/12345/keys/abcdefghijk1?a=b", "Cannot GET /api/v1/users/12345/keys/…?a=…"),
            ("token=abcdefghijk1,https://h/a and https://h:80,token=abcdefghijk1", "…,https://h/a and https://…"),
            (#"{token="abcdefghijk1",url="https://u:p@h/"}"#, #"{…="https://h/"}"#),
            ("url=https://h/?t=letters or h/a?t=letters&u=https://h", "url=https://h/?t=… or h/a?t=…&u=…"),
            (
                "2026-03-01T10:00:00.000+00:00 to 2026-03-01, 14-Jun-26 05:00:00",
                "2026-03-01T10:00:00.000+00:00 to 2026-03-01, 14-Jun-26 05:00:00"
            ),
            ("`gpt-4o-mini-2024-07-18` of API 2022-11-28, v1.2.3", "`gpt-4o-mini-2024-07-18` of API 2022-11-28, v1.2.3"),
            ("max_tokens=100000 > 8192, items[12].purchase_price: -5%", "max_tokens=100000 > 8192, items[12].purchase_price: -5%"),
            (#"got {"value":"a1b2c3d4e5"} here"#, #"got {"…"} here"#), ("parolparol\u{663}x, ABCDEF-\u{FF11}2345", "…, …"), ("", ""),
            ("パスワードが12文字より短いです", "パスワードが12文字より短いです"), ("鍵はabcdefghijk1です", "鍵は…です"),
        ])
    func words(text: String, shown: String) {
        #expect(Redactor().message(text) == shown)
        #expect(Redactor(.none).message(text) == text)
    }

    @Test(
        "A word that the request has sent as a credential is left out of a message, and others that it has sent are not",
        arguments: [
            ("?page=second&api_key=letters", [:], "no letters on the second page", "no … on the second page"),
            ("?key=a%2Bletters", [:], "no a+letters", "no …"), ("", ["Authorization": "Bearer letters"], "Bearer letters", "Bearer …"),
            ("", ["X-Api-Key": "letters"], "no letters", "no …"), ("", ["Cookie": "a=letters; b=c"], "no letters", "no …"),
            ("", ["Cookie": "session=letters; theme=dark"], "Your session letters", "Your session …"),
            ("", ["Authorization": "Digest username=\"letters\", qop=auth"], "no username letters", "no username …"),
            ("", ["Authorization": "Basic letters=="], "no letters", "no …"),
            ("", ["Authorization": "Bearer letters=alphabet"], "no letters=alphabet", "no …=…"),
            ("", ["Cookie": "a=letters,alphabet=x"], "no letters or alphabet", "no … or …"),
            ("?q=letters", ["X-Kind": "letters"], "no letters", "no letters"), ("?key=abc", [:], "no abc", "no abc"),
        ] as [(String, HTTPHeaders, String, String)])
    func credentials(query: String, headers: HTTPHeaders, text: String, shown: String) {
        let request = PreparedRequest("GET", "https://api.example.com/\(query)", headers: headers)
        #expect(Redactor(for: request).message(text) == shown)
    }

    @Test("If a middleware sends the request of another endpoint, the secrets of both are hidden")
    func otherEndpoint() async throws {
        struct Replacing: Middleware {
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                let other = Endpoint<Data>(.get, "/inner/\(secret: "inner-letters")/of/outer-letters")
                return .deferred { next(try other.preparedRequest(relativeTo: example, encoder: JSONEncoder(), mediaType: nil)) }
            }
        }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { _ in .error(URLError(.timedOut)) }, middlewares: [Replacing()])
        let request = Endpoint<Data>(.get, "/outer/\(secret: "outer-letters")")
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect("\(error)".contains("/inner/…/of/…") && !"\(error)".contains("letters"), "\(error)")
    }

    @Test(
        "The server's words are those about the whole, and then those about its parts",
        arguments: [
            (#"{"title":"t","detail":"d","error_description":"e","message":"m"}"#, "application/json", "m"),
            (#"{"title":"t","detail":"d","error_description":"e"}"#, "", "e"),
            (#"{"error":"two words","title":"t","detail":"d"}"#, "", "d"),
            (#"{"error":"code","detail":"d"}"#, "", "code: d"), (#"{"ErrorMessage":"e"}"#, "", "e"), (#"{"error-summary":"e"}"#, "", "e"),
            (#"{"errors":["a"],"error":"e"}"#, "", "e (a)"), (#"{"errors":["a","b","a","c","d"]}"#, "", "a; b; c"),
            (#"{"error":{"type":"x","message":"m"}}"#, "text/html", "m"), (#"{"message":["a","b"]}"#, "", "a; b"),
            (#"{"errors":[{"code":7,"message":"m"},{"message":"n"}]}"#, "", "m (7); n"),
            (#"{"message":"m.","code":7,"errors":[{"field":"f","code":"missing"}]}"#, "", "m (7; f missing)"),
            (#"{"errors":{"b":["x"],"a":["y"]}}"#, "", "a: y; b: x"), (#"{"message":"m","code":200}"#, "", "m"),
            (#"{"message":" \n","error":{"code":1},"errors":{"a":"b","c":[{"d":"e"}],"f":["g"]}}"#, "", "a: b; f: g"),
            (#"{"message":"a\nb\u001b[2J a1b2c3d4e5f6"}"#, "", "a b [2J …"), (#"{"message":"m","detail":{"message":"m"}}"#, "", "m"),
            (#"{"detail":[{"type":"t","loc":["body","a",0,"b"],"msg":"too short","input":"hunter"}]}"#, "", "a[0].b: too short"),
            (#"{"errors":{"items":{"0":{"price":{"_errors":[{"message":"m"}]}}}}}"#, "", "items[0].price: m"),
            (#"{"invalid-params":[{"name":"age","reason":"r"}]}"#, "", "age: r"), (#"{"error":{"code":"c"}}"#, "", "c"),
            (#"{"a":["x"],"b":["y"]}"#, "", "a: x; b: y"), (#"["a"]"#, "text/plain", "a"), (#"[{"message":"m"}]"#, "", "m"),
            // Values that do not say what they are.
            (#"{"token":"abcdef"}"#, "text/plain", nil), (#"{"a":["x"],"b":"y"}"#, "", nil), ("[[1]]", "", nil), ("{}", "", nil),
            (#"<?xml version="1.0" encoding="UTF-8"?><Error><Code>NoSuchKey</Code></Error>"#, "application/xml", "NoSuchKey"),
            ("<e:Error><e:Message a='b'>\n1 &lt; 2 &amp;amp; 3\nmore</e:Message></e:Error>", "", "1 < 2 &amp; 3"),
            ("<s:Fault><faultstring><![CDATA[a <b>]]></faultstring></s:Fault>", "text/xml", "a <b>"), ("<a><b>c</b></a>", "text/xml", nil),
            ("<html><title>Error</title><pre>TypeError: a<br>at b</pre></html>", "", "TypeError: a"),
            ("<!DOCTYPE html><html><head><title>Down for maintenance</title></head></html>", "text/html", "Down for maintenance"),
            ("<html><title>200 ok</title></html>", "text/html", nil), ("<p>a</p>", "text/html", nil),
            ("a", "Text/Plain; charset=utf-8", "a"), ("\n a\nb", "text/plain", "a"), ("a", "", nil), ("a", "text/html", nil),
            ("message=a", "", nil), (#"{"message":"a"#, "application/json", nil), ("", "text/plain", nil),
            ("\u{FEFF}{\"message\":\"m\"}", "", "m"),
            // A deep message is found, a long one is cut, and a body that is too long is not read.
            (String(repeating: #"{"error":"#, count: 400) + #"{"message":"m"}"# + String(repeating: "}", count: 400), "", "m"),
            (#"{"message":"\#(String(repeating: "é", count: 300))"}"#, "", String(repeating: "é", count: 98) + "…"),
            (#"{"message":"\#(String(repeating: "a", count: 1 << 20))"}"#, "", nil),
        ] as [(String, String, String?)])
    func serverMessages(body: String, type: String, shown: String?) {
        let response = APIResponse(to: PreparedRequest("GET"), headers: ["Content-Type": type], data: Data(body.utf8))
        #expect(Redactor().serverMessage(of: response) == shown)
    }

    @Test("Each place of a body is read once, however deep it is", .longComputing, arguments: ["detail", "error", "errors", "message"])
    func depth(name: String) {
        let depth = 200
        for (open, close) in [("{\"\(name)\":", "}"), ("{\"\(name)\":[", "]}")] {
            let body =
                String(repeating: open, count: depth) + "[\(String(repeating: "{},", count: 2_000))0]"
                + String(repeating: close, count: depth)
            let response = APIResponse(to: PreparedRequest("GET"), data: Data(body.utf8))
            var message: String?
            let seconds = cpuSeconds { message = Redactor().serverMessage(of: response) }
            #expect(message == nil && seconds < 5, "\(seconds) s")
        }
    }

    @Test("Four times as much text takes at most eight times as long", .longComputing, arguments: costTexts.keys.sorted())
    func cost(kind: String) throws {
        let text = try #require(costTexts[kind])
        let work: (Data) -> Void = { data in
            _ = Redactor().serverMessage(of: APIResponse(to: PreparedRequest("GET"), headers: ["Content-Type": "text/plain"], data: data))
            _ = Redactor().message(String(decoding: data, as: UTF8.self))
        }
        let (few, many) = (cpuSeconds(text, 4_000, work), cpuSeconds(text, 16_000, work))
        #expect(many < max(few * 8, 0.01), "\(few) s, and \(many) s")
    }

    @Test("A long message costs no more than its beginning, which is cut after a word, so that no part of a secret shows", .longComputing)
    func longMessage() {
        func error(_ message: String) -> APIError {
            .unacceptableStatus(APIResponse(to: PreparedRequest("GET"), statusCode: 400, data: Data(#"{"message":"\#(message)"}"#.utf8)))
        }
        let long = error("It is long." + String(repeating: " and long", count: 100_000))
        #expect(cpuSeconds { _ = (long.description, long.errorDescription) } < 0.3)
        #expect(long.errorDescription?.hasPrefix("It is long. and long and") == true)
        // Long secrets, of which little is shown, and then one that the cut divides.
        let secrets = String(repeating: String(repeating: "a1", count: 100) + " ", count: 10)
        for shift in 0...15 {
            let text = secrets + String(repeating: "b", count: 36 - shift) + "1 hunter2abc12345"
            #expect(!error(text).description.contains("hunt"), "\(shift)")
        }
    }

    @Test(
        "A secret segment is left out of its URL, alone or as a part, and no other segment is",
        arguments: [
            ("/bot\(secret: "7:ab")/x", "/bot…/x"), ("/\(secret: "Z")/Zebra", "/…/Zebra"), ("/\(secret: "é/ü")", "/…"),
            ("/a\(secret: "letters")/b", "/a…/b"),
        ] as [(RequestPath, String)])
    func secretSegments(path: RequestPath, shown: String) throws {
        var request = try Endpoint<Void>(.get, path, query: ["q": "letters"]).preparedRequest(relativeTo: example)
        #expect(Redactor(for: request).line(of: request) == "GET https://api.example.com\(shown)?q=…")
        #expect("\(path)" == shown)
        request.headers["Accept"] = "letters"
        #expect(request.curlCommand().contains("https://api.example.com\(shown)?q="))
    }

    @Test("A secret segment is left out of messages and headers, also if another secret begins with it, unless all is shown")
    func secretTexts() throws {
        let request = try Endpoint<Void>(.get, "/\(secret: "letters")/a").preparedRequest(relativeTo: example)
        #expect(Redactor(for: request).message("no letters at /letters/a") == "no … at /…/a")
        #expect(Redactor(for: request).header("Accept", "letters") == "…")
        #expect(Redactor(.none, for: request).line(of: request) == "GET https://api.example.com/letters/a")
        let part = try Endpoint<Void>(.get, "/key\(secret: "one two/3")").preparedRequest(relativeTo: example)
        #expect(Redactor(for: part).message("no one two/3 at one%20two%2F3") == "no … at …")
        // There are enough that no order of a dictionary is right by chance.
        for (short, long) in (10..<40).map({ ("supersecret\($0)", "supersecret\($0)word") }) {
            let request = try Endpoint<Void>(.get, "/\(secret: short)/\(secret: long)").preparedRequest(relativeTo: example)
            #expect(Redactor(for: request).message("no \(long) at \(short)") == "no … at …")
        }
    }

    @Test(
        "The text of a form is decoded as the WHATWG URL standard says (5.1)",
        arguments: [
            ("a+b%20c", "a b c"), ("%zz%41", "%zzA"), ("100%&", "100%&"), ("%4", "%4"), ("%C3%A9%FF", "é\u{FFFD}"),
            ("%F0%9F%98", "\u{FFFD}"), ("%-0%-f", "%-0%-f"), ("%EF%BB%BFa", "\u{FEFF}a"), ("é%2B", "é+"), ("", ""), ("%2525", "%25"),
        ])
    func form(text: String, decoded: String) { #expect(Array(text.formDecoded.unicodeScalars) == Array(decoded.unicodeScalars)) }

    typealias Change = @Sendable (inout PreparedRequest) -> Void

    /// The other endpoint has a secret of its own.
    private static let byAnotherEndpoint: Change = { request in
        let other = Endpoint<Data>(.get, .url(request.url, "new/key\(secret: "letters9")"), headers: request.headers)
        request = (try? other.preparedRequest()) ?? request
    }

    private struct Changing: Middleware {
        let change: Change

        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            var request = request
            change(&request)
            return next(request)
        }
    }

    @Test(
        "A changed request keeps its options, one made anew has none, and the secrets of both show in no error, log line or curl command",
        arguments: [
            ("name", false, { $0.urlRequest.mainDocumentURL = example } as Change),
            ("name", true, { $0.urlRequest.mainDocumentURL = example } as Change),
            (nil, false, { $0 = PreparedRequest(.get, $0.url.appendingPathComponent("new"), headers: $0.headers) } as Change),
            (nil, true, { $0 = PreparedRequest(.get, $0.url.appendingPathComponent("new"), headers: $0.headers) } as Change),
            (nil, false, byAnotherEndpoint), (nil, true, byAnotherEndpoint),
        ])
    func keptSecrets(name: String?, isMiddleware: Bool, change: @escaping Change) async throws {
        let log = Log<String>()
        let sent = Answers(.status(404, headers: ["ETag": "letters"], body: #"{"message":"no bot7:letters"}"#))
        let changing = Changing { request in
            if isMiddleware { change(&request) }
        }
        let authentication = AuthenticationMiddleware(
            token: "letters",
            apply: { token, request in
                request.url = URL(string: "\(request.url)/of-\(token)?page=\(token)") ?? example
                request.headers["X-Caller"] = "v1;\(token)"
                request.headers["User-Agent"] = "app \(token)"
            }
        ) { _ in .never() }
        let provider = sent.provider(changing, authentication, LoggingMiddleware(.bodies, log: log.append))
        let plain = Endpoint<Data>(.get, "/bot\(secret: "7:letters")/a").option(\.name, "name")
        let endpoint = isMiddleware ? plain : plain.adapting(change)
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        let request = try #require(sent.requests.first)
        #expect(request.url.absoluteString.hasPrefix("https://api.example.com/bot7%3Aletters/a"))
        #expect(request.options.name == name)
        for text in ["\(error)", "\(error as NSError)", request.curlCommand()] + log.entries {
            #expect(!text.contains("letters"), "\(text)")
        }
        #expect(error.description.hasPrefix("GET https://api.example.com/bot…/a"))
        #expect(error.description.contains("/of-…?page=…"))
        #expect(request.curlCommand().contains("X-Caller: …") && request.curlCommand(redacting: .none).contains("X-Caller: v1;letters"))
    }

    @Test("A credential that is applied with a new request keeps the secrets of the request")
    func appliedWithNewRequest() async throws {
        let sent = Answers(.status(404))
        let authentication = AuthenticationMiddleware(
            token: "letters",
            apply: { $1 = PreparedRequest(.get, $1.url, headers: ["X-Token": $0]) },
            refresh: { _ in .never() })
        let changing = Changing { $0.headers["X-A"] = "b" }
        let error = try await #require(throws: APIError.self) {
            try await sent.provider(authentication, changing).request(Endpoint<Data>(.get, "/bot\(secret: "7:digits")/a")).value
        }
        let request = try #require(sent.requests.first)
        #expect(!"\(error)".contains("digits"))
        #expect(!request.curlCommand().contains("letters") && !request.curlCommand().contains("digits"))
    }
}
