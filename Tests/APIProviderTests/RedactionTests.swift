import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProvider

@Suite("Redaction")
struct RedactionTests {
    /// What a response with this JSON or form shows.
    private func shown(_ body: String, type: String? = "application/json", by redaction: Redaction = .standard) -> String {
        Redactor(redaction).body(Data(body.utf8), contentType: type, isAnswer: true)
    }

    @Test(
        "An ordinary sentence under a message's name is shown as it is",
        arguments: [
            "password: is required", "Invalid token: signature mismatch", "Session: expired", "tests pass=12", "Bad credentials",
            "Not Found",
            "The access token expired at 2026-11-22T10:15:30Z", "code must be a string", "Bearer authentication is required", "key: value",
            "secret=missing", "Unexpected token < in JSON at position 0", "HTTP/1.1 400 Bad Request", "timeout of 30000ms exceeded",
            "Use TLS 1.2 or later (TLSv1.2)", "The file is larger than 10MB", "expected UTF-8, found ISO-8859-1",
            "SHA-256 and sha256 differ",
            "OAuth2 grants of RFC 6749, see rfc6749", "E11000 duplicate key error", "SQLSTATE[42P01]: Undefined table: 7",
            "line 12, column 5",
            "No route matches [GET] \"/v1/users/42\"", "items[3].name is too long", "user_id 123456789 was not found",
            "ERR_1001_INVALID_TOKEN",
            "java.lang.IllegalArgumentException: id", "10.0.0.1:5432 refused the connection", "on the 1st, 2nd and 13th",
            "100% of 5GB used",
            "retry in 3600s", "das Passwort ist zu kurz", "le mot de passe est incorrect", "パスワードが必要です", "invalid_grant",
            "see https://docs.example.com/errors/E1001#not-found", "Authorization header is missing", "cookie: none",
            "application/vnd.api+json; charset=utf-8", "price must be > 0.50 USD", "CSRF token missing or incorrect.", "us-east-1",
            "v2.13.0-rc1",
            "Too many requests: 60/60 used; reset at 1763800000", "x509: certificate has expired", "ipv6 and http2 are on",
        ])
    func ordinary(sentence: String) throws {
        let body = #"{"error":{"message":\#(String(decoding: sentence.jsonString, as: UTF8.self))}}"#
        #expect(shown(body) == body)
    }

