import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Logging", tenMinutes)
struct LoggingMiddlewareTests {
    private let scheduler = TestScheduler()
    private let log = Log<String>()

    private func middleware(_ detail: LoggingMiddleware.Detail) -> LoggingMiddleware {
        LoggingMiddleware(detail, now: { [scheduler] in scheduler.now }, log: log.append)
    }

    /// What is logged of one request whose answer takes 34 ms.
    @discardableResult
    private func logged(
        _ request: PreparedRequest, _ answer: Answers.Answer = .status(200), _ detail: LoggingMiddleware.Detail = .line
    ) throws -> String {
        let (next, scheduler) = (Answers(answer).next, scheduler)
        let slow: @Sendable (PreparedRequest) -> Single<APIResponse> = { request in
            Single.just(()).delay(.milliseconds(34), scheduler: scheduler).flatMap { next(request) }
        }
        _ = middleware(detail).intercept(request, next: slow).subscribe { _ in }
        #expect(log.entries == [])
        scheduler.run()
        #expect(log.count == 1)
        return try #require(log.entries.first)
    }

    @Test("A response is one line: method, URL, status, size and time")
    func response() throws {
        let line = try logged(PreparedRequest("PUT", "https://api.example.com/items/1?q=s3cret"), .status(404, body: "none"))
        #expect(line == "PUT https://api.example.com/items/1?q=…: 404 Not Found, 4 bytes, 34 ms")
    }

