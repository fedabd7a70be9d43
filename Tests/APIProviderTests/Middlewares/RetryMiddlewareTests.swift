import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Retrying")
struct RetryMiddlewareTests {
    private let scheduler = TestScheduler()
    private let events = Log<SingleEvent<APIResponse>>()

    /// Sends a request, and returns after how many milliseconds each attempt was made.
    @discardableResult
    private func attempts(
        of method: HTTPMethod = .get, headers: HTTPHeaders = [:], by middleware: RetryMiddleware? = nil, _ answers: Answers.Answer...
    ) -> [Int] {
        let (start, attempts, server) = (scheduler.now.uptimeNanoseconds, Log<Int>(), Answers(answers))
        _ = (middleware ?? patient()).intercept(PreparedRequest(method, headers: headers)) { [scheduler] request in
            attempts.append(Int((scheduler.now.uptimeNanoseconds - start) / 1_000_000))
            return server.next(request)
        }.subscribe { events.append($0) }
        scheduler.run()
        return attempts.entries
    }

    /// Waits as long as it may.
    private func patient(
        _ attempts: Int = 3, base: DispatchTimeInterval = .milliseconds(500), max: DispatchTimeInterval = .seconds(30)
    ) -> RetryMiddleware {
        RetryMiddleware(
            RetryPolicy(maxAttempts: attempts, baseDelay: base, maxDelay: max), scheduler: scheduler, random: { 1 },
            now: { Date(timeIntervalSince1970: 784_111_777) })
    }

    @Test(
        "These statuses are retried, and no others",
        arguments: [408, 429, 500, 502, 503, 504].map { ($0, true) }
            + [200, 301, 400, 401, 404, 409, 425, 501, 505, 511].map { ($0, false) })
    func statuses(status: Int, isRetried: Bool) {
        #expect(attempts(.status(status), .status(200)) == (isRetried ? [0, 500] : [0]))
        #expect(events.statuses == [isRetried ? 200 : status])
    }

    @Test(
        "Only idempotent methods are retried (RFC 9110, section 9.2.2), or requests with an Idempotency-Key",
        arguments: [
            ("GET", [:], 3), ("HEAD", [:], 3), ("OPTIONS", [:], 3), ("TRACE", [:], 3), ("PUT", [:], 3), ("DELETE", [:], 3),
            ("POST", [:], 1), ("PATCH", [:], 1), ("CONNECT", [:], 1), ("PURGE", [:], 1), ("POST", ["idempotency-key": "1"], 3),
            ("POST", ["Idempotency-Key": ""], 1), ("POST", ["Idempotency-Key": " "], 1),
        ] as [(HTTPMethod, HTTPHeaders, Int)])
    func methods(method: HTTPMethod, headers: HTTPHeaders, count: Int) {
        #expect(attempts(of: method, headers: headers, .status(503)).count == count)
        #expect(attempts(of: method, headers: headers, .error(URLError(.timedOut))).count == count)
    }

    @Test(
        "These connection errors are retried: for any method if the request cannot have been sent",
        arguments: [
            (2, 1, [.timedOut, .networkConnectionLost, .badServerResponse, .cannotParseResponse]),
            (2, 2, [.cannotConnectToHost, .cannotFindHost, .dnsLookupFailed]),
            (2, 2, [.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive]),
            (
                1, 1,
                [
                    .unknown, .cancelled, .badURL, .unsupportedURL, .dataLengthExceedsMaximum, .httpTooManyRedirects,
                    .secureConnectionFailed, .serverCertificateUntrusted, .serverCertificateHasBadDate, .serverCertificateHasUnknownRoot,
                    .serverCertificateNotYetValid, .clientCertificateRejected, .clientCertificateRequired, .userAuthenticationRequired,
                    .cannotDecodeContentData, .redirectToNonExistentLocation,
                ]
            ),
        ] as [(Int, Int, [URLError.Code])])
    func errors(gets: Int, posts: Int, codes: [URLError.Code]) {
        for code in codes {
            let error = APIError.transport(PreparedRequest("GET"), underlying: URLError(code))
            #expect(attempts(.error(error), .status(200)).count == gets, "\(code)")
            #expect(attempts(.error(URLError(code)), .status(200)).count == gets, "\(code)")
            #expect(attempts(of: .post, .error(URLError(code)), .status(201)).count == posts, "\(code)")
        }
        for error in [TestError(), APIError.invalidRequest(reason: "no"), RxError.timeout] as [any Error] {
            #expect(attempts(.error(error), .status(200)) == [0])
        }
    }