    @Test(
        "Words that look like a token are left out of sentences, and URLs show no values",
        arguments: [
            ("Incorrect API key provided: sk-proj-abcd1234efgh5678.", "Incorrect API key provided: …"),
            ("user hunter2 and (hunter2), \"hunter2\", t0ken", "user … and (…), \"…\", …"),
            ("card 4111111111111111 and ABCD-1234-EFGH-5678", "card … and …"),
            ("token=wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY", "token=…"),
            ("see https://u:p@h:8080/reset/a1b2c3d4?t=1&u#x=1 now", "see https://h:8080/reset/…?t=…&…#… now"),
            ("no /reset/a1b2c3d4/ here", "no /reset/…/ here"), ("got {\"a\":1} and more", "got {…"), (#"got {\"a\":1}"#, "got {…"),
        ])
    func tokens(sentence: String, shown: String) {
        #expect(Redactor().message(sentence) == shown)
    }

    @Test(
        "The nearest name decides what is shown of JSON",
        arguments: [
            (#"{"a":1,"b":-1.5e3,"c":"d","e":[true,false,null,{}],"f":{}}"#, #"{"a":…,"b":…,"c":"…","e":[true,false,null,{}],"f":{}}"#),
            (#"{"error":{"token":"a","code":7}}"#, #"{"error":{"token":"…","code":7}}"#), (#"["a",1]"#, #"["…",…]"#),
            (#"{"errors":["a",{"value":"b"},["c"]]}"#, #"{"errors":["a",{"value":"…"},["c"]]}"#),
            (#"{"errors":{"a":{"b":["c"],"d":"e"},"f":[{"g":["h"]}]}}"#, #"{"errors":{"a":{"b":["c"],"d":"…"},"f":[{"g":["…"]}]}}"#),
            (#"{ "Status_Code" : 7 , "errorMessage" : "a\/\u0062" }"#, #"{"Status_Code":7,"errorMessage":"a/b"}"#),
            (#"{"code":4111111111111111}"#, #"{"code":…}"#), (#"{"4eC39HqLyjWDarjtT1zdp7dc":true}"#, #"{"…":true}"#), ("{}", "{}"),
            (#""a""#, "(application/json, 3 bytes)"), ("{", "(application/json, 1 byte)"), (#"{"a":1}}"#, "(application/json, 8 bytes)"),
        ])
    func structure(body: String, expected: String) {
        #expect(shown(body) == expected)
    }

    @Test("What a request says is never shown, and what is named always is")
    func named() {
        let body = #"{"message":"a","ID":{"id":["4eC39HqLyjWDarjtT1zdp7dc",7],"x":1}}"#
        #expect(Redactor().body(Data(body.utf8), contentType: nil, isAnswer: false) == #"{"message":"…","ID":{"id":["…",…],"x":…}}"#)
        #expect(
            shown(body, by: .standard.showing("Id").showing("b")) == #"{"message":"a","ID":{"id":["4eC39HqLyjWDarjtT1zdp7dc",7],"x":…}}"#)
        #expect(shown("a,b", type: "text/csv; charset=utf-8", by: .standard.showing("Text/CSV")) == "a,b")
        #expect(shown(body, by: .none) == body)
    }

    @Test("Of a form, names are shown, and messages of a server")
    func forms() {
        let type = "application/x-www-form-urlencoded"
        #expect(
            shown("error=access_denied&error_description=Not+now%21&token=a&b", type: type)
                == "error=access_denied&error_description=Not now!&token=…&…")
        #expect(Redactor().body(Data("error=a&b=1".utf8), of: 50, contentType: type, isAnswer: false) == "error=…&b=……")
    }

    @Test("A body that breaks off is shown up to there")
    func cut() {
        let redactor = Redactor()
        #expect(redactor.body(Data(#"{"a":"b"#.utf8), of: 50, contentType: nil, isAnswer: false) == #"{"a":…"#)
        #expect(redactor.body(Data(#"{"a":x"#.utf8), of: 50, contentType: "a/b", isAnswer: false) == "(a/b, 50 bytes)")
        #expect(redactor.body(Data(#"{"a":[1,2,3,4,5]}"#.utf8), contentType: nil, isAnswer: false, maximum: 6) == #"{"a":[…"#)
    }

    @Test("A segment that a request calls secret is left out of its URL, alone or as a part, and no other is")
    func secrets() throws {
        for (path, shown) in [
            ("/bot\(secret: "7:ab")/x", "/bot…/x"), ("/\(secret: "Z")/Zebra", "/…/Zebra"), ("/\(secret: "é/ü")", "/…"),
            ("/a\(secret: "letters")/b", "/a…/b"),
        ] as [(RequestPath, String)] {
            let request = try Endpoint<EmptyResponse>(.get, path, query: ["q": "letters"]).urlRequest(relativeTo: example)
            #expect(Redactor(for: request).line(of: request) == "GET https://api.example.com\(shown)?q=…")
            #expect("\(path)" == shown)
            var other = request
            other.setValue("letters", forHTTPHeaderField: "Accept")
            #expect(other.curlCommand().contains("https://api.example.com\(shown)?q="))
        }
        let request = try Endpoint<EmptyResponse>(.get, "/\(secret: "letters")/a").urlRequest(relativeTo: example)
        #expect(Redactor(for: request).message("no letters at /letters/a") == "no … at /…/a")
        #expect(Redactor(for: request).header("Accept", "letters") == "…")
        #expect(Redactor(.none, for: request).line(of: request) == "GET https://api.example.com/letters/a")
    }

    @Test(
        "The text of a form is decoded as the WHATWG URL standard says (5.1)",
        arguments: [
            ("a+b%20c", "a b c"), ("%zz%41", "%zzA"), ("100%&", "100%&"), ("%4", "%4"), ("%C3%A9%FF", "é\u{FFFD}"),
            ("%F0%9F%98", "\u{FFFD}"), ("%EF%BB%BFa", "\u{FEFF}a"), ("é%2B", "é+"), ("", ""), ("%2525", "%25"),
        ])
    func form(text: String, decoded: String) { #expect(Array(text.formDecoded.unicodeScalars) == Array(decoded.unicodeScalars)) }

    @Test("A secret that begins as another does is hidden whole")
    func nestedSecrets() throws {
        // Enough that no order of a dictionary is right by chance.
        let pairs = (10..<40).map { ("supersecret\($0)", "supersecret\($0)word") }
        for (short, long) in pairs {
            let request = try Endpoint<EmptyResponse>(.get, "/\(secret: short)/\(secret: long)").urlRequest(relativeTo: example)
            #expect(Redactor(for: request).message("no \(long) at \(short)") == "no … at …")
        }
    }

    @Test("Secrets of a request stay secret, whatever a closure or a middleware makes of the request", arguments: [false, true])
    func keptSecrets(isMiddleware: Bool) async throws {
        let change: @Sendable (inout URLRequest) -> Void = { request in
            request.mainDocumentURL = example
            request.timeoutInterval = 5
        }
        let sent = Log<URLRequest>()
        let transport = ClosureTransport { request in
            sent.append(request)
            return .error(APIError.transport(request, underlying: URLError(.badServerResponse)))
        }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: transport, middlewares: isMiddleware ? [Changing(change: change)] : [])
        let request = Endpoint<Data>(.get, "/\(secret: "s3cret")/a", body: .data(Data("body".utf8), contentType: "a/b"))
            .option(\.allowsBody, true)
        let error = try await #require(throws: APIError.self) {
            try await provider.request(isMiddleware ? request : request.adapting(change)).value
        }
        #expect(error.description.hasPrefix("GET https://api.example.com/…/a failed"), "\(error)")
        #expect(sent.entries.map(\.timeoutInterval) == [5])
    }

    private struct Changing: Middleware {
        let change: @Sendable (inout URLRequest) -> Void

        func intercept(_ request: URLRequest, options: RequestOptions, next: @escaping Next) -> Single<APIResponse> {
            var request = request
            change(&request)
            return next(request)
        }
    }
}

@Suite("Tokens of JSON")
struct JSONTokensTests {
    /// The kinds and texts of all tokens, or nil for what is not JSON.
    private func tokens(_ text: String) -> String? {
        var tokens = JSONTokens(Data(text.utf8))
        var result = ""
        do {
            while let token = try tokens.next() {
                result += token.kind == .string || token.kind == .name ? "<\(tokens.text(of: token))>" : "\(token.kind) "
            }
        } catch {
            return nil
        }
        return tokens.depth == 0 ? result : nil
    }

    @Test("Names and strings come without their escapes")
    func texts() {
        #expect(
            tokens(#" {"a\n\"" : ["\ud83d\ude00\/\u00e9", "\ud83d", -0.5E+3] } "#)
                == "beginObject <a\n\"><beginArray <😀/é><\u{FFFD}>number endArray endObject ".replacingOccurrences(
                    of: "<a\n\"><", with: "<a\n\">"))
        #expect(tokens("\u{FEFF}true") == "true ")
    }

    @Test("It takes what Foundation takes of RFC 8259, and nothing else")
    func grammar() throws {
        var random = SeededGenerator(seed: 7)
        let parts = [
            "{", "}", "[", "]", ",", ":", "\"a\"", "1", "-", "0", ".5", "e3", "true", "false", "null", " ", "\"\\u00e9\"", "\"\\x\"", "\"",
            "\\", "01", "nul",
        ]
        var others: [String] = []
        for _ in 0..<5_000 {
            let text = (0..<Int.random(in: 1...9, using: &random)).map { _ in parts.randomElement(using: &random) ?? "" }.joined()
            let isJSON = (try? JSONSerialization.jsonObject(with: Data(text.utf8), options: .fragmentsAllowed)) != nil
            if (tokens(text) != nil) != isJSON { others.append(text) }
        }
        #expect(others == [])
        for text in [
            "", " ", "{\"a\":1,}", "[1,]", "[,1]", "{1:2}", "\"\u{1}\"", "\"\\u12g4\"", "\"\\u12", "\"\\", "1 2", "[1}", "{\"a\"}",
        ] {
            #expect(tokens(text) == nil, "\(text)")
        }
    }
}
