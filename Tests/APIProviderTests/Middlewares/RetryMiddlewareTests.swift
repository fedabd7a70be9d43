import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Retrying")
struct RetryMiddlewareTests {
    private let scheduler = TestScheduler()

    /// What came in the end, and after how many milliseconds each attempt was made.
    private final class Outcome: Sendable {
        let events = Log<SingleEvent<APIResponse>>()
        let attempts = Log<Int>()
        var statuses: [Int?] { events.entries.map { try? $0.get().statusCode } }
    }

    @discardableResult
    private func send(
        _ request: PreparedRequest, by middleware: RetryMiddleware, to answers: Answers, _ outcome: Outcome = Outcome()
    ) -> Outcome {
        let start = scheduler.now.uptimeNanoseconds
        _ = middleware.intercept(request) { [scheduler] request in
            outcome.attempts.append(Int((scheduler.now.uptimeNanoseconds - start) / 1_000_000))
            return answers.next(request)
        }.subscribe { outcome.events.append($0) }
        scheduler.run()
        return outcome
    }

    /// Waits as long as it may.
    private func patient(
        _ attempts: Int = 3, base: DispatchTimeInterval = .milliseconds(500), max: DispatchTimeInterval = .seconds(30),
        now: Date = Date(timeIntervalSince1970: 784_111_777)
    ) -> RetryMiddleware {
        RetryMiddleware(
            RetryPolicy(maxAttempts: attempts, baseDelay: base, maxDelay: max), scheduler: scheduler, random: { 1 }, now: { now })
    }

    @Test("A request is sent again after a status that may pass", arguments: [408, 429, 500, 502, 503, 504])
    func statuses(status: Int) {
        let outcome = send(PreparedRequest("GET"), by: patient(), to: Answers(.status(status), .status(200)))
        #expect(outcome.statuses == [200])
        #expect(outcome.attempts.entries == [0, 500])
    }

    @Test("Other statuses are the answer at once", arguments: [200, 301, 400, 401, 404, 409, 425, 501, 505, 511])
    func otherStatuses(status: Int) {
        let answers = Answers(.status(status))
        #expect(send(PreparedRequest("GET"), by: patient(), to: answers).statuses == [status])
        #expect(answers.requests.count == 1)
    }

    @Test(
        "Only idempotent methods are sent again (RFC 9110, section 9.2.2)",
        arguments: [
            ("GET", 3), ("HEAD", 3), ("OPTIONS", 3), ("TRACE", 3), ("PUT", 3), ("DELETE", 3), ("POST", 1), ("PATCH", 1), ("CONNECT", 1),
            ("PURGE", 1),
        ])
    func methods(method: HTTPMethod, attempts: Int) {
        let (refusing, failing) = (Answers(.status(503)), Answers(.error(URLError(.timedOut))))
        send(PreparedRequest(method), by: patient(), to: refusing)
        send(PreparedRequest(method), by: patient(), to: failing)
        #expect(refusing.requests.map(\.method) == Array(repeating: method, count: attempts))
        #expect(failing.requests.count == attempts)
    }

    @Test(
        "A request is sent again after a connection error that may pass",
        arguments: [
            URLError.Code.timedOut, .networkConnectionLost, .cannotConnectToHost, .cannotFindHost, .dnsLookupFailed,
            .notConnectedToInternet, .badServerResponse,
        ])
    func passingErrors(code: URLError.Code) {
        let bare = URLError(code)
        for error in [bare, APIError.transport(PreparedRequest("GET"), underlying: bare)] as [any Error] {
            let outcome = send(PreparedRequest("GET"), by: patient(), to: Answers(.error(error), .status(204)))
            #expect(outcome.statuses == [204])
        }
    }

