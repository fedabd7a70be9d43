import APIProvider
import Foundation
import MockNetworkTesting
import TestSupport
import Testing

@testable import MockNetwork

@Suite("Replay", .mockNetwork, tenMinutes)
struct ReplayTests {
    private var provider: DefaultAPIProvider { Way.session.provider }
    private let folder = TemporaryFolder()

    private func replaySample(_ name: String) throws {
        try replay(try #require(Bundle.module.url(forResource: name, withExtension: "har", subdirectory: "HAR")))
    }

    private func recording(_ entries: String...) throws -> URL { try recording(text: har(entries)) }

    @discardableResult
    private func recording(text: String) throws -> URL {
        try FileManager.default.createDirectory(at: folder.url("Recordings"), withIntermediateDirectories: true)
        let file = folder.url("Recordings/session.har")
        try Data(text.utf8).write(to: file)
        return file
    }

    private func get(_ url: String) async throws -> APIResponse { try await provider.request(anyRequest(url)).value }

    private func error(_ url: String) async throws -> URLError {
        let error = try await #require(throws: APIError.self) { try await get(url) }
        return try #require(error.urlError)
    }

    @Test("Chrome: pseudo-headers, encodings that are undone, Base64, WebSockets and data URLs, failed and blocked requests")
    func chrome() async throws {
        try replaySample("chrome")
        let items = try await get("https://shop.example.com/api/items?sort=price%20up&page=1")
        #expect(String(decoding: items.data, as: UTF8.self) == "{\"items\":[{\"name\":\"Grüße 🌍\",\"price\":3}],\"total\":1}")
        #expect(items.value(forHTTPHeaderField: "Content-Encoding") == nil)
        #expect(items.value(forHTTPHeaderField: "Content-Length") == "\(items.data.count)")
        #expect(items.value(forHTTPHeaderField: "X-Cache") == "HIT")
        #expect(items.httpResponse.allHeaderFields.keys.allSatisfy { !"\($0)".hasPrefix(":") })
        #expect(try await get("https://shop.example.com/dot.gif").data.starts(with: Data("GIF89a".utf8)))
        let blocked = try await error("https://ads.example.net/b.js")
        #expect(blocked.code == .unknown && blocked.localizedDescription.contains("net::ERR_BLOCKED_BY_CLIENT"))
    }

    @Test("Firefox: several fields in one, on a line each, and redirects")
    func firefox() async throws {
        try replaySample("firefox")
        let response = try await provider.request(
            anyRequest(.post, "https://shop.example.com/login", body: Data("user=me&remember=1".utf8))
        )
        .value
        #expect(String(decoding: response.data, as: UTF8.self) == "account")
        #expect(response.value(forHTTPHeaderField: "Transfer-Encoding") == nil)
        #expect(MockURLProtocol.requests.map(\.path) == ["/login", "/account"])
    }

    @Test("Safari: a BOM, missing fields, several entries of one URL, an aborted request")
    func safari() async throws {
        try replaySample("safari")
        for text in ["pending", "done", "done"] {
            #expect(String(decoding: try await get("https://shop.example.com/status").data, as: UTF8.self) == text)
        }
        #expect(try await error("https://shop.example.com/aborted").code == .unknown)
    }

    @Test("Charles: null, line breaks in Base64, a HEAD, fields that come twice")
    func charles() async throws {
        try replaySample("charles")
        let head = try await provider.request(anyRequest(.head, "http://shop.example.com/file.bin")).value
        #expect(head.value(forHTTPHeaderField: "Content-Length") == "4096")
        #expect(head.value(forHTTPHeaderField: "Vary") == "Accept, Cookie")
        let part = try await get("http://shop.example.com/file.bin")
        #expect(part.statusCode == 206)
        #expect(part.data == Data([0x00, 0xFF, 0xFE, 0x80]))
        #expect(part.value(forHTTPHeaderField: "Content-Length") == "4")
    }

    @Test("Insomnia: items without a value, several of one name")
    func insomnia() async throws {
        try replaySample("insomnia")
        let body = Data(#"{ "name" : "x" }"#.utf8)
        let response = try await provider.request(anyRequest(.put, "http://localhost:8080/v1/items/7?tag=a&tag=b&dry=", body: body)).value
        #expect(response.statusCode == 422)
        #expect(response.value(forHTTPHeaderField: "Content-Type") == "application/problem+json")
    }

    @Test(
        "A request that is not in the file has no answer, and the report names the nearest entry",
        arguments: [
            "https://shop.example.com/api/items?page=2&sort=price%20up", "https://shop.example.com/api/items",
            "https://shop.example.com/api/items?page=1&sort=price%20up&more",
        ])
    func unanswered(url: String) async throws {
        try await MockURLProtocol.withScope {
            try replaySample("chrome")
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            let error = try await #require(throws: APIError.self) { try await provider.request(anyRequest(url)).value }
            #expect(error.description.contains("chrome.har: log.entries[0]"), "\(error)")
        }
    }

    @Test("The report sorts recorded queries by how much they differ")
    func nearer() async throws {
        let file = try recording(
            entry("https://a.example/?a=1&b=2&c=3", response: #"{"status":204}"#),
            entry("https://a.example/?a=1&x=9", response: #"{"status":204}"#))
        try await MockURLProtocol.withScope {
            try replay(file)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let request = try anyRequest("https://a.example/?a=1&b=2")
            let error = "\(try await #require(throws: APIError.self) { try await provider.request(request).value })"
            let numbers = ["entries[0]", "entries[1]"].map { error.range(of: $0)?.lowerBound }
            #expect(try #require(numbers[0]) < #require(numbers[1]), "\(error)")
        }
    }

    @Test("A newer stub answers before the recording, and an older one after it")
    func stubs() async throws {
        MockURLProtocol.stub(.get, "/older", respond: .status(201))
        try replaySample("chrome")
        MockURLProtocol.stub(.get, "/dot.gif", respond: .status(410))
        #expect(try await get("https://shop.example.com/older").statusCode == 201)
        #expect(try await get("https://shop.example.com/dot.gif").statusCode == 410)
    }

    @Test("A redacted query value matches any value, but not a missing item")
    func placeholder() async throws {
        let file = try recording(
            entry("HTTPS://REDACTED@a.example/?key=REDACTED&page=1", response: #"{"status":204}"#),
            entry("https://a.example/?page=1&key=REDACTED", response: #"{"status":205}"#))
        try replay(file)
        #expect(try await get("https://a.example?page=1&key=live").statusCode == 204)
        #expect(try await get("https://a.example/?key=other&page=1#x").statusCode == 205)
        try await MockURLProtocol.withScope {
            try replay(file)
            let provider = DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration)
            let error = await #expect(throws: APIError.self) { try await provider.request(anyRequest("https://a.example/")).value }
            #expect(error?.description.contains("got       none\n") == true)
            for url in ["https://a.example/?page=1", "https://b.example/?page=1&key=live"] {
                await #expect(throws: APIError.self) { try await provider.request(anyRequest(url)).value }
            }
            await #expect(throws: APIError.self) { try await provider.request(anyRequest("https://a.example/?page=2&key=live")).value }
        }
    }

    @Test("A redacted part of a path segment matches anything")
    func segment() async throws {
        let file = try recording(entry("https://a.example/bot-REDACTED-x/send"))
        try replay(file)
        #expect(try await get("https://a.example/bot-1:2-x/send").statusCode == 200)
        try await MockURLProtocol.withScope {
            try replay(file)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            for other in ["bot-1", "1-x", "bot-1-X"] {
                await #expect(throws: APIError.self) { try await provider.request(anyRequest("https://a.example/\(other)/send")).value }
            }
        }
    }

    @Test(
        "The error of a broken file is one sentence that says where it is wrong",
        arguments: [
            ("", "session.har: the file is empty."),
            ("<html>", "session.har: expected JSON, found HTML or XML."),
            ("{}", "session.har: this is not a HAR file, because it has no \"log\"."),
            ("[]", "session.har: expected an object at the top level, found an array."),
            (#"{"log":{}}"#, "session.har: log.entries is missing."),
            (#"{"log":{"entries":{}}}"#, "session.har: expected an array at log.entries, found an object."),
        ])
    func broken(text: String, sentence: String) throws {
        let file = try recording(text: text)
        let error = #expect(throws: (any Error).self) { try replay(file) }
        #expect(error?.localizedDescription == sentence)
    }

    @Test(
        "An entry without a response fails its request and says why; the others answer",
        arguments: [
            ("null", "the recording has no response"),
            (#"{"status":-1}"#, "-1 is not an HTTP status"),
            (#"{"status":20}"#, "20 is not an HTTP status"),
            (
                #"{"status":200,"content":{"size":812,"mimeType":"application/json"}}"#,
                "its body was not saved; export the recording with the bodies of responses"
            ),
            (
                #"{"status":200,"content":{"size":812,"comment":""}}"#,
                "its body was not saved; export the recording with the bodies of responses"
            ),
            (#"{"status":"200"}"#, "expected Int at log.entries[1].response.status"),
            ("{}", "log.entries[1].response.status is missing"),
            (#"{"status":200,"headers":[{"value":"a"}]}"#, "log.entries[1].response.headers[0].name is missing"),
            (
                #"{"status":200,"content":{"encoding":"BASE64","text":"?"}}"#,
                "this is not Base64 at log.entries[1].response.content.text"
            ),
            (
                #"{"status":200,"content":{"encoding":"zip","text":"?"}}"#,
                "the encoding \"zip\" is unknown at log.entries[1].response.content.encoding"
            ),
        ])
    func unusable(response: String, reason: String) async throws {
        try await MockURLProtocol.withScope {
            try replay(recording(entry("https://a.example/good"), entry("https://a.example/bad", response: response)))
            #expect(try await get("https://a.example/good").statusCode == 200)
            let error = try await #require(throws: APIError.self) { try await get("https://a.example/bad") }
            let report = "session.har: log.entries[1] cannot be answered from: \(reason)."
            #expect(error.description.contains(report), "\(error)")
            #expect(throws: (any Error).self) { try MockURLProtocol.verify() }
        }
    }

    @Test(
        "An entry whose request cannot be read answers nothing, and the report says why; the others answer",
        arguments: [
            (#"{"request":{"method":"GET","url":7}}"#, "expected String at log.entries[1].request.url"),
            (#"{"request":{"url":"https://a.example/bad"},"response":null}"#, "log.entries[1].request.method is missing"),
            (entry("not a URL"), "this is not a URL at log.entries[1].request.url"),
            (entry("http:///x"), "the URL has no host at log.entries[1].request.url"),
            ("null", "log.entries[1]"), ("7", "log.entries[1]"),
        ])
    func unreadableRequest(other: String, reason: String) async throws {
        try await MockURLProtocol.withScope {
            try replay(recording(entry("https://a.example/good"), other, entry("https://a.example/fine")))
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            for path in ["good", "fine"] {
                #expect(try await provider.request(anyRequest("https://a.example/\(path)")).value.statusCode == 200)
            }
            let error = try await #require(throws: APIError.self) { try await provider.request(anyRequest("https://a.example/bad")).value }
            #expect(error.description.contains("its request cannot be read: "), "\(error)")
            #expect(error.description.contains(reason), "\(error)")
        }
    }

    @Test("In a long recording, the report says how many entries cannot be read")
    func unreadableRequests() async throws {
        try await MockURLProtocol.withScope {
            let good = (0..<9).map { entry("https://a.example/good/\($0)") }
            try replay(recording((good + ["null", "7"]).joined(separator: ",")))
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            let request = provider.request(try anyRequest("https://a.example/good/x"))
            let error = try await #require(throws: APIError.self) { try await request.value }
            #expect(error.description.contains("Of its recordings, 2 cannot be read. The first is"), "\(error)")
        }
    }

    @Test("A response without a body needs none in the file, and a null header is not sent")
    func partial() async throws {
        let file = try recording(
            entry("https://a.example/none", response: #"{"status":204,"content":{"size":5}}"#),
            entry(
                "https://a.example/null",
                response: #"{"status":200,"headers":[null,{"name":"X-A","value":null},{"name":"X-B","value":"b"}]}"#))
        try replay(file)
        #expect(try await get("https://a.example/none").statusCode == 204)
        let null = try await get("https://a.example/null")
        #expect(null.value(forHTTPHeaderField: "X-A") == nil)
        #expect(null.value(forHTTPHeaderField: "X-B") == "b")
    }

    @Test("A star in a recorded URL is a star, and a plus in a recorded query is a space")
    func literally() async throws {
        let file = try recording(
            entry("https://a.example/*", response: #"{"status":201}"#),
            entry("https://a.example/q?q=a+b&r=1%2B1", response: #"{"status":202}"#))
        try await MockURLProtocol.withScope {
            try replay(file)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            #expect(try await provider.request(anyRequest("https://a.example/*")).value.statusCode == 201)
            for url in ["https://a.example/q?q=a%20b&r=1%2B1", "https://a.example/q?r=1%2B1&q=a+b"] {
                #expect(try await provider.request(anyRequest(url)).value.statusCode == 202)
            }
            for url in ["https://a.example/x", "https://a.example/q?q=a%2Bb&r=1%2B1", "https://a.example/q?q=a%20b&r=1%201"] {
                await #expect(throws: APIError.self) { try await provider.request(anyRequest(url)).value }
            }
        }
    }

    @Test("A recording may be for any host")
    func anyHost() async throws {
        let file = try recording(
            entry("https://a.example/x", response: #"{"status":201}"#), entry("https://b.example/x", response: #"{"status":202}"#))
        try replay(file, forAnyHost: true)
        for status in [201, 202, 202] { #expect(try await get("http://localhost:8080/x").statusCode == status) }
    }

    @Test("For any host, links and redirects to the recorded origin lead to the host that is asked")
    func relative() async throws {
        let link =
            #"<https://a.example/items?page=2>; rel=\"next\", <https://b.example/x>; rel=help"#
        let file = try recording(
            entry("https://a.example/items", response: #"{"status":200,"headers":[{"name":"link","value":"\#(link)"}]}"#),
            entry(
                "https://a.example/old", response: #"{"status":301,"headers":[{"name":"Location","value":"https://a.example/items"}]}"#),
            entry("https://a.example/x"))
        try replay(file, forAnyHost: true)
        let items = try await get("http://localhost:8080/items")
        #expect(try items.link("next")?.absoluteString == "http://localhost:8080/items?page=2")
        let others = "</items?page=2>; rel=\"next\", <https://b.example/x>; rel=help"
        #expect(items.value(forHTTPHeaderField: "Link") == others)
        #expect(try await get("http://localhost:8080/old").request.url.absoluteString == "http://localhost:8080/items")
        MockURLProtocol.reset()
        try replay(file)
        #expect(try await get("https://a.example/items").link("next")?.absoluteString == "https://a.example/items?page=2")
    }

    @Test("Broken JSON and a folder are errors that say so")
    func unreadable() throws {
        func sentence(_ file: URL) -> String? { #expect(throws: (any Error).self) { try replay(file) }?.localizedDescription }
        #expect(sentence(folder.url)?.hasSuffix("it cannot be read (\(folder.url.path)).") == true)
        #expect(sentence(try recording(text: #"{"log":{"entries":["#))?.hasPrefix("session.har: it is not valid JSON") == true)
    }
}

private func har(_ entries: [String]) -> String { #"{"log":{"entries":[\#(entries.joined(separator: ","))]}}"# }

private func entry(_ url: String = "https://a.example/", response: String = #"{"status":200}"#) -> String {
    #"{"request":{"method":"GET","url":"\#(url)"},"response":\#(response)}"#
}
