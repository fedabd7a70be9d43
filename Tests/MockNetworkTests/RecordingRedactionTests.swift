import APIProvider
import Foundation
import MockNetwork
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("What a recording leaves out", tenMinutes)
struct RecordingRedactionTests {
    private let folder = TemporaryFolder()
    private var file: URL { folder.url("session.har") }

    /// A request and the answer of the server, with `secret()` wherever one may stand.
    fileprivate struct Planted {
        var method = "GET"
        var target: String
        var headers: [String: String] = [:]
        var body: Data?
        var answer: (headers: [String: String], body: String) = ([:], "")
        /// What is left of the answer's body.
        var left = ""
    }

    private func planted(_ secret: () -> String) -> [Planted] {
        [
            Planted(
                target: "/headers",
                headers: [
                    "Authorization": "Bearer \(secret())", "Proxy-Authorization": "Basic \(secret())", "X-API-Key": secret(),
                    "X-Auth-Token": secret(), "X-Auth-Key": secret(), "X-Shared-Key": secret(),
                    "X-Session": "token=\(secret()); a=1, access_token=\(secret()),", "Cookie": "session=\(secret()); theme=\(secret())",
                    "Referer": "https://me:\(secret())@a.example/?access_token=\(secret())#id_token=\(secret())", "Accept": "text/plain",
                ],
                answer: (
                    [
                        "Set-Cookie": "session=\(secret()); Expires=Wed, 09 Jun 2032 10:18:14 GMT; HttpOnly", "X-Refresh-Token": secret(),
                        "Location": "https://a.example/callback?code=\(secret())&state=1#access_token=\(secret())&b=2",
                        "Link": "<https://a.example/items?page=2&api_key=\(secret())>; rel=\"next\"", "Content-Type": "text/plain",
                    ], "harmless"
                ),
                left: "harmless"),
            Planted(
                target: "/query?page=2&access_token=\(secret())&return_to=https%3A%2F%2Fa.example%2F%3Ftoken%3D\(secret())%26x%3D1"
                    + "&user%5Bpassword%5D=\(secret())#id_token=\(secret())",
                answer: (["Content-Type": "text/plain"], "access_token=\(secret())&scope=repo&token_type=bearer"),
                left: "access_token=REDACTED&scope=repo&token_type=bearer"),
            Planted(
                method: "POST", target: "/form", headers: ["Content-Type": "application/x-www-form-urlencoded; charset=utf-8"],
                body: Data("grant_type=password&username=me&password=\(secret())&client_secret=\(secret())".utf8),
                answer: (["Content-Type": "text/event-stream"], "event: a\ndata: {\"token\": \"\(secret())\", \"n\": 1}\n\n"),
                left: "event: a\ndata: {\"token\": \"REDACTED\", \"n\": 1}\n\n"),
            Planted(
                method: "POST", target: "/json", headers: ["Content-Type": "application/json"],
                body: Data(
                    """
                    {"user": {"login": "me", "pass\\u0077ord": "\(secret())"}, "keys": [{"apiKey": "\(secret())"}, {"tokens": ["\(secret())"]}],
                     "callback": "https:\\/\\/a.example\\/?sig=\(secret())", "inner": "{\\"secret\\":\\"\(secret())\\"}"}
                    """.utf8),
                answer: (
                    ["Content-Type": "application/json"],
                    """
                    {"a": [1, {"access_token": "\(secret())", "refreshToken": {"value": "\(secret())", "n": 12.5e3}}], "token_count": -7,
                     "password": null, "hasPassword": true, "secret": "", "b": 1.50}
                    """
                ),
                left: """
                    {"a": [1, {"access_token": "REDACTED", "refreshToken": {"value": "REDACTED", "n": 0}}], "token_count": -7,
                     "password": null, "hasPassword": true, "secret": "", "b": 1.50}
                    """),
            Planted(
                method: "POST", target: "/multipart", headers: ["Content-Type": "multipart/form-data; boundary=\"b-1\""],
                body: Data("--b-1\r\nContent-Disposition: form-data; name=\"title\"\r\n\r\nHolidays".utf8)
                    + Data("\r\n--b-1\r\nContent-Disposition: form-data; name=\"password\"\r\n\r\n\(secret())".utf8)
                    + Data(
                        "\r\n--b-1\r\nContent-Disposition: form-data; name=\"meta\"\r\nContent-Type: application/json\r\n\r\n{\"token\":\"\(secret())\"}"
                            .utf8)
                    + Data("\r\n--b-1\r\nContent-Disposition: form-data; name=\"image\"; filename=\"a\"\r\n\r\n".utf8)
                    + Data([0xFF, 0x00, 0x80]) + Data("\r\n--b-1--\r\n".utf8)),
        ]
    }