    @Test("A request is not sent again after an error that will not pass")
    func lastingErrors() {
        let codes: [URLError.Code] = [
            .unknown, .cancelled, .badURL, .unsupportedURL, .dataLengthExceedsMaximum, .httpTooManyRedirects, .secureConnectionFailed,
            .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot, .serverCertificateNotYetValid,
            .clientCertificateRejected, .clientCertificateRequired, .userAuthenticationRequired, .cannotDecodeContentData,
            .redirectToNonExistentLocation,
        ]
        let others: [any Error] = [TestError(), APIError.invalidRequest(reason: "no"), RxError.timeout, CancellationError()]
        for error in codes.map({ APIError.transport(PreparedRequest("GET"), underlying: URLError($0)) }) + others {
            let answers = Answers(.error(error))
            let outcome = send(PreparedRequest("GET"), by: patient(), to: answers)
            #expect(answers.requests.count == 1, "\(error)")
            #expect(outcome.events.count == 1)
        }
    }

    @Test("The last response or the last error is what the caller gets, after three attempts by default")
    func last() {
        let outcome = send(
            PreparedRequest("GET"), by: RetryMiddleware(scheduler: scheduler),
            to: Answers(.status(500), .error(URLError(.timedOut)), .status(503)))
        #expect(outcome.statuses == [503])
        #expect(outcome.attempts.count == 3)
        let failed = send(PreparedRequest("GET"), by: patient(2), to: Answers(.status(500), .error(URLError(.cannotFindHost))))
        #expect(throws: URLError(.cannotFindHost)) { try failed.events.entries.first?.get() }
        #expect(failed.attempts.count == 2)
    }

    @Test("Fewer than one attempt means one", arguments: [1, 0, -1, .min])
    func none(attempts: Int) {
        let answers = Answers(.status(503))
        #expect(send(PreparedRequest("GET"), by: patient(attempts), to: answers).statuses == [503])
        #expect(answers.requests.count == 1)
    }

    @Test("The wait doubles up to the longest")
    func backoff() {
        let outcome = send(PreparedRequest("GET"), by: patient(7, max: .seconds(3)), to: Answers(.status(503)))
        #expect(outcome.attempts.entries == [0, 500, 1_500, 3_500, 6_500, 9_500, 12_500])
    }

    @Test("The wait is random, from 0 to the longest", arguments: [(0, 0), (0.25, 125), (1, 500)])
    func jitter(chance: Double, wait: Int) {
        let middleware = RetryMiddleware(scheduler: scheduler, random: { chance })
        #expect(send(PreparedRequest("GET"), by: middleware, to: Answers(.status(503), .status(200))).attempts.entries == [0, wait])
    }

    @Test("A random wait stays within its bounds")
    func chance() {
        let waits = (0..<200).compactMap { _ in
            send(PreparedRequest("GET"), by: RetryMiddleware(scheduler: scheduler), to: Answers(.status(503), .status(200))).attempts
                .entries
                .last
        }
        #expect(waits.allSatisfy { 0...500 ~= $0 })
        #expect(Set(waits).count > 20)
    }

    struct RetryAfter: Sendable, CustomTestStringConvertible {
        let value: String
        var date: String?
        /// In milliseconds.
        let wait: Int
        let rule: String
        var testDescription: String { rule }
    }

