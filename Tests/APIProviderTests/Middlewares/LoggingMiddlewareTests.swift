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

    private func middleware(_ detail: LoggingMiddleware.Detail, redacting redaction: Redaction = .standard) -> LoggingMiddleware {
        LoggingMiddleware(detail, redacting: redaction, now: { [scheduler] in scheduler.now }) { [log] text, _ in log.append(text) }
    }

    /// The log of one request whose answer takes 34 ms.
    @discardableResult
    private func logged(
        _ request: PreparedRequest, _ answer: Answers.Answer = .status(200), _ detail: LoggingMiddleware.Detail = .line,
        redacting redaction: Redaction = .standard
    ) throws -> String {
        let (next, scheduler) = (Answers(answer).next, scheduler)
        _ = middleware(detail, redacting: redaction).intercept(request) { request in
            Single.just(()).delay(.milliseconds(34), scheduler: scheduler).flatMap { next(request) }
        }.subscribe { _ in }
        let count = log.count
        scheduler.run()
        #expect(log.count == count + 1)
        return try #require(log.entries.last)
    }

    private static let refused = APIError.unacceptableStatus(
        APIResponse(to: PreparedRequest("POST", "https://login.example.com/token?q=s3cret"), statusCode: 400, data: Data("s3cret".utf8)))

    @Test(
        "A response is a line with method or name, URL, status, size and time, and an error is a line with its sentence",
        arguments: [
            (nil, .status(404, body: "none"), "PUT https://api.example.com/items?q=…: 404 Not Found, 4 bytes, 34 ms"),
            ("addItem", .status(200), "addItem: 200 OK, 0 bytes, 34 ms"),
            (
                "addItem", .error(URLError(.notConnectedToInternet)),
                "addItem failed: there is no network connection (URLError -1009). 34 ms"
            ),
            (
                nil, .error(URLError(.notConnectedToInternet, userInfo: [NSURLErrorFailingURLErrorKey: example])),
                "PUT https://api.example.com/items?q=… failed: there is no network connection (URLError -1009). 34 ms"
            ),
            // An error of another request names both.
            (
                nil, .error(refused),
                "PUT https://api.example.com/items?q=… failed: POST https://login.example.com/token?q=… failed: "
                    + "400 Bad Request (6 bytes). 34 ms"
            ),
            // So does an error of the request with an item that an inner middleware has added.
            (
                "addItem",
                .error(
                    APIError.transport(
                        PreparedRequest("PUT", "https://api.example.com/items?q=s3cret&appid=s3cret"),
                        underlying: URLError(.notConnectedToInternet))),
                "addItem failed: PUT https://api.example.com/items?q=…&appid=… failed: there is no network connection (URLError -1009). 34 ms"
            ),
        ] as [(String?, Answers.Answer, String)])
    func lines(name: String?, answer: Answers.Answer, line: String) throws {
        var request = PreparedRequest("PUT", "https://api.example.com/items?q=s3cret")
        request.options.name = name
        #expect(try logged(request, answer) == line)
    }

    @Test("Disposing is logged as a cancellation, and nothing is logged after it")
    func cancelled() {
        let responses = Producer<APIResponse>()
        let disposable = middleware(.line).intercept(PreparedRequest("GET")) { _ in responses.single }.subscribe()
        scheduler.advance(by: .milliseconds(12))
        disposable.dispose()
        responses.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(log.entries == ["GET https://api.example.com/items: cancelled, 12 ms"])
    }

    @Test("Each subscription is timed, and its event is unchanged")
    func cold() async throws {
        let single = middleware(.line).intercept(PreparedRequest("GET"), next: Answers(.status(201, body: "a")).next)
        for _ in 0..<2 {
            scheduler.advance(by: .seconds(1))
            #expect(try await single.value.data == Data("a".utf8))
        }
        #expect(log.entries == Array(repeating: "GET https://api.example.com/items: 201 Created, 1 bytes, 0 ms", count: 2))
    }

    @Test("A stream is logged when its head arrives")
    func unread() {
        let response = streamedResponse(["a".utf8]).response
        _ = middleware(.line).intercept(response.request) { _ in .just(response) }.subscribe()
        #expect(log.entries == ["GET https://api.example.com: 200 OK, streamed, 0 ms"])
    }

    @Test("Headers are in order, without secret values, and bodies are a type and a size, unless all is shown")
    func bodies() throws {
        let request = PreparedRequest(
            "POST", "https://api.example.com/login?q=s3cret",
            headers: ["Content-Type": "application/json", "Authorization": "Basic s3cret", "cookie": "a=s3cret", "Accept": "a/b"],
            body: Data(#"{"user":"me"}"#.utf8))
        let headers: HTTPHeaders = ["Set-Cookie": "a=s3cret", "Location": "https://u:s3cret@example.com/", "Retry-After": "3"]
        let answer = Answers.Answer.status(200, headers: headers, body: "error=not+now")
        #expect(
            try logged(request, answer, .bodies) == """
                POST https://api.example.com/login?q=…: 200 OK, 13 bytes, 34 ms
                  > Accept: a/b
                  > Authorization: …
                  > Content-Type: application/json
                  > cookie: …
                  > (application/json, 13 bytes)
                  < Location: …
                  < Retry-After: 3
                  < Set-Cookie: …
                  < (13 bytes)
                """)
        let all = try logged(request, answer, .bodies, redacting: .none)
        for part in ["q=s3cret", "> Authorization: Basic s3cret", #"> {"user":"me"}"#, "< Set-Cookie: a=s3cret", "< error=not+now"] {
            #expect(all.contains(part), "\(all)")
        }
    }

    @Test(
        "The request's body is logged before an error as its size if it is not text",
        arguments: [[0xFF], [0x61, 0xFF], [0x61, 0], [0xC3]] as [[UInt8]])
    func bodiesOfError(bytes: [UInt8]) throws {
        let text = try logged(PreparedRequest("POST", body: Data(bytes)), .error(URLError(.timedOut)), .bodies, redacting: .none)
        #expect(text.hasSuffix(" 34 ms\n  > (\(bytes.count == 1 ? "1 byte" : "2 bytes"))"))
    }

    @Test("A long body is cut between characters", arguments: 0..<4)
    func cut(offset: Int) throws {
        let body = String(repeating: "a", count: offset) + String(repeating: "😀", count: 3_000)
        let text = try logged(PreparedRequest("POST", body: Data(body.utf8)), .status(200, body: body), .bodies, redacting: .none)
        for line in text.split(separator: "\n").dropFirst() {
            #expect(line.dropFirst(4).hasPrefix(body.prefix(200)) && line.hasSuffix("😀…") && line.utf8.count <= 1024 + 4, "\(line)")
        }
    }

    @Test("Sent and received text cannot start a line of the log or control a terminal")
    func forging() throws {
        let forged = "x\r\nGET https://api.example.com/forged: 200 OK\u{85}a\u{2028}b\u{1B}[2J\u{9B}2J\u{7F}\u{B}\u{C}"
        var request = PreparedRequest("GET\nGET https://forged", body: Data(forged.utf8))
        request.headers = ["X-A": forged, "X-B\nGET https://forged": "b"]
        for redaction in [Redaction.standard, .none] { try logged(request, .status(500, body: forged), .bodies, redacting: redaction) }
        try logged(request, .error(TestError(forged)))
        for text in log.entries {
            for line in text.split(separator: "\n", omittingEmptySubsequences: false).dropFirst() {
                #expect(line.hasPrefix("  > ") || line.hasPrefix("  < "), "\(text)")
            }
            let scalars = text.unicodeScalars.filter { $0 != "\n" && ($0.properties.generalCategory == .control || $0 == "\u{2028}") }
            #expect(scalars.isEmpty, "\(text)")
        }
        #expect(log.entries.last?.contains("\n") == false)
    }

    @Test(
        "Only an error and a status of 400 or more have the level of a failure",
        arguments: [(.status(200), false), (.status(304), false), (.status(400), true), (.status(503), true), (.error(TestError()), true)]
            as [(Answers.Answer, Bool)])
    func levels(answer: Answers.Answer, isFailure: Bool) {
        let failures = Log<Bool>()
        let middleware = LoggingMiddleware(now: { [scheduler] in scheduler.now }) { failures.append($1) }
        _ = middleware.intercept(PreparedRequest("GET"), next: Answers(answer).next).subscribe { _ in }
        middleware.intercept(PreparedRequest("GET")) { _ in .never() }.subscribe { _ in }.dispose()
        #expect(failures.entries == [isFailure, false])
    }

    @Test("On standard error, the lines of several threads stay whole")
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
