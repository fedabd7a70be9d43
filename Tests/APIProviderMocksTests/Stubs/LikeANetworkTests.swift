import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Both mocks behave as a network does", .mockNetwork, tenMinutes)
struct LikeANetworkTests {
    @Test("Cookies of stubs are kept and sent for the life of the provider, and no other has them", arguments: Way.allCases)
    func cookies(way: Way) async throws {
        MockURLProtocol.stub(.post, "/login", respond: .status(200, headers: ["Set-Cookie": "sid=1; Path=/; Secure"]))
        MockURLProtocol.stub(.get, "/me", respond: .status(200))
        MockURLProtocol.stub(.post, "/logout", respond: .status(200, headers: ["Set-Cookie": "sid=; Path=/; Max-Age=0"]))
        let (provider, other) = (way.provider, way.provider)
        func cookie(_ provider: DefaultAPIProvider, _ url: String = "https://api.example.com/me") async throws -> String? {
            _ = try await provider.request(Endpoint<Data>(.get, .url(try #require(URL(string: url))))).value
            return MockURLProtocol.requests.last?.headers["Cookie"]
        }
        _ = try await provider.request(Endpoint<Data>(.post, "/login")).value
        #expect(try await cookie(provider) == "sid=1")
        #expect(try await cookie(provider, "https://other.example.org/me") == nil)
        #expect(try await cookie(other) == nil)
        _ = try await provider.request(Endpoint<Data>(.post, "/logout")).value
        #expect(try await cookie(provider) == nil)
    }

    @Test("Progress has the totals of the body that is sent, in steps, and of the one that arrives", arguments: Way.allCases)
    func progress(way: Way) async throws {
        MockURLProtocol.stub(.put, "/a", respond: .data(Data(count: 1000)).chunked(into: 2))
        let log = Log<TransferProgress>()
        let body = HTTPBody.data(Data(count: 200_000), contentType: "a/b")
        _ = try await way.provider.request(Endpoint<Data>(.put, "/a", body: body).onProgress { log.append($0) }).value
        #expect(log.entries.prefix(4).map(\.bytesSent) == [65_536, 131_072, 196_608, 200_000])
        #expect(log.entries.allSatisfy { $0.bytesToSend == 200_000 })
        #expect(log.entries.last?.bytesReceived == 1000 && log.entries.last?.bytesToReceive == 1000)
    }

    @Test("A body has its length, unless it comes in steps, is none, or the stub says another", arguments: Way.allCases)
    func contentLength(way: Way) async throws {
        let table: [(StubResponse, String?)] = [
            (.json([1]), "3"), (.data(Data("ab".utf8)), "2"), (.data(Data("ab".utf8), headers: ["content-length": "2"]), "2"),
            (.data(Data("ab".utf8), headers: ["Transfer-Encoding": "chunked"]), nil), (.status(200), nil),
            (.data(Data(), statusCode: 204), nil), (.json([1], statusCode: 204), nil),
            (.stream([.chunk("a")]), nil), (.events([ServerSentEvent(data: "a")]), nil), (.jsonLines([1]), nil),
            (.handler { _ in .json([1]) }, "3"),
        ]
        for (response, length) in table {
            MockURLProtocol.stub(.get, "/a", respond: response)
            let endpoint = Endpoint<APIResponse>(.get, "/a") { $0 }
            #expect(try await way.provider.request(endpoint).value.headers["Content-Length"] == length)
        }
        let head = Endpoint<APIResponse>(.head, "/a") { $0 }
        MockURLProtocol.stub(.head, "/a", respond: .data(Data("ab".utf8)))
        let answer = try await way.provider.request(head).value
        #expect(answer.headers["Content-Length"] == "2" && answer.data.isEmpty)
    }

    @Test(
        "A file is served whole or in part, by the Range and the If-Range of a request, and breaks off where the stub says",
        arguments: [
            (nil, nil, 200, nil, "0123456789"), ("bytes=4-", nil, 206, "bytes 4-9/10", "456789"),
            ("bytes=0-0", nil, 206, "bytes 0-0/10", "0"), ("bytes=8-99", nil, 206, "bytes 8-9/10", "89"),
            ("bytes=-3", nil, 206, "bytes 7-9/10", "789"), ("bytes=-30", nil, 206, "bytes 0-9/10", "0123456789"),
            ("bytes=10-", nil, 416, "bytes */10", ""), ("bytes=-0", nil, 416, "bytes */10", ""),
            ("bytes=5-4", nil, 200, nil, "0123456789"), ("bytes=0-1,4-5", nil, 200, nil, "0123456789"),
            ("lines=0-1", nil, 200, nil, "0123456789"), ("bytes=9223372036854775808-5", nil, 200, nil, "0123456789"),
            ("bytes=4-", "\"v1\"", 206, "bytes 4-9/10", "456789"),
            ("bytes=4-", "\"v2\"", 200, nil, "0123456789"),
        ] as [(String?, String?, Int, String?, String)])
    func ranges(range: String?, ifRange: String?, status: Int, contentRange: String?, body: String) async throws {
        let file = StubResponse.ranges(of: Data("0123456789".utf8), eTag: "\"v1\"")
        MockURLProtocol.stub(
            .get, "/a", respond: .sequence([file, file, file.breakingOff(with: URLError(.networkConnectionLost), after: 5)]))
        let headers: HTTPHeaders = ["Range": range, "If-Range": ifRange]
        let endpoint = Endpoint<APIResponse>(.get, "/a", headers: headers) { $0 }.validating { _ in }
        for way in Way.allCases {
            let response = try await way.provider.request(endpoint).value
            #expect(response.statusCode == status && response.headers["Content-Range"] == contentRange)
            #expect(response.text == body && response.headers["ETag"] == "\"v1\"")
        }
        let log = Log<Int64>()
        let error = try await mocked.failure(of: endpoint.onProgress { log.append($0.bytesReceived) })
        #expect(error.urlError?.code == .networkConnectionLost)
        #expect(log.entries.max() ?? 0 == Int64(min(body.count, 5)))
    }

    @Test("A download that breaks off goes on", arguments: Way.allCases)
    func resuming(way: Way) async throws {
        let (file, lost) = (StubResponse.ranges(of: Data("0123456789".utf8), eTag: "\"v1\""), URLError(.networkConnectionLost))
        MockURLProtocol.stub(.get, "/a", respond: .sequence([file.breakingOff(with: lost, after: 6), file]))
        let folder = TemporaryFolder()
        let download = Endpoint(.get, "/a", downloadingTo: folder.url("a")).resuming()
        await #expect(throws: APIError.self) { try await way.provider.request(download).value }
        _ = try await way.provider.request(download).value
        #expect(try String(contentsOf: folder.url("a"), encoding: .utf8) == "0123456789")
        #expect(MockURLProtocol.requests.last?.headers["Range"] == "bytes=6-")
    }

    @Test("A status below 200 is what the stub says", arguments: [100, 101, 103, 199], Way.allCases)
    func informational(status: Int, way: Way) async throws {
        MockURLProtocol.stub(.get, "/a", respond: .status(status))
        let error = try await way.provider.failure(of: Endpoint<Data>(.get, "/a"))
        guard case .unacceptableStatus(let response) = error else {
            Issue.record("\(error)")
            return
        }
        #expect(response.statusCode == status)
    }

    @Test("Text of an event with a carriage return arrives whole", arguments: ["a\r\nb", "a\rb", "a\nb", "\r\n"])
    func carriageReturn(data: String) async throws {
        MockURLProtocol.stub(.get, "/a", respond: .events([ServerSentEvent(data: data), ServerSentEvent(data: "end")]))
        var events = try await mocked.request(Endpoint<ServerSentEvents>(.get, "/a")).value.makeAsyncIterator()
        let lines = data.replacingOccurrences(of: "\r\n", with: "\n").replacingOccurrences(of: "\r", with: "\n")
        #expect(try await events.next()?.data == lines)
        #expect(try await events.next()?.data == "end")
    }

    @Test(
        "The report says how to write a URL that nearly matches",
        arguments: [
            ("/users/{id}", "/users/1", "write *"), ("/users/:id", "/users/1", "write *"), ("/users/{id}/repos", "/users/1", "write *"),
            ("/users/*", "/users/1/repos", "a * is one segment, and ** is any number"), ("/users/*/x", "/users/1/repos", "/users/*/x\n"),
            ("/users", "/users%3Fpage=1", "has an escaped ?: pass its query as query"),
            ("http://api.example.com/users", "/users", "scheme  expected  http://api.example.com"),
            ("https://example.org/users", "/users", "host    expected  https://example.org"),
        ])
    func nearMiss(pattern: String, path: String, hint: String) async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.get, pattern, respond: .status(200))
            let url = try #require(URL(string: "https://api.example.com" + path))
            let report = try await mocked.failure(of: Endpoint<Data>(.get, .url(url))).description
            #expect(report.contains(hint), "\(report)")
        }
    }

    @Test(
        "A form is compared as the WHATWG reads it",
        arguments: [
            ("a=%zz+b", "a=%25zz%20b", true), ("a=1%2", "a=1%252", true), ("=1&a", "a=&=1", true), ("a=1", "a=1&", true),
            ("a=%FE", "a=%FF", false),
        ])
    func form(sent: String, other: String, isSame: Bool) async {
        func body(_ text: String) -> HTTPBody { .data(Data(text.utf8), contentType: "application/x-www-form-urlencoded") }
        await MockURLProtocol.withScope {
            MockURLProtocol.stub(Endpoint<Data>(.post, "/a", body: body(other)), respond: .status(200))
            let answer = try? await mocked.request(Endpoint<Data>(.post, "/a", body: body(sent))).value
            #expect((answer != nil) == isSame)
        }
    }
}