    /// Answers as the request with the same path says, and gives each response as the provider has it.
    private func record(_ planted: [Planted]) async throws {
        let answers = Dictionary(uniqueKeysWithValues: planted.map { ($0.path, $0.answer) })
        let server = try LoopbackServer { request, connection in
            let answer = answers[String(request.target.prefix { $0 != "?" })]
            connection.respond(headers: answer?.headers ?? [:], body: answer?.body ?? "")
        }
        let provider = DefaultAPIProvider(baseURL: example, configuration: .ephemeral, middlewares: [RecordingMiddleware(to: file)])
        for item in planted {
            let response = try await provider.request(
                anyRequest(HTTPMethod(rawValue: item.method), "\(server.url)\(item.target)", headers: item.headers, body: item.body)
            ).value
            #expect(String(decoding: response.data, as: UTF8.self) == item.answer.body)
        }
        try await replay(planted, at: server.url)
    }

    /// What a test of later sends: other secrets, and no server.
    private func replay(_ recorded: [Planted], at url: URL) async throws {
        try await MockURLProtocol.withScope {
            try MockURLProtocol.replay(har: file)
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            for item in planted({ "another" }) {
                let response = try await provider.request(
                    anyRequest(HTTPMethod(rawValue: item.method), "\(url)\(item.target)", body: item.body)
                ).value
                #expect(String(decoding: response.data, as: UTF8.self) == item.left)
                #expect(response.statusCode == 200)
            }
        }
    }

    @Test("None of the secrets that pass stands in the file, and it replays to the same responses")
    func none() async throws {
        var count = 0
        let planted = planted {
            count += 1
            return "planted-\(count)"
        }
        #expect(count >= 20)
        try await record(planted)

        let recorded = try RecordedFile(file)
        #expect(!recorded.text.contains("planted-"))
        let text = try #require(recorded.value("request.postData.text", of: 4) as? String)
        let multipart = try #require(Data(base64Encoded: text))
        #expect(multipart.range(of: Data("planted-".utf8)) == nil)
        #expect(multipart.range(of: Data("Holidays\r\n--b-1".utf8)) != nil)
        #expect(multipart.range(of: Data("name=\"password\"\r\n\r\nREDACTED\r\n--b-1\r\n".utf8)) != nil)
        #expect(multipart.range(of: Data("{\"token\":\"REDACTED\"}\r\n".utf8)) != nil)
        #expect(multipart.suffix(14) == Data([0xFF, 0x00, 0x80]) + Data("\r\n--b-1--\r\n".utf8))
    }