    @Test("An error is one line, with its sentence")
    func error() throws {
        let request = PreparedRequest("GET", "https://api.example.com/items?q=s3cret")
        let line = try logged(request, .error(APIError.transport(request, underlying: URLError(.timedOut))))
        #expect(
            line
                == "GET https://api.example.com/items?q=… failed: it timed out; is api.example.com:443 up, and is the timeout long enough? (URLError -1001). 34 ms"
        )
    }

    @Test("An error that is about another request names both")
    func otherRequest() throws {
        let refresh = PreparedRequest("POST", "https://login.example.com/token?q=s3cret")
        let error = APIError.unacceptableStatus(APIResponse(to: refresh, status: 400, data: Data(#"{"refresh_token":"s3cret"}"#.utf8)))
        let line = try logged(PreparedRequest("GET"), .error(error))
        #expect(
            line == "GET https://api.example.com/items failed: POST https://login.example.com/token?q=… failed: "
                + "400 Bad Request (26 bytes). 34 ms")
    }

    @Test("An error that is no APIError has no URL in it")
    func foreignError() throws {
        let url = try #require(URL(string: "https://api.example.com/items?q=s3cret"))
        let error = URLError(.networkConnectionLost, userInfo: [NSURLErrorFailingURLErrorKey: url])
        let line = try logged(PreparedRequest("GET"), .error(error))
        #expect(line.hasPrefix("GET https://api.example.com/items failed: api.example.com closed the connection"))
        #expect(!line.contains("s3cret"))
    }

    @Test("A request that is disposed is cancelled, and nothing is told of it later")
    func cancelled() {
        let responses = Producer<APIResponse>()
        let disposable = middleware(.line).intercept(PreparedRequest("GET")) { _ in responses.single }.subscribe()
        scheduler.advance(by: .milliseconds(12))
        disposable.dispose()
        responses.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(log.entries == ["GET https://api.example.com/items: cancelled, 12 ms"])
    }

    @Test("It is cold, each subscription is timed, and the event is unchanged")
    func cold() async throws {
        let single = middleware(.line).intercept(PreparedRequest("GET"), next: Answers(.status(201, body: "a")).next)
        #expect(log.entries == [])
        for _ in 0..<2 {
            scheduler.advance(by: .seconds(1))
            #expect(try await single.value.data == Data("a".utf8))
        }
        #expect(log.entries == Array(repeating: "GET https://api.example.com/items: 201 Created, 1 bytes, 0 ms", count: 2))
    }

    @Test("Everything is shown if nothing is to be left out")
    func none() async throws {
        let request = PreparedRequest("POST", "https://h/?q=s3cret", headers: ["Authorization": "s3cret"], body: Data("s3cret text".utf8))
        let logging = LoggingMiddleware(.bodies, redacting: .none, log: log.append)
        _ = try await logging.intercept(request, next: Answers(.status(200, headers: ["Set-Cookie": "s3cret"], body: "<s3cret>")).next)
            .value
        let text = try #require(log.entries.first)
        for line in ["POST https://h/?q=s3cret: ", "> Authorization: s3cret", "> s3cret text", "< Set-Cookie: s3cret", "< <s3cret>"] {
            #expect(text.contains(line), "\(text)")
        }
    }

    @Test("Of a long body its beginning is shown, whatever character is cut in two", arguments: 0..<4)
    func cut(offset: Int) throws {
        let text = String(repeating: "a", count: offset) + String(repeating: "😀", count: 3_000)
        let logging = LoggingMiddleware(.bodies, redacting: .none, log: log.append)
        _ = logging.intercept(PreparedRequest("POST", body: Data(text.utf8)), next: Answers(.status(200)).next).subscribe()
        #expect(try #require(log.entries.first).contains("> \(text.prefix(200))"))
    }

    @Test("A stream is logged when its head has come")
    func unread() {
        let response = streamedResponse(["a".utf8]).response
        _ = middleware(.line).intercept(response.request) { _ in .just(response) }.subscribe()
        #expect(log.entries == ["GET https://api.example.com: 200 OK, streamed, 0 ms"])
    }

    @Test("Headers come with it, indented, in order, without values, and the types and sizes of bodies")
    func bodies() throws {
        let request = PreparedRequest(
            "POST", "https://api.example.com/login?q=s3cret",
            headers: [
                "Content-Type": "application/json", "Authorization": "Basic s3cret", "cookie": "a=s3cret", "Accept": "a/b",
                "X-Auth": "s3cret", "Referer": "https://example.com/p?q=s3cret",
            ], body: Data(#"{"user":"me","message":"dear code","remember":true}"#.utf8))
        let answer = Answers.Answer.status(
            200,
            headers: [
                "Set-Cookie": "a=s3cret", "Location": "https://u:s3cret@example.com/", "Server": "test", "Retry-After": "3",
            ], body: "access_token=s3cret&error=not+now")
        let text = try logged(request, answer, .bodies)
        #expect(
            text == """
                POST https://api.example.com/login?q=…: 200 OK, 33 bytes, 34 ms
                  > Accept: a/b
                  > Authorization: …
                  > Content-Type: application/json
                  > cookie: …
                  > Referer: …
                  > X-Auth: …
                  > (application/json, 51 bytes)
                  < Location: …
                  < Retry-After: 3
                  < Server: test
                  < Set-Cookie: …
                  < (33 bytes)
                """)
    }

    @Test("An error comes with what was sent, be it no text", arguments: [[0xFF], [0x61, 0xFF], [0x61, 0], [0xC3]] as [[UInt8]])
    func bodiesOfError(bytes: [UInt8]) throws {
        let request = PreparedRequest("POST", body: Data(bytes))
        let text = try logged(request, .error(APIError.transport(request, underlying: URLError(.timedOut))), .bodies)
        #expect(text.hasSuffix(" 34 ms\n  > (\(bytes.count == 1 ? "1 byte" : "2 bytes"))"))
    }

    @Test("A long body is cut")
    func long() throws {
        let logging = LoggingMiddleware(.bodies, redacting: .none, log: log.append)
        let next = Answers(.status(200, body: String(repeating: "é", count: 100_000))).next
        _ = logging.intercept(PreparedRequest("GET"), next: next).subscribe { _ in }
        let line = try #require(log.entries.first?.split(separator: "\n").last)
        #expect(line.utf8.count <= 1024 + 4)
        #expect(line.hasSuffix("é…"))
    }

    @Test("Nothing that was sent or received can begin a line or command a terminal")
    func forging() throws {
        let forged = "x\r\nGET https://api.example.com/forged: 200 OK\u{85}a\u{2028}b\u{1B}[2J\u{9B}2J\u{7F}\u{B}\u{C}"
        var request = PreparedRequest("GET\nGET https://forged", body: Data(forged.utf8))
        request.headers = ["X-A": forged, "X-B\nGET https://forged": "b"]
        let next = Answers(.status(500, body: forged)).next
        _ = middleware(.bodies).intercept(request, next: next).subscribe { _ in }
        _ = LoggingMiddleware(.bodies, redacting: .none, log: log.append).intercept(request, next: next).subscribe { _ in }
        _ = middleware(.line).intercept(request, next: Answers(.error(TestError(forged))).next).subscribe { _ in }
        for text in log.entries {
            for (index, line) in text.split(separator: "\n", omittingEmptySubsequences: false).enumerated() where index > 0 {
                #expect(line.hasPrefix("  > ") || line.hasPrefix("  < "), "\(text)")
            }
            let scalars = text.unicodeScalars.filter { $0 != "\n" && ($0.properties.generalCategory == .control || $0 == "\u{2028}") }
            #expect(scalars.isEmpty, "\(text)")
        }
        #expect(log.count == 3)
        #expect(log.entries.last?.contains("\n") == false)
    }

    @Test("On standard error, lines of several threads stay whole")
    func standardError() async throws {
        #if compiler(>=6.2) && (os(Linux) || os(macOS))
        let result = await #expect(processExitsWith: .success, observing: [\.standardErrorContent]) {
            let middleware = LoggingMiddleware(.bodies)
            let request = PreparedRequest("GET", headers: ["Accept": String(repeating: "a", count: 500)])
            DispatchQueue.concurrentPerform(iterations: 200) { _ in
                _ = middleware.intercept(request, next: Answers(.status(200)).next).subscribe()
            }
        }
        let text = String(decoding: try #require(result).standardErrorContent, as: UTF8.self)
        let lines = text.split(separator: "\n").filter { $0.contains("items") || $0.contains("Accept") }
        #expect(lines.count == 400)
        for (index, line) in lines.enumerated() {
            #expect(index % 2 == 0 ? line.hasPrefix("GET https://api.example.com/items: 200 OK, 0 bytes, ") : line.count == 512)
        }
        #endif
    }
}
