import APIProvider
import Foundation
import TestSupport
import Testing

@testable import MockNetwork

@Suite("Redaction of recordings", tenMinutes)
struct RecordingRedactionTests {
    private struct Session: Codable, Equatable {
        let accessToken: String, expiresIn: Int, tokenType: String, id: UUID, session: [String: Date]
    }

    private struct Page: Codable, Equatable {
        let items: [String], next: URL?
    }

    /// What an app does: it signs in, follows the link to the next page, and reads a header.
    private func useApp(of url: URL, with provider: DefaultAPIProvider, password: String, token: String) async throws -> [String] {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let signIn = Endpoint<Session>(.post, .url(url, "/session"), body: .json(["login": "me", "password": password])) {
            try decoder.decode(Session.self, from: $0.data)
        }
        let session = try await provider.request(signIn).value
        let first = Endpoint<Page>(
            .get, .url(url, "/items"), query: ["access_token": token, "page": 1], headers: ["Cookie": "sid=\(token)"])
        let page = try await provider.request(first.withResponse()).value
        let link = try #require(page.response.value(forHTTPHeaderField: "Link"))
        let next = try #require(URL(string: String(link.dropFirst().prefix { $0 != ">" })))
        let form = try await provider.request(Endpoint<String>(.get, .url(next))).value
        _ = try await provider.request(Endpoint<String>(.get, .url(url, "/reset/\(secret: token)"))).value
        return ["\(session.expiresIn) \(session.tokenType) \(session.session.count)", "\(page.value.items)", form]
    }