    @Test("What is harmless stays beside what is not")
    func rest() async throws {
        try await record(planted { "planted" })
        let recorded = try RecordedFile(file)
        let url = try #require(recorded.value("request.url", of: 1) as? String)
        #expect(
            url.hasSuffix(
                "/query?page=2&access_token=REDACTED&return_to=https%3A%2F%2Fa.example%2F%3Ftoken%3DREDACTED%26x%3D1"
                    + "&user%5Bpassword%5D=REDACTED"))
        #expect(
            recorded.value("response.redirectURL") as? String
                == "https://a.example/callback?code=REDACTED&state=1#access_token=REDACTED&b=2")
        #expect(recorded.value("request.cookies") as? Fields == ["session", "theme"].map { ["name": $0, "value": "REDACTED"] })
        #expect(recorded.value("response.cookies") as? Fields == [["name": "session", "value": "REDACTED"]])
        #expect(
            recorded.value("request.postData.text", of: 2) as? String
                == "grant_type=password&username=me&password=REDACTED&client_secret=REDACTED")
        #expect(
            recorded.value("request.postData.text", of: 3) as? String == #"""
                {"user": {"login": "me", "pass\u0077ord": "REDACTED"}, "keys": [{"apiKey": "REDACTED"}, {"tokens": ["REDACTED"]}],
                 "callback": "https:\/\/a.example\/?sig=REDACTED", "inner": "{\"secret\":\"REDACTED\"}"}
                """#)
        let headers = try #require(recorded.value("response.headers") as? Fields)
        #expect(headers.contains(["name": "Link", "value": "<https://a.example/items?page=2&api_key=REDACTED>; rel=\"next\""]))
    }

    @Test(
        "A secret is left out also of a URL or JSON that is the value of a parameter, and from among parameters that stand together",
        arguments: [
            (
                "https://a.example/?next=https://b.example/?token=planted&n=1",
                "https://a.example/?next=https://b.example/?token=REDACTED&n=1"
            ),
            (
                "https://a.example/?variables=%7B%22n%22:1,%22token%22:%22planted==%22%7D",
                "https://a.example/?variables=%7B%22n%22:1,%22token%22:%22REDACTED%22%7D"
            ),
            ("https://a.example/?a=1;token=planted;b=2", "https://a.example/?a=1;token=REDACTED"),
            ("https://a.example/?q=a;b,c=d", "https://a.example/?q=a;b,c=d"),
        ])
    func parameters(url: String, recorded: String) async throws {
        let request = try anyRequest(.get, url, headers: ["X-A": "a=1;token=planted", "X-B": #"{"token":"planted"}"#])
        let location: HTTPHeaders = ["Location": "/#/callback?code=planted", "X-C": #"["https://b.example/?token=planted"]"#]
        let provider = DefaultAPIProvider(
            transport: answering(headers: location) { _ in Data(#"payload={"token":"planted"}&n=1"#.utf8) },
            middlewares: [RecordingMiddleware(to: file)])
        _ = try await provider.request(request).value
        let file = try RecordedFile(file)
        #expect(!file.text.contains("planted"), "\(file.text)")
        #expect(file.value("request.url") as? String == recorded)
        #expect(file.value("response.redirectURL") as? String == "/#/callback?code=REDACTED")
    }

    @Test("More can be named, and nothing need be left out")
    func names() async throws {
        let request = try anyRequest(
            "POST", "https://a.example/?E-Mail=me&token=t", headers: ["X-Customer": "7"], body: Data(#"{"email":"me","n":[1]}"#.utf8))
        func url(_ redaction: Redaction) async throws -> [String?] {
            let recording = RecordingMiddleware(to: file, redacting: redaction)
            _ = try await DefaultAPIProvider(baseURL: example, transport: answering(), middlewares: [recording]).request(request).value
            let recorded = try RecordedFile(file)
            let headers = recorded.value("request.headers") as? Fields
            return [recorded.value("request.url") as? String, headers?[0]["value"], recorded.value("request.postData.text") as? String]
        }
        #expect(
            try await url(.secrets.adding("email", "x_customer"))
                == ["https://a.example/?E-Mail=REDACTED&token=REDACTED", "REDACTED", #"{"email":"REDACTED","n":[1]}"#])
        #expect(try await url(.secrets)[0] == "https://a.example/?E-Mail=me&token=REDACTED")
        #expect(try await url(.none) == ["https://a.example/?E-Mail=me&token=t", "7", #"{"email":"me","n":[1]}"#])
        #expect(try await url(.none.adding("n"))[2] == #"{"email":"me","n":[0]}"#)
    }
}

extension RecordingRedactionTests.Planted {
    fileprivate var path: String { String(target.prefix { $0 != "?" && $0 != "#" }) }
}