    // The clock stands at Sun, 06 Nov 1994 08:49:37 GMT.
    @Test(
        "Retry-After takes the place of the wait, up to the longest",
        arguments: [
            RetryAfter(value: "7", wait: 7_000, rule: "RFC 9110, 10.2.3: delay-seconds"),
            RetryAfter(value: " 7 ", wait: 7_000, rule: "white space around a value is none of it"),
            RetryAfter(value: "0", wait: 0, rule: "at once"),
            RetryAfter(value: "30", wait: 30_000, rule: "the longest"),
            RetryAfter(value: "Sun, 06 Nov 1994 08:49:57 GMT", wait: 20_000, rule: "RFC 9110, 5.6.7: IMF-fixdate"),
            RetryAfter(value: "Sunday, 06-Nov-94 08:49:57 GMT", wait: 20_000, rule: "RFC 9110, 5.6.7: the date of RFC 850"),
            RetryAfter(value: "Sun Nov  6 08:49:57 1994", wait: 20_000, rule: "RFC 9110, 5.6.7: the date of asctime"),
            RetryAfter(value: "Sun, 06 Nov 1994 08:49:30 GMT", wait: 0, rule: "a date that has passed"),
            RetryAfter(value: "Sunday, 06-Nov-45 08:49:57 GMT", wait: 0, rule: "and else it has passed"),
            RetryAfter(
                value: "Mon, 01 Jan 2024 00:00:05 GMT", date: "Mon, 01 Jan 2024 00:00:00 GMT", wait: 5_000,
                rule: "a date counts from the response's own"),
            RetryAfter(value: "Sun, 06 Nov 1994 08:49:57 GMT", date: "today", wait: 20_000, rule: "unless that is none"),
            RetryAfter(value: "", wait: 500, rule: "nothing says nothing"),
            RetryAfter(value: "soon", wait: 500, rule: "nor does a word"),
            RetryAfter(value: "-7", wait: 500, rule: "delay-seconds has no sign"),
            RetryAfter(value: "1.5", wait: 500, rule: "and no fraction"),
            RetryAfter(value: "7, 8", wait: 500, rule: "and is one"),
            RetryAfter(value: "٧", wait: 500, rule: "and is of ASCII digits"),
            RetryAfter(value: "Sun, 31 Feb 1994 08:49:57 GMT", wait: 500, rule: "there is no 31 February"),
            RetryAfter(value: "Sun, 06 Nov 1994 25:49:57 GMT", wait: 500, rule: "and no hour 25"),
            RetryAfter(value: "Sun, 06 Nov 1994 08:49:57 CET", wait: 500, rule: "the zone is GMT"),
            RetryAfter(value: "Sun, 06 Nov 99999999999999999999 08:49:57 GMT", wait: 500, rule: "a year has four digits"),
        ])
    func retryAfter(row: RetryAfter) {
        let headers: HTTPHeaders = ["Retry-After": row.value, "Date": row.date]
        let outcome = send(PreparedRequest("GET"), by: patient(), to: Answers(.status(429, headers: headers), .status(200)))
        #expect(outcome.attempts.entries == [0, row.wait])
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("A date is in GMT, wherever the program runs")
    func elsewhere() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "Asia/Seoul", 1)
            NSTimeZone.resetSystemTimeZone()
            try #require(TimeZone.current.secondsFromGMT() == 32_400)
            RetryMiddlewareTests().retryAfter(row: RetryAfter(value: "Sun, 06 Nov 1994 08:49:57 GMT", wait: 20_000, rule: "elsewhere"))
        }
    }
    #endif

    @Test(
        "If a server asks for more than the longest wait, its response is the answer",
        arguments: [
            "31", String(repeating: "9", count: 400), "Sunday, 06-Nov-44 08:49:57 GMT", "Fri, 31 Dec 9999 23:59:60 GMT",
            "Sun, 06 Nov 1994 08:50:08 GMT",
        ])
    func longRetryAfter(value: String) {
        let answers = Answers(.status(429, headers: ["Retry-After": value]), .status(200))
        #expect(send(PreparedRequest("GET"), by: patient(), to: answers).statuses == [429])
        #expect(answers.requests.count == 1)
    }

    @Test("A request that cannot have been sent, or has an Idempotency-Key, is sent again whatever its method")
    func otherMethods() {
        for code in [URLError.Code.cannotConnectToHost, .cannotFindHost, .dnsLookupFailed, .notConnectedToInternet] {
            let outcome = send(PreparedRequest("POST"), by: patient(), to: Answers(.error(URLError(code)), .status(201)))
            #expect(outcome.statuses == [201])
        }
        let refused = send(
            PreparedRequest("POST"), by: patient(), to: Answers(.error(URLError(.cannotConnectToHost)), .status(503), .status(201)))
        #expect(refused.statuses == [503])
        let keyed = PreparedRequest("POST", headers: ["idempotency-key": "1"])
        for answer in [Answers.Answer.status(503), .error(URLError(.timedOut))] {
            #expect(send(keyed, by: patient(), to: Answers(answer, .status(201))).statuses == [201])
        }
    }

    @Test("An endpoint's policy takes the place of the middleware's")
    func policies() async throws {
        let once = Answers(.status(503), .status(200))
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport(once.next),
            middlewares: [RetryMiddleware(RetryPolicy(baseDelay: .nanoseconds(0)))])
        let endpoint = Endpoint<Void>(.post, "").validating { _ in }
        _ = try await provider.request(Endpoint<Void>(.get, "").option(\.retryPolicy, .never).validating { _ in }).value
        #expect(once.requests.count == 1)
        let posting = Answers(.status(418), .status(200))
        let other = DefaultAPIProvider(baseURL: example, transport: ClosureTransport(posting.next), middlewares: [RetryMiddleware(.never)])
        let policy = RetryPolicy(baseDelay: .nanoseconds(0), statuses: [418], methods: [.post])
        _ = try await other.request(endpoint.option(\.retryPolicy, policy)).value
        #expect(posting.requests.count == 2)
    }

    @Test("Negative delays are 0, and endless ones are the longest that fit")
    func strangeDelays() {
        let refusing = Answers(.status(503))
        let negative = patient(base: .seconds(-5), max: .seconds(-1))
        #expect(send(PreparedRequest("GET"), by: negative, to: refusing).attempts.entries == [0, 0, 0])
        let none = patient(2_000, base: .nanoseconds(0))
        #expect(send(PreparedRequest("GET"), by: none, to: refusing).attempts.entries.last == 0)
        let endless = patient(2, base: .never, max: .never)
        #expect(send(PreparedRequest("GET"), by: endless, to: refusing).attempts.entries == [0, Int(Int32.max)])
        let longest = patient(2, base: .seconds(.max), max: .seconds(.max))
        #expect(send(PreparedRequest("GET"), by: longest, to: refusing).attempts.entries == [0, Int(Int32.max)])
    }

    @Test("A body is sent again")
    func bodies() {
        let body = Data("body".utf8)
        let answers = Answers(.status(503), .status(200))
        send(PreparedRequest("PUT", body: body), by: patient(), to: answers)
        #expect(answers.requests.map(\.bodyData) == [body, body])
    }

    @Test("Dispose ends it while it waits")
    func disposed() {
        let answers = Answers(.status(503))
        let disposable = patient().intercept(PreparedRequest("GET"), next: answers.next).subscribe { Issue.record("\($0)") }
        scheduler.advance(by: .milliseconds(499))
        disposable.dispose()
        scheduler.run()
        #expect(answers.requests.count == 1)
    }

    @Test("Each subscription has its own attempts")
    func cold() async throws {
        let answers = Answers(.status(503), .status(200), .status(503), .status(200))
        let middleware = RetryMiddleware(RetryPolicy(baseDelay: .nanoseconds(0)))
        let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport(answers.next), middlewares: [middleware])
        let single = provider.request(Endpoint<Void>(.get, ""))
        #expect(answers.requests.isEmpty)
        _ = try await single.value
        #expect(answers.requests.count == 2)
        _ = try await single.value
        #expect(answers.requests.count == 4)
    }

    private func deciding(
        _ decide: @escaping @Sendable (PreparedRequest, Result<APIResponse, any Error>) throws -> Bool?
    ) -> RetryMiddleware {
        RetryMiddleware(RetryPolicy(maxAttempts: 3, shouldRetry: decide), scheduler: scheduler, random: { 1 })
    }

    @Test("A closure decides before statuses and methods, and nil leaves it to them")
    func closure() {
        let locked = deciding { request, result in
            guard request.method != "HEAD" else { return false }
            return (try? result.get())?.statusCode == 423 ? true : nil
        }
        #expect(send(PreparedRequest("POST"), by: locked, to: Answers(.status(423), .status(200))).attempts.entries == [0, 500])
        #expect(send(PreparedRequest("HEAD"), by: locked, to: Answers(.status(503), .status(200))).statuses == [503])
        #expect(send(PreparedRequest("GET"), by: locked, to: Answers(.status(503), .status(200))).statuses == [200])
        #expect(send(PreparedRequest("POST"), by: locked, to: Answers(.status(503), .status(200))).statuses == [503])
        #expect(send(PreparedRequest("GET"), by: locked, to: Answers(.status(423))).attempts.count == 3)
        let errors = deciding { _, result in
            if case .failure(let error) = result { error is TestError } else { nil }
        }
        #expect(send(PreparedRequest("POST"), by: errors, to: Answers(.error(TestError()), .status(200))).statuses == [200])
        #expect(send(PreparedRequest("GET"), by: errors, to: Answers(.error(URLError(.timedOut)), .status(200))).attempts.count == 1)
    }

    @Test("What the closure throws is the error of the request, after a response and after an error")
    func throwingClosure() throws {
        for answer in [Answers.Answer.status(200), .error(URLError(.timedOut))] {
            let outcome = send(PreparedRequest("GET"), by: deciding { _, _ in throw TestError("closure") }, to: Answers(answer))
            #expect(throws: TestError("closure")) { try outcome.events.entries.first?.get() }
            #expect(outcome.attempts.count == 1)
        }
    }

    /// Sends a request with a body of text to a server that redirects `/items`, and whose other paths fail the first time. Between them is
    /// a middleware that sets a header. Returns what the server has seen.
    private func redirect(
        _ method: String, status: Int, to location: String, failure: Answers.Answer, by middleware: RetryMiddleware
    ) -> (seen: [String], outcome: Outcome) {
        let (seen, outcome, ends) = (Log<String>(), Outcome(), Answers(failure, .status(200)))
        let inner = DefaultHeadersMiddleware(["X-Inner": "set"])
        _ = middleware.intercept(
            PreparedRequest(HTTPMethod(rawValue: method), headers: ["Content-Type": "text/plain", "X-Own": "1"], body: Data("body".utf8))
        ) {
            request in
            inner.intercept(request) { request in
                .followingRedirects(request) { request in
                    let fields = ["Content-Type", "X-Own", "X-Inner"].map { request.headers[$0] ?? "-" }
                    seen.append(
                        ([request.method.rawValue, request.url.host ?? "", request.url.path] + fields).joined(separator: " ")
                            + (request.bodyData == nil ? "" : " body"))
                    guard request.url.path == "/items" else { return ends.next(request) }
                    return .just(APIResponse(to: request, status: status, headers: ["Location": location]))
                }
            }
        }.subscribe { outcome.events.append($0) }
        scheduler.run()
        return (seen.entries, outcome)
    }

    @Test(
        "After a redirect within its origin, a POST is not sent again: what it was redirected to is",
        arguments: [
            (302, .error(URLError(.cannotConnectToHost))), (303, .error(URLError(.timedOut))), (303, .status(503)),
            (307, .error(URLError(.cannotConnectToHost))),
        ] as [(Int, Answers.Answer)])
    func redirected(status: Int, failure: Answers.Answer) {
        let (seen, outcome) = redirect("POST", status: status, to: "/end", failure: failure, by: patient())
        #expect(outcome.statuses == [200])
        let next = status == 307 ? "POST api.example.com /end text/plain 1 set body" : "GET api.example.com /end - 1 set"
        #expect(seen == ["POST api.example.com /items text/plain 1 set body", next, next])
    }

    @Test(
        "After a redirect to another origin, a POST is sent again neither there nor here: middlewares would add what does not belong there",
        arguments: [302, 303, 307])
    func redirectedElsewhere(status: Int) {
        let failure = Answers.Answer.error(URLError(.cannotConnectToHost))
        let (seen, outcome) = redirect("POST", status: status, to: "https://other.example.com/end", failure: failure, by: patient())
        #expect(throws: APIError.self) { try outcome.events.entries.first?.get() }
        #expect(seen.map { $0.split(separator: " ")[1] } == ["api.example.com", "other.example.com"])
    }

    @Test("An idempotent request goes the whole way again", arguments: ["/end", "https://other.example.com/end"])
    func redirectedIdempotent(location: String) {
        let (seen, outcome) = redirect("PUT", status: 303, to: location, failure: .status(503), by: patient())
        #expect(outcome.statuses == [200])
        #expect(seen.map { $0.prefix(3) } == ["PUT", "GET", "PUT", "GET"])
    }

    @Test("A closure gets the request that would be sent again")
    func closureAfterRedirect() {
        let asked = Log<String>()
        let middleware = deciding { request, _ in
            asked.append("\(request.method) \(request.url.path)")
            return true
        }
        let (seen, _) = redirect("POST", status: 303, to: "/end", failure: .status(423), by: middleware)
        #expect(Set(asked.entries) == ["GET /end"])
        #expect(seen.map { $0.prefix(4) } == ["POST", "GET ", "GET ", "GET "])
    }
}