    @Test("A session with a password, cookies and a token in a query replays, and the file has none of them", arguments: [true, false])
    func session(bySession: Bool) async throws {
        let server = try LoopbackServer { request, connection in
            switch request.target.prefix(while: { $0 != "?" }) {
            case "/session":
                let body = """
                    {"accessToken": "pl4nted-1", "expiresIn": 3600, "tokenType": "bearer", "id": "6F9619FF-8B86-D011-B42D-00C04FC964FF",
                     "session": {"expires": "2026-11-22T10:15:30Z"}}
                    """
                connection.respond(
                    headers: ["Content-Type": "application/json", "Set-Cookie": "theme=pl4nted-2; Expires=Wed, 09 Jun 2032 10:18:14 GMT"],
                    body: body)
            case "/items":
                let link =
                    "<http://\(request.headers["host"] ?? "")/more?page=2&sig=pl4nted-3>; rel=\"next\", </a?token=pl4nted-4>; rel=last"
                connection.respond(headers: ["Link": link, "X-Planet": "pl4nted-5"], body: #"{"items":["a1b2c3d4"],"next":null}"#)
            default:
                connection.respond(
                    headers: ["Content-Type": "application/x-www-form-urlencoded"], body: "access_token=pl4nted-6&scope=repo")
            }
        }
        let test = RecordedTest()
        let recorded = try await test.run(.record, bySession: bySession) {
            try await useApp(of: server.url, with: $0, password: "pl4nted-7", token: "pl4nted-8")
        }
        #expect(recorded == ["3600 bearer 1", #"["a1b2c3d4"]"#, "access_token=pl4nted-6&scope=repo"])
        let text = try String(contentsOf: test.file, encoding: .utf8)
        #expect(!text.contains("pl4nted"), "\(text)")

        let replayed = try await test.run(.replay) { try await useApp(of: server.url, with: $0, password: "other", token: "another") }
        #expect(replayed == ["3600 bearer 1", #"["a1b2c3d4"]"#, "access_token=REDACTED&scope=repo"])
        #expect(server.requests.count == 4)
        let session = try RecordedFile(test.file)
        #expect(session.value("request.postData.text") as? String == #"{"login":"me","password":"REDACTED"}"#)
        #expect((session.value("request.headers", of: 1) as? Fields)?.contains(["name": "Cookie", "value": "REDACTED"]) == true)
        let urls = session.entries.indices.map { session.value("request.url", of: $0) as? String ?? "" }
        #expect(urls[1].hasSuffix("/items?access_token=REDACTED&page=1") && urls[3].hasSuffix("/reset/REDACTED"), "\(urls)")
        let headers = try #require(session.value("response.headers", of: 1) as? Fields)
        #expect(headers.contains(["name": "X-Planet", "value": "REDACTED"]), "\(headers)")
        #expect(
            headers.contains { $0["value"]?.hasSuffix(#"page=2&sig=REDACTED>; rel="next", </a?token=REDACTED>; rel=last"#) == true },
            "\(headers)")
    }

    private func record(
        _ body: String, type: String? = "application/json", redacting redaction: Redaction = .standard, keeping names: [String] = []
    ) async throws -> RecordedTest {
        let transport = answering(headers: type.map { ["Content-Type": $0] } ?? [:]) { _ in Data(body.utf8) }
        let test = RecordedTest(redaction: redaction, names: names)
        let request = try anyRequest(
            "POST", "https://a.example/?q=a1b2c3&w=1024px&n=7&token=t", headers: ["X-Customer": "7"], body: Data(body.utf8))
        try await test.run(.record, from: transport) { _ = try await $0.request(request).value }
        return test
    }

    private func file(
        of body: String, redacting redaction: Redaction = .standard, keeping names: [String] = []
    ) async throws -> RecordedFile {
        let test = try await record(body, redacting: redaction, keeping: names)
        return try RecordedFile(test.file)
    }

    @Test(
        "Secret values keep their type, and everything else stays byte for byte",
        arguments: [
            (
                "{\"a\" : 1.50, \"token\":{\"b\": [7, \"c\", null, true, \"\"]},\r\n \"d\": \"a1b2c3\"}",
                "{\"a\" : 1.50, \"token\":{\"b\": [0, \"REDACTED\", null, true, \"\"]},\r\n \"d\": \"a1b2c3\"}"
            ),
            (
                #"[{"pin":4711,"sessionId":"6F9619FF-8B86-D011-B42D-00C04FC964FF","session":{"at":"2026-11-22T10:15:30.5Z"}}]"#,
                #"[{"pin":0,"sessionId":"00000000-0000-0000-0000-000000000000","session":{"at":"2000-01-01T00:00:00.0Z"}}]"#
            ),
            (#"{"inner":"{\"secret\":\"a\",\"b\":[1]}"}"#, #"{"inner":"{\"secret\":\"REDACTED\",\"b\":[1]}"}"#),
            (#"{"next":"https://u:p@a.example/?page=2&api_key=a"}"#, #"{"next":"https://a.example/?page=2&api_key=REDACTED"}"#),
            (
                #"{"token_type":"b","license":{"key":"mit"},"author":"me","code":"E7","public":true,"monkey":"a","passport_country":"DE"}"#,
                #"{"token_type":"b","license":{"key":"mit"},"author":"me","code":"E7","public":true,"monkey":"a","passport_country":"DE"}"#
            ),
        ])
    func kinds(body: String, recorded: String) async throws {
        #expect(try await file(of: body).value("response.content.text") as? String == recorded)
    }

    @Test("A response that is neither JSON nor a form is left out, and the error at replay says how to keep it")
    func otherBodies() async throws {
        func replayed(
            _ body: String, type: String?, redacting redaction: Redaction = .standard, keeping names: [String] = []
        ) async throws -> String {
            let test = try await record(body, type: type, redacting: redaction, keeping: names)
            let request = try anyRequest("POST", "https://a.example/?q=a1b2c3&w=1024px&n=7&token=t", body: Data(body.utf8))
            do {
                return try await test.run(.replay) { String(decoding: try await $0.request(request).value.data, as: UTF8.self) }
            } catch { return "\(error)" }
        }
        let html = "text/html; charset=utf-8"
        #expect(
            try await replayed("<p>s3cret</p>", type: html).hasSuffix(
                "session.har: log.entries[0] cannot be answered from: the recording left out its body (text/html, 13 bytes), which is neither "
                    + "JSON nor a form; to keep it, give the recording keeping: [\"text/html\"]."))
        #expect(try await replayed("s3cret", type: nil).contains("redacting: .none."))
        #expect(try await replayed("<p>s3cret</p>", type: html, keeping: ["TEXT/html"]) == "<p>s3cret</p>")
        #expect(try await replayed("<p>s3cret</p>", type: html, redacting: .none) == "<p>s3cret</p>")
        #expect(try await replayed("", type: "text/html") == "")
    }

    @Test(
        "A stream is redacted line by line",
        arguments: [
            (
                "text/event-stream", "id: 7\r\ndata: {\"token\": \"a\", \"n\": 1}\r\n\r\n: ok\n",
                "id: 7\r\ndata: {\"token\": \"REDACTED\", \"n\": 1}\r\n\r\n: ok\n"
            ),
            ("text/event-stream", "data: Hel\n\ndata: lo: hunter2\n\ndata:pin: no", "data: Hel\n\ndata: lo: REDACTED\n\ndata:REDACTED"),
            ("text/event-stream", "data: He said \"hm…\"\n\ndata: [DONE]\n\n", "data: He said \"hm…\"\n\ndata: [DONE]\n\n"),
            ("text/event-stream", "data: {\"token\":\ndata: \"hunter\"}\n\n", "data: REDACTED\ndata: \"REDACTED\"\n\n"),
            ("application/x-ndjson", "{\"pin\":1}\n\n[2]\n{\"pin\":", "{\"pin\":0}\n\n[2]\nREDACTED"),
            ("application/json-seq", "\u{1E}{\"pin\":1}\n\u{1E}3\n", "\u{1E}{\"pin\":0}\n\u{1E}3\n"),
        ])
    func lines(type: String, body: String, kept: String) {
        let redacted = RecordingRedactor(for: nil).body(Data(body.utf8), contentType: type)
        #expect(redacted.map { String(decoding: $0, as: UTF8.self) } == kept)
    }

    @Test("A request's JSON has no words that look like a token")
    func requestBodies() async throws {
        let sent = try await file(of: #"{"note":"see a1b2c3d4e5 now","id":7}"#).value("request.postData.text") as? String
        #expect(sent == #"{"note":"see REDACTED now","id":7}"#)
    }

    @Test("Names that are kept are recorded, and without redaction everything is")
    func names() async throws {
        func values(_ redaction: Redaction, keeping names: [String] = []) async throws -> [String?] {
            let recorded = try await file(of: #"{"token":"t","n":[1]}"#, redacting: redaction, keeping: names)
            let headers = recorded.value("request.headers") as? Fields
            let bodies = ["request.postData.text", "response.content.text"].map { recorded.value($0) as? String }
            return [recorded.value("request.url") as? String, headers?.first { $0["name"] == "X-Customer" }?["value"]] + bodies
        }
        let standard = ["https://a.example/?q=REDACTED&w=1024px&n=7&token=REDACTED", "REDACTED"]
        let body = #"{"token":"REDACTED","n":[1]}"#
        #expect(try await values(.standard) == standard + [body, body])
        let all = ["https://a.example/?q=a1b2c3&w=1024px&n=7&token=t", "7", #"{"token":"t","n":[1]}"#, #"{"token":"t","n":[1]}"#]
        #expect(try await values(.standard, keeping: ["TOKEN", "n", "q", "x-customer"]) == all)
        #expect(try await values(.none) == all)
    }
}