    @Test("The caller gets the last response or error, after three attempts by default, and at least one")
    func last() {
        attempts(by: RetryMiddleware(scheduler: scheduler), .status(500), .error(URLError(.timedOut)), .status(503), .status(200))
        #expect(events.statuses == [503])
        attempts(by: patient(2), .status(500), .error(URLError(.cannotFindHost)), .status(200))
        #expect(throws: URLError(.cannotFindHost)) { try events.entries.last?.get() }
        for count in [1, 0, -1, .min] { #expect(attempts(by: patient(count), .status(503)) == [0]) }
    }

    @Test("The wait doubles up to the longest; a negative one is 0, and an endless one is the longest that fits")
    func backoff() {
        #expect(attempts(by: patient(7, max: .seconds(3)), .status(503)) == [0, 500, 1_500, 3_500, 6_500, 9_500, 12_500])
        #expect(attempts(by: patient(base: .seconds(-5), max: .seconds(-1)), .status(503)) == [0, 0, 0])
        #expect(attempts(by: patient(2_000, base: .nanoseconds(0)), .status(503)).last == 0)
        for endless in [DispatchTimeInterval.never, .seconds(.max)] {
            #expect(attempts(by: patient(2, base: endless, max: endless), .status(503)) == [0, Int(Int32.max)])
        }
    }

    @Test("The wait is random, from 0 to the longest, and with Retry-After from what the server asks to the base delay more")
    func jitter() {
        for (chance, wait) in [(0, 0), (0.25, 125), (1, 500)] {
            let middleware = RetryMiddleware(scheduler: scheduler, random: { chance })
            #expect(attempts(by: middleware, .status(503), .status(200)) == [0, wait])
            #expect(attempts(by: middleware, .status(429, headers: ["Retry-After": "7"]), .status(200)) == [0, 7_000 + wait])
        }
        let waits = (0..<200).compactMap { _ in attempts(by: RetryMiddleware(scheduler: scheduler), .status(503), .status(200)).last }
        #expect(waits.allSatisfy { 0...500 ~= $0 })
        #expect(Set(waits).count > 20)
    }

    // The clock stands at Sun, 06 Nov 1994 08:49:37 GMT.
    @Test(
        "A retry waits as long as Retry-After says (RFC 9110, section 10.2.3), and the backoff is the least; if it is too long, there is none",
        arguments: [
            ("7", nil, 7), (" 7 ", nil, 7), ("30", nil, 30),
            // Rounded up.
            ("6.1", nil, 7), ("+7", nil, 7), ("6.000", nil, 6),
            // Of several fields, the longest.
            ("7, 8", nil, 8), ("8,7", nil, 8), ("soon, 8", nil, 8), ("7, Sun, 06 Nov 1994 08:49:57 GMT", nil, 20),
            ("Sun, 06 Nov 1994 08:49:57 GMT, 7", nil, 20), ("Sun Nov  6 08:49:57 1994, Sun, 06 Nov 1994 08:49:47 GMT", nil, 20),
            ("Sun, 06 Nov 1994 08:49:57 GMT", nil, 20), ("Sunday, 06-Nov-94 08:49:57 GMT", nil, 20),
            // Now, or in the past.
            ("0", nil, 0), ("0.0", nil, 0), ("Sun, 06 Nov 1994 08:49:37 GMT", nil, 0), ("Sun, 06 Nov 1994 08:49:30 GMT", nil, 0),
            // A date counts from the date of the response, if there is one.
            ("Mon, 01 Jan 2024 00:00:05 GMT", "Mon, 01 Jan 2024 00:00:00 GMT", 5), ("Sun, 06 Nov 1994 08:49:57 GMT", "today", 20),
            // Anything else is ignored.
            ("", nil, 0), ("soon", nil, 0), ("-7", nil, 0), ("1.5.2", nil, 0), (".", nil, 0), ("1e1", nil, 0), ("7s", nil, 0),
            ("٧", nil, 0),
            ("Sun, 06 Nov 1994 08:49:57 CET", nil, 0), ("Sun, 06 Nov 99999999999999999999 08:49:57 GMT", nil, 0),
            // Too long.
            ("31", nil, nil), ("30.001", nil, nil), ("1, 31", nil, nil), (String(repeating: "9", count: 400), nil, nil),
            ("Sun, 06 Nov 1994 08:50:08 GMT", nil, nil),
            ("Fri, 31 Dec 9999 23:59:60 GMT", nil, nil),
        ] as [(String, String?, Int?)])
    func retryAfter(value: String, date: String?, wait: Int?) {
        let answer = Answers.Answer.status(429, headers: ["Retry-After": value, "Date": date])
        // The jitter is the whole base delay here.
        #expect(attempts(answer, .status(200)) == [0, wait.map { $0 * 1000 + 500 }].compactMap { $0 })
        #expect(events.statuses == [wait == nil ? 429 : 200])
    }

    @Test("A server that always asks to come at once is asked less and less often")
    func backoffAfterRetryAfter() {
        for value in ["0", "Sun, 06 Nov 1994 08:49:30 GMT"] {
            #expect(attempts(by: patient(4), .status(503, headers: ["Retry-After": value])) == [0, 500, 1_500, 3_500])
        }
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("A date is in GMT in every time zone")
    func elsewhere() async {
        await #expect(processExitsWith: .success) {
            setenv("TZ", "Asia/Seoul", 1)
            NSTimeZone.resetSystemTimeZone()
            try #require(TimeZone.current.secondsFromGMT() == 32_400)
            RetryMiddlewareTests().retryAfter(value: "Sun, 06 Nov 1994 08:49:57 GMT", date: nil, wait: 20)
        }
    }
    #endif

    @Test("An endpoint's policy replaces the middleware's")
    func policies() async throws {
        let policy = RetryPolicy(baseDelay: .nanoseconds(0), statuses: [418], methods: [.get])
        for (own, status, replacing, count) in [(RetryPolicy(), 503, .never, 1), (.never, 418, policy, 2)]
            as [(RetryPolicy, Int, RetryPolicy, Int)]
        {
            let answers = Answers(.status(status), .status(200))
            let endpoint = Endpoint<Void>(.get, "").validating { _ in }.option(\.retryPolicy, replacing)
            try await answers.provider(RetryMiddleware(own)).request(endpoint).value
            #expect(answers.requests.count == count)
        }
    }

    @Test("Disposing ends the wait before a retry")
    func disposed() {
        let answers = Answers(.status(503))
        let disposable = patient().intercept(PreparedRequest("GET"), next: answers.next).subscribe { Issue.record("\($0)") }
        scheduler.advance(by: .milliseconds(499))
        disposable.dispose()
        scheduler.run()
        #expect(answers.requests.count == 1)
    }

    private func deciding(
        _ decide: @escaping @Sendable (PreparedRequest, Result<APIResponse, any Error>) throws -> Bool?
    ) -> RetryMiddleware {
        RetryMiddleware(RetryPolicy(shouldRetry: decide), scheduler: scheduler, random: { 1 })
    }

    @Test(
        "A closure decides before statuses and methods, and nil leaves the decision to them",
        arguments: [
            ("POST", .status(423), 3), ("GET", .status(423), 3), ("HEAD", .status(503), 1), ("GET", .status(503), 3),
            ("POST", .status(503), 1), ("POST", .error(TestError()), 3), ("GET", .error(URLError(.timedOut)), 1),
        ] as [(HTTPMethod, Answers.Answer, Int)])
    func closure(method: HTTPMethod, answer: Answers.Answer, count: Int) {
        let middleware = deciding { request, result in
            switch result {
            case .failure(let error): error is TestError
            case .success where request.method == "HEAD": false
            case .success(let response): response.statusCode == 423 ? true : nil
            }
        }
        #expect(attempts(of: method, by: middleware, answer).count == count)
    }

    @Test(
        "An error that the closure throws is the error of the request",
        arguments: [.status(200), .error(URLError(.timedOut))] as [Answers.Answer])
    func throwingClosure(answer: Answers.Answer) {
        #expect(attempts(by: deciding { _, _ in throw TestError("closure") }, answer) == [0])
        #expect(throws: TestError("closure")) { try events.entries.first?.get() }
    }

    /// Sends a request to a server that redirects `/items`, and whose other paths fail the first time. Returns the requests it has seen.
    private func redirect(
        _ method: HTTPMethod, headers: HTTPHeaders = [:], status: Int, to location: String, by policy: RedirectPolicy = .follow,
        failure: Answers.Answer, _ middleware: RetryMiddleware
    ) -> [PreparedRequest] {
        let (seen, ends) = (Log<PreparedRequest>(), Answers(failure, .status(200)))
        var request = PreparedRequest(method, headers: headers, body: method == .get ? nil : Data("body".utf8))
        request.options.redirectPolicy = policy
        _ = middleware.intercept(request) { request in
            .followingRedirects(request) { request in
                seen.append(request)
                guard request.url.path == "/items" else { return ends.next(request) }
                return .just(APIResponse(to: request, statusCode: status, headers: ["Location": location]))
            }
        }.subscribe { events.append($0) }
        scheduler.run()
        return seen.entries
    }

    private static let failures: [Answers.Answer] = [.error(URLError(.cannotConnectToHost)), .error(URLError(.timedOut)), .status(503)]

    @Test("A redirected POST is not sent again, because the server has acted on it, whatever a closure says", arguments: [302, 303, 307])
    func redirected(status: Int) {
        for location in ["/end", "https://other.example.com/end"] {
            for failure in Self.failures {
                for middleware in [patient(), deciding { _, _ in true }] {
                    #expect(redirect(.post, status: status, to: location, failure: failure, middleware).count == 2)
                }
            }
        }
        #expect(events.statuses == [nil, nil, nil, nil, 503, 503, nil, nil, nil, nil, 503, 503])
    }

    /// A method, whether it has an Idempotency-Key, a redirect, the method of the next request, and whether all is sent again.
    typealias Chain = (method: HTTPMethod, hasKey: Bool, status: Int, next: HTTPMethod, isSentAgain: Bool)

    static let chains: [Chain] = [
        ("GET", false, 302, "GET", true), ("GET", false, 303, "GET", true), ("GET", false, 307, "GET", true),
        ("PUT", false, 301, "PUT", true), ("PUT", false, 303, "GET", true), ("PUT", false, 307, "PUT", true),
        ("DELETE", false, 308, "DELETE", true), ("POST", false, 301, "GET", false), ("POST", false, 302, "GET", false),
        ("POST", false, 303, "GET", false), ("POST", false, 307, "POST", false), ("POST", false, 308, "POST", false),
        ("PATCH", false, 303, "GET", false), ("PATCH", false, 307, "PATCH", false), ("POST", true, 302, "GET", true),
        ("POST", true, 303, "GET", true), ("POST", true, 307, "POST", true), ("PATCH", true, 308, "PATCH", true),
    ]

    @Test(
        "A request is sent again, from its first URL, if that is safe for each request of its chain, and the key goes along everywhere",
        arguments: chains, ["/end", "https://other.example.com/end"])
    func chain(_ chain: Chain, location: String) {
        let headers: HTTPHeaders = chain.hasKey ? ["Idempotency-Key": "1", "X-Own": "a"] : [:]
        for failure in Self.failures {
            let seen = redirect(chain.method, headers: headers, status: chain.status, to: location, failure: failure, patient())
            let methods = [chain.method, chain.next]
            #expect(seen.map(\.method) == (chain.isSentAgain ? methods + methods : methods), "\(chain) \(failure)")
            #expect(seen.allSatisfy { $0.headers["Idempotency-Key"] == headers["Idempotency-Key"] })
        }
    }

    @Test("A closure that makes a POST of a redirected GET, or takes its key away, keeps it from being sent again")
    func decidedChain() {
        let makesPOST = RedirectPolicy.decide { next, _ in PreparedRequest(.post, next.url, body: RequestBody(Data("body".utf8))) }
        let takesKey = RedirectPolicy.decide { next, _ in
            var next = next
            next.headers["Idempotency-Key"] = nil
            return next
        }
        for failure in Self.failures {
            #expect(redirect(.get, status: 307, to: "/end", by: makesPOST, failure: failure, patient()).count == 2)
            let key: HTTPHeaders = ["Idempotency-Key": "1"]
            #expect(redirect(.post, headers: key, status: 307, to: "/end", by: takesKey, failure: failure, patient()).count == 2)
        }
    }

    @Test("A policy may name other methods, for each request of the chain")
    func methodsOfChain() {
        let middleware = RetryMiddleware(RetryPolicy(methods: [.post]), scheduler: scheduler, random: { 1 })
        #expect(redirect(.post, status: 307, to: "/end", failure: .status(503), middleware).count == 4)
        #expect(redirect(.post, status: 303, to: "/end", failure: .status(503), middleware).count == 2)
    }

    @Test(
        "A POST that a middleware sends before a GET, such as a refresh, is sent once if it may have arrived",
        arguments: [(.networkConnectionLost, 1), (.timedOut, 1), (.badServerResponse, 1), (.cannotConnectToHost, 3)]
            as [(URLError.Code, Int)])
    func refresh(code: URLError.Code, count: Int) {
        let refresh = PreparedRequest(.post)
        #expect(attempts(.error(APIError.transport(refresh, underlying: URLError(code)))).count == count)

        let refreshes = Log<Int>()
        let signIn = AuthenticationMiddleware(token: "old") { _ in
            refreshes.append(1)
            return .error(APIError.transport(refresh, underlying: URLError(code)))
        }
        _ = patient().intercept(PreparedRequest(.get)) { signIn.intercept($0, next: Answers([.status(401)]).next) }.subscribe {
            events.append($0)
        }
        scheduler.run()
        #expect(refreshes.entries.count == count)
    }

    @Test("Nor is a redirected POST sent again after an error that a middleware has made of its response")
    func errorOfMiddleware() {
        let seen = Log<HTTPMethod>()
        _ = deciding { _, _ in true }.intercept(PreparedRequest(.post, body: Data("body".utf8))) { request in
            Single.followingRedirects(request) { request in
                seen.append(request.method)
                let isFirst = request.url.path == "/items"
                return .just(APIResponse(to: request, statusCode: isFirst ? 303 : 503, headers: isFirst ? ["Location": "/end"] : [:]))
            }.map { throw APIError.unacceptableStatus($0) }
        }.subscribe { events.append($0) }
        scheduler.run()
        #expect(seen.entries == [.post, .get])
    }
}
