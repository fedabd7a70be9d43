import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Authentication", tenMinutes)
struct AuthenticationMiddlewareTests {
    /// A server that takes one token at a time.
    private final class Server: Sendable {
        private let valid: Locked<String>
        private let held = Log<@Sendable () -> Void>()
        let seen = Log<String>()

        init(valid: String) { self.valid = Locked(valid) }

        func accept(_ token: String) { valid.withLock { $0 = token } }

        /// Holds what it refuses until `answer()`.
        var slow: @Sendable (PreparedRequest) -> Single<APIResponse> {
            { request in
                self.next(request).flatMap { response in
                    guard response.statusCode == 401 else { return .just(response) }
                    return .create { observer in
                        self.held.append { observer(.success(response)) }
                        return Disposables.create()
                    }
                }
            }
        }

        func answer() { held.entries.forEach { $0() } }

        var next: @Sendable (PreparedRequest) -> Single<APIResponse> {
            { request in
                .deferred {
                    let credential = request.headers["Authorization"] ?? "none"
                    self.seen.append(credential)
                    let isValid = self.valid.withLock { credential == "Bearer \($0)" }
                    return .just(APIResponse(to: request, status: isValid ? 200 : 401))
                }
            }
        }
    }

    private static let bearer: @Sendable (String, inout PreparedRequest) -> Void = {
        $1.headers["Authorization"] = "Bearer \($0)"
    }

    private func statuses(_ log: Log<SingleEvent<APIResponse>>) -> [Int?] { log.entries.map { try? $0.get().statusCode } }

    @Test("A 401 of another origin, to which a redirect did not take the token, does not start a refresh")
    func redirected() async throws {
        let middleware = AuthenticationMiddleware(token: "a") { _ in .error(TestError("refresh")) }
        let response = try await middleware.intercept(PreparedRequest("GET")) { _ in
            .just(APIResponse(to: PreparedRequest("GET", "https://elsewhere.example.com/"), status: 401))
        }.value
        #expect(response.statusCode == 401)
    }

    @Test("A POST whose redirect has led to a refusal is not sent again: what it was redirected to is, with the new token")
    func refusedAfterRedirect() async throws {
        let seen = Log<String>()
        let middleware = AuthenticationMiddleware(token: "old") { _ in .just("new") }
        let response = try await middleware.intercept(PreparedRequest("POST", body: Data("body".utf8))) { request in
            .followingRedirects(request) { request in
                let token = request.headers["Authorization"] ?? "none"
                seen.append("\(request.method) \(request.url.path) \(token)")
                guard request.url.path == "/items" else {
                    return .just(APIResponse(to: request, status: token == "Bearer new" ? 200 : 401))
                }
                return .just(APIResponse(to: request, status: 303, headers: ["Location": "/items/1"]))
            }
        }.value
        #expect(response.statusCode == 200)
        #expect(seen.entries == ["POST /items Bearer old", "GET /items/1 Bearer old", "GET /items/1 Bearer new"])
    }

    @Test("A token with a line break sends nothing, and says why", arguments: ["a\n", "a\r\nX-Admin: 1", "a\0"])
    func lineBreak(token: String) async throws {
        let middleware = AuthenticationMiddleware(token: token) { _ in .error(TestError("refresh")) }
        let server = Server(valid: "a")
        let error = await #expect(throws: APIError.self) { try await middleware.intercept(PreparedRequest("GET"), next: server.next).value }
        #expect(
            error?.description
                == "The request was not sent: its token contains a control character; if you read it from a file, trim it.")
        #expect(server.seen.entries.isEmpty)
    }

    @Test("apply puts it where it belongs")
    func apply() async throws {
        let answers = Answers(.status(200))
        let middleware = AuthenticationMiddleware(token: "a", apply: { $1.headers["X-Api-Key"] = $0 }) { _ in .never() }
        _ = try await middleware.intercept(PreparedRequest("GET"), next: answers.next).value
        #expect(answers.requests.map { $0.headers["X-Api-Key"] } == ["a"])
        #expect(answers.requests.map { $0.headers["Authorization"] } == [nil])
    }

    @Test("An apply that adds no token sends nothing, and says so")
    func nothingAdded() async {
        let middleware = AuthenticationMiddleware(token: "a", apply: { _, _ in }) { _ in .never() }
        let next = Answers(.status(200)).next
        let error = await #expect(throws: APIError.self) { try await middleware.intercept(PreparedRequest("GET"), next: next).value }
        #expect(error?.description == "The request was not sent: its credential has added nothing to it; set a header in apply.")
    }

    @Test("Without a token the first comes from refresh, before anything is sent")
    func first() async throws {
        let server = Server(valid: "a")
        let asked = Log<String?>()
        let middleware = AuthenticationMiddleware { expired in
            asked.append(expired)
            return .just("a")
        }
        for _ in 0..<2 { #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 200) }
        #expect(asked.entries == [nil])
        #expect(server.seen.entries == ["Bearer a", "Bearer a"])
    }

    @Test("20 that are refused at the same time make one refresh and 20 retries")
    func oneForAll() {
        let server = Server(valid: "new")
        let (asked, events) = (Log<String?>(), Log<SingleEvent<APIResponse>>())
        let tokens = Producer<String>()
        let middleware = AuthenticationMiddleware(token: "old") { expired in
            asked.append(expired)
            return tokens.single
        }
        for _ in 0..<20 { _ = middleware.intercept(PreparedRequest("GET"), next: server.slow).subscribe { events.append($0) } }
        #expect(asked.count == 0)
        server.answer()
        #expect(asked.entries == ["old"])
        #expect(events.count == 0)
        tokens.send(.success("new"))
        #expect(statuses(events) == Array(repeating: 200, count: 20))
        #expect(asked.count == 1)
        #expect(server.seen.entries == Array(repeating: "Bearer old", count: 20) + Array(repeating: "Bearer new", count: 20))
    }

    @Test("A request that comes during a refresh waits for it, rather than be refused")
    func during() {
        let server = Server(valid: "new")
        let tokens = Producer<String>()
        let middleware = AuthenticationMiddleware(token: "old") { _ in tokens.single }
        _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe()
        _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe()
        #expect(server.seen.entries == ["Bearer old"])
        tokens.send(.success("new"))
        #expect(server.seen.entries == ["Bearer old", "Bearer new", "Bearer new"])
    }

    @Test("A request that is refused after its token was replaced is sent with the new one", arguments: ["new", "same"])
    func late(token: String) {
        let responses = Producer<APIResponse>()
        let events = Log<SingleEvent<APIResponse>>()
        let refreshes = Log<String>()
        let middleware = AuthenticationMiddleware(token: "same") { _ in
            refreshes.append("refresh")
            return .just(token)
        }
        let sent = Log<String?>()
        let slow: @Sendable (PreparedRequest) -> Single<APIResponse> = { request in
            sent.append(request.headers["Authorization"])
            return sent.count == 1 ? responses.single : .just(APIResponse(to: request))
        }
        _ = middleware.intercept(PreparedRequest("GET"), next: slow).subscribe { events.append($0) }
        _ = middleware.intercept(PreparedRequest("GET"), next: Answers(.status(401), .status(200)).next).subscribe()
        #expect(refreshes.count == 1)
        responses.send(.success(APIResponse(to: PreparedRequest("GET", headers: ["Authorization": "Bearer same"]), status: 401)))
        #expect(statuses(events) == [200])
        #expect(sent.entries == ["Bearer same", "Bearer \(token)"])
        #expect(refreshes.count == 1)
    }

    @Test("A failed refresh fails all that wait, once, and the next request tries anew, before it is sent")
    func failure() {
        let server = Server(valid: "new")
        let tokens = Producer<String>()
        let events = Log<SingleEvent<APIResponse>>()
        let middleware = AuthenticationMiddleware(token: "old") { _ in tokens.single }
        for _ in 0..<20 { _ = middleware.intercept(PreparedRequest("GET"), next: server.slow).subscribe { events.append($0) } }
        server.answer()
        tokens.send(.failure(TestError("refresh")))
        #expect(events.count == 20)
        for event in events.entries { #expect(throws: TestError("refresh")) { try event.get() } }
        #expect(tokens.subscriptions == 1)

        _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe { events.append($0) }
        #expect(tokens.subscriptions == 2)
        tokens.send(.success("new"))
        #expect(statuses(events).last == 200)
        #expect(server.seen.entries == Array(repeating: "Bearer old", count: 20) + ["Bearer new"])
    }

    @Test("A request that is refused again after the refresh has that for its answer")
    func noLoop() async throws {
        let server = Server(valid: "none that is given")
        let refreshes = Log<String>()
        let middleware = AuthenticationMiddleware(token: "old") { _ in
            refreshes.append("refresh")
            return .just("new")
        }
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 401)
        #expect(server.seen.entries == ["Bearer old", "Bearer new"])
        #expect(refreshes.count == 1)
    }

    @Test("Only 401 asks for a refresh", arguments: [200, 400, 403, 407, 500])
    func otherStatuses(status: Int) async throws {
        let middleware = AuthenticationMiddleware(token: "a") { _ in .error(TestError("refresh")) }
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: Answers(.status(status)).next).value.statusCode == status)
    }

    enum Leaving: CaseIterable { case disposed, timedOut }

    @Test("A refresh that has begun ends, and its token is kept, though no request waits any more", arguments: Leaving.allCases)
    func left(_ way: Leaving) {
        let (log, scheduler, server) = (Log<String>(), TestScheduler(), Server(valid: "new"))
        let tokens = Producer<String> { log.disposable("refresh cancelled") }
        let middleware = AuthenticationMiddleware("old", scheduler: scheduler, apply: Self.bearer) { _ in tokens.single }
        var request = PreparedRequest("GET")
        request.timeoutInterval = 2
        let failures = Log<SingleEvent<APIResponse>>()
        let waiting = (0..<3).map { _ in middleware.intercept(request, next: server.next).subscribe { failures.append($0) } }
        switch way {
        case .disposed: waiting.forEach { $0.dispose() }
        case .timedOut: scheduler.advance(by: .seconds(2))
        }
        #expect(failures.count == (way == .disposed ? 0 : 3))
        #expect(log.entries == [])

        let events = Log<SingleEvent<APIResponse>>()
        let late = middleware.intercept(request, next: server.next).subscribe { events.append($0) }
        tokens.send(.success("new"))
        _ = middleware.intercept(request, next: server.next).subscribe { events.append($0) }
        #expect(statuses(events) == [200, 200])
        #expect(middleware.credential == "new")
        #expect(tokens.subscriptions == 1)
        withExtendedLifetime(late) {}
    }

    @Test("A server that also refuses the new token gets one refresh a minute, and not one for each request")
    func alwaysRefused() async throws {
        let (scheduler, refreshes) = (TestScheduler(), Log<String?>())
        let middleware = AuthenticationMiddleware("0", scheduler: scheduler, apply: Self.bearer) { expired in
            refreshes.append(expired)
            return .just("\(refreshes.count)")
        }
        let next: Middleware.Next = { .just(APIResponse(to: $0, status: $0.url.path == "/forbidden" ? 401 : 200)) }
        for minute in 1...3 {
            for _ in 0..<20 {
                let forbidden = PreparedRequest("GET", "https://api.example.com/forbidden")
                #expect(try await middleware.intercept(forbidden, next: next).value.statusCode == 401)
                #expect(try await middleware.intercept(PreparedRequest("GET"), next: next).value.statusCode == 200)
            }
            #expect(refreshes.count == minute)
            scheduler.advance(by: .seconds(60))
        }
    }

    @Test("An error of the refresh is the error of the request as it is, and is not tried again")
    func errorOfRefresh() throws {
        let (scheduler, refreshes, events) = (TestScheduler(), Log<String?>(), Log<SingleEvent<APIResponse>>())
        let middleware = AuthenticationMiddleware(token: "old") { expired in
            refreshes.append(expired)
            return .error(RxError.timeout)
        }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport(Server(valid: "new").next),
            middlewares: [RetryMiddleware(scheduler: scheduler), middleware])
        _ = provider.request(Endpoint(.get, "") { $0 }).subscribe { events.append($0) }
        scheduler.run()
        #expect(throws: RxError.self) { try events.entries.first?.get() }
        #expect(refreshes.count == 1)
    }

    enum LimitOrder: CaseIterable { case limitOutside, retryOutside, retryInside }

    @Test("A refresh through the same provider takes no place of a limit that the waiting requests hold", arguments: LimitOrder.allCases)
    func limited(order: LimitOrder) {
        let (scheduler, box, events) = (TestScheduler(), Locked<DefaultAPIProvider?>(nil), Log<SingleEvent<APIResponse>>())
        let authentication = AuthenticationMiddleware(token: "old") { _ in
            guard let provider = box.withLock({ $0 }) else { return .error(TestError("no provider")) }
            return provider.request(Endpoint<String>(.put, "/token").option(\.isAuthenticated, false))
        }
        let (limit, retry) = (ConcurrencyLimitMiddleware(maxConcurrent: 1), RetryMiddleware(scheduler: scheduler))
        let middlewares: [any Middleware] =
            switch order {
            case .limitOutside: [limit, authentication]
            case .retryOutside: [retry, limit, authentication]
            case .retryInside: [limit, retry, authentication]
            }
        let refreshes = Log<String>()
        let transport = ClosureTransport { request in
            guard request.url.path == "/token" else {
                let isNew = request.headers["Authorization"] == "Bearer new"
                return .just(APIResponse(to: request, status: isNew ? 200 : 401))
            }
            refreshes.append("refresh")
            let isTooEarly = order != .limitOutside && refreshes.count == 1
            return .just(APIResponse(to: request, status: isTooEarly ? 503 : 200, data: Data("new".utf8)))
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: middlewares)
        box.withLock { $0 = provider }
        let bag = DisposeBag()
        for _ in 0..<3 { provider.request(Endpoint(.get, "") { $0 }).subscribe { events.append($0) }.disposed(by: bag) }
        scheduler.run()
        #expect(statuses(events) == [200, 200, 200])
        #expect(refreshes.count == (order == .limitOutside ? 1 : 2))
        box.withLock { $0 = nil }
    }

    @Test("A request that follows a refresh is no part of it, and waits for its turn")
    func afterRefresh() async {
        let (goOn, done, slow, server) = (Signals<Void>(), Signals<Void>(), Producer<APIResponse>(), Server(valid: "new"))
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { $0.url.path == "/slow" ? slow.single : server.next($0) },
            middlewares: [ConcurrencyLimitMiddleware(maxConcurrent: 1)])
        let authentication = AuthenticationMiddleware { _ in
            .create {
                await goOn.next()
                return "new"
            }
        }
        let bag = DisposeBag()
        provider.request(Endpoint(.get, "/slow") { $0 }).subscribe { _ in }.disposed(by: bag)
        authentication.intercept(PreparedRequest("GET"), next: server.next).subscribe { _ in
            provider.request(Endpoint(.get, "/next") { $0 }).subscribe { _ in }.disposed(by: bag)
            done.send(())
        }.disposed(by: bag)
        goOn.send(())
        await done.next()
        #expect(server.seen.entries == ["Bearer new"])
    }

    @Test("A request ends though its middleware has been let go, and nothing is left of the middleware then")
    func released() {
        let server = Server(valid: "new")
        let tokens = Producer<String>()
        let events = Log<SingleEvent<APIResponse>>()
        weak var released: AuthenticationMiddleware<String>?
        do {
            let middleware = AuthenticationMiddleware(token: "old") { _ in tokens.single }
            released = middleware
            _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe { events.append($0) }
        }
        tokens.send(.success("new"))
        #expect(statuses(events) == [200])
        #expect(released == nil)
    }

    @Test("A refresh may fail or succeed at once, and what comes of it may send the next request")
    func reentrant() {
        let server = Server(valid: "2")
        let count = Log<String>()
        let middleware = AuthenticationMiddleware { _ in
            count.append("refresh")
            return .just("\(count.count)")
        }
        let events = Log<SingleEvent<APIResponse>>()
        // The first token is refused, so that the second is asked for within the event of the first.
        _ = middleware.intercept(PreparedRequest("GET"), next: server.next)
            .flatMap { _ in middleware.intercept(PreparedRequest("GET"), next: server.next) }
            .subscribe { events.append($0) }
        #expect(statuses(events) == [200])
        #expect(count.count == 2)
    }

    @Test("20 requests on 20 threads make one refresh", .longComputing)
    func races() {
        let server = Server(valid: "0")
        let refreshes = Locked(0)
        let queue = DispatchQueue(label: "refresh", attributes: .concurrent)
        let middleware = AuthenticationMiddleware(token: "0") { _ in
            .create { observer in
                let token = refreshes.withLock { count in
                    count += 1
                    return "\(count)"
                }
                queue.async { observer(.success(token)) }
                return Disposables.create()
            }
        }
        for round in 1...rounds(200) {
            server.accept("\(round)")
            let events = Log<SingleEvent<APIResponse>>()
            let group = DispatchGroup()
            DispatchQueue.concurrentPerform(iterations: 20) { _ in
                group.enter()
                _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe {
                    events.append($0)
                    group.leave()
                }
            }
            group.wait()
            #expect(statuses(events) == Array(repeating: 200, count: 20))
            #expect(refreshes.withLock { $0 } == round)
        }
    }

    @Test("The credential goes only to the origin of the base URL, and a 401 of another host does not start a refresh")
    func hosts() async throws {
        let sent = Log<String>()
        let transport = ClosureTransport { request in
            sent.append("\(request.url.absoluteString) \(request.headers["Authorization"] ?? "none")")
            return .just(APIResponse(to: request, status: request.url.host?.lowercased() == "api.example.com" ? 200 : 401))
        }
        let middleware = AuthenticationMiddleware(token: "a") { _ in .error(TestError("refresh")) }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [middleware])
        for url in ["https://API.example.com:443/a", "http://api.example.com/a", "https://api.example.com:8443/a", "https://h/a"] {
            _ = try? await provider.request(Endpoint<Void>(.get, .url(try #require(URL(string: url))))).value
        }
        _ = try await provider.request(Endpoint<Void>(.get, "/b")).value
        _ = try await provider.request(Endpoint<Void>(.get, "/c").option(\.isAuthenticated, false)).value
        #expect(
            sent.entries == [
                "https://API.example.com:443/a Bearer a", "http://api.example.com/a none", "https://api.example.com:8443/a none",
                "https://h/a none",
                "https://api.example.com/b Bearer a", "https://api.example.com/c none",
            ])
    }

    @Test("Without hosts and a base URL, the request is invalid")
    func nobodysToken() async throws {
        let server = Server(valid: "a")
        let middleware = AuthenticationMiddleware(token: "a") { _ in .error(TestError("refresh")) }
        let error = await #expect(throws: APIError.self) {
            try await middleware.intercept(PreparedRequest("GET", "https://avatars.example.com/"), of: nil, next: server.next).value
        }
        #expect(
            error?.description == "The request was not sent: its AuthenticationMiddleware does not know which hosts the token is for; "
                + "give it hosts:, or give the provider a baseURL:.")
        #expect(server.seen.entries.isEmpty)
    }

    @Test("A value of hosts that is not a host makes the request invalid", arguments: ["https://one", "one:8443", "one/x"])
    func invalidHost(host: String) async throws {
        let middleware = AuthenticationMiddleware(token: "a", hosts: [host]) { _ in .error(TestError("refresh")) }
        let error = await #expect(throws: APIError.self) {
            try await middleware.intercept(PreparedRequest("GET"), next: Answers(.status(200)).next).value
        }
        #expect(error?.description.contains("\"\(host)\" in the hosts of AuthenticationMiddleware is not a host") == true)
    }

    @Test("Hosts that are named get the credential, but over http only where the API is http", arguments: [nil, example])
    func namedHosts(baseURL: URL?) async throws {
        let server = Server(valid: "a")
        let middleware = AuthenticationMiddleware(token: "a", hosts: ["One", "two"]) { _ in .error(TestError("refresh")) }
        for url in ["http://one/", "https://one/", "https://TWO:8443/", "https://three/", "http://one/"] {
            _ = try await middleware.intercept(PreparedRequest("GET", url), of: baseURL, next: server.next).value
        }
        #expect(server.seen.entries == ["none", "Bearer a", "Bearer a", "none", "none"])
        _ = try await middleware.intercept(PreparedRequest("GET", "http://one/"), of: URL(string: "http://one"), next: server.next).value
        #expect(server.seen.entries.last == "Bearer a")
    }

    @Test("A redirect away and back drops the credential, and a 401 after that does not start a refresh")
    func bounced() async throws {
        for apply in [
            { $1.headers["Authorization"] = "Bearer \($0)" }, { $1.headers["X-Customer"] = $0 },
        ]
            as [@Sendable (String, inout PreparedRequest) -> Void]
        {
            let middleware = AuthenticationMiddleware(token: "a", apply: apply) { _ in .error(TestError("refresh")) }
            let response = try await middleware.intercept(PreparedRequest("GET", headers: ["X-A": "b"])) { _ in
                .just(APIResponse(to: PreparedRequest("GET", headers: ["X-A": "b"]), status: 401))
            }.value
            #expect(response.statusCode == 401)
        }
    }

    @Test("Signing in and out sets the token")
    func signIn() async throws {
        let server = Server(valid: "a")
        let asked = Log<String?>()
        let middleware = AuthenticationMiddleware(token: "old") { expired in
            asked.append(expired)
            return .error(TestError("signed out"))
        }
        middleware.credential = "a"
        _ = try await middleware.intercept(PreparedRequest("GET"), next: server.next).value
        #expect(middleware.credential == "a")
        middleware.credential = nil
        await #expect(throws: TestError("signed out")) { try await middleware.intercept(PreparedRequest("GET"), next: server.next).value }
        #expect(middleware.credential == nil)
        #expect(asked.entries == [nil])
        #expect(server.seen.entries == ["Bearer a"])
    }

    @Test("A token that is set during a refresh drops it: those who wait go on with the new token, and what the refresh brings is not used")
    func setDuringRefresh() {
        let server = Server(valid: "set")
        let log = Log<String>()
        let tokens = Producer<String> { log.disposable("refresh cancelled") }
        let events = Log<SingleEvent<APIResponse>>()
        let middleware = AuthenticationMiddleware(token: "old") { _ in tokens.single }
        for _ in 0..<3 { _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe { events.append($0) } }
        #expect(events.count == 0)
        middleware.credential = "set"
        #expect(statuses(events) == [200, 200, 200])
        #expect(log.entries == ["refresh cancelled"])
        tokens.send(.success("late"))
        #expect(middleware.credential == "set")
    }

    @Test("Signing out during a refresh drops it, and those who wait fail: another user may sign in")
    func signOutDuringRefresh() {
        let tokens = Producer<String>()
        let sent = Answers(.status(200))
        let events = Log<SingleEvent<APIResponse>>()
        let middleware = AuthenticationMiddleware { _ in tokens.single }
        for _ in 0..<3 { _ = middleware.intercept(PreparedRequest("GET"), next: sent.next).subscribe { events.append($0) } }
        middleware.credential = nil
        middleware.credential = "bob"
        #expect(events.count == 3)
        for event in events.entries {
            let error = #expect(throws: APIError.self) { try event.get() }
            #expect(error?.description == "The request was not sent: its user has signed out.")
        }
        tokens.send(.success("late"))
        #expect(middleware.credential == "bob")
        #expect(sent.requests.isEmpty)
    }

    @Test("A request in flight at sign-out is not sent again, neither by another user nor by a refresh", arguments: ["bob", nil])
    func signOutInFlight(next: String?) {
        let responses = Producer<APIResponse>()
        let (sent, events) = (Log<String>(), Log<SingleEvent<APIResponse>>())
        let middleware = AuthenticationMiddleware(token: "alice") { _ in
            sent.append("refresh")
            return .just("resurrected")
        }
        _ = middleware.intercept(PreparedRequest("POST")) { request in
            sent.append(request.headers["Authorization"] ?? "none")
            return responses.single
        }.subscribe { events.append($0) }
        middleware.credential = nil
        middleware.credential = next
        responses.send(.success(APIResponse(to: PreparedRequest("POST", headers: ["Authorization": "Bearer alice"]), status: 401)))
        #expect(statuses(events) == [401])
        #expect(sent.entries == ["Bearer alice"])
        #expect(middleware.credential == next)
    }

    /// Waits before each request.
    private struct Delay: Middleware {
        let scheduler: TestScheduler
        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            Single.just(request).delay(.seconds(1), scheduler: scheduler).flatMap(next)
        }
    }

    /// A user's middleware that contains another.
    private struct Wrapper: Middleware {
        let wrapped: any Middleware
        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            wrapped.intercept(request, next: next)
        }
    }

    enum Order: CaseIterable { case retryOutside, wrapped, delayBetween, delayOutside, retryInside }

    @Test("A request belongs to the user who was signed in when it began, whatever the order of the middlewares", arguments: Order.allCases)
    func anotherUser(order: Order) {
        let (scheduler, events) = (TestScheduler(), Log<SingleEvent<APIResponse>>())
        let answers = Answers(.status(503), .status(200))
        let alice = AuthenticationMiddleware(token: "alice") { _ in .error(TestError("refresh")) }
        let (retry, delay) = (RetryMiddleware(scheduler: scheduler, random: { 1 }), Delay(scheduler: scheduler))
        let middlewares: [any Middleware] =
            switch order {
            case .retryOutside: [retry, alice]
            case .wrapped: [retry, Wrapper(wrapped: alice)]
            case .delayBetween: [retry, delay, alice]
            case .delayOutside: [delay, retry, alice]
            case .retryInside: [alice, retry]
            }
        let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport(answers.next), middlewares: middlewares)
        _ = provider.request(Endpoint(.put, "/notes", body: .json("Alice's")) { $0 }).subscribe { events.append($0) }
        if order == .delayBetween { scheduler.advance(by: .seconds(1)) }
        alice.credential = nil
        alice.credential = "bob"
        scheduler.run()
        let sent = answers.requests.map { $0.headers["Authorization"] }
        switch order {
        case .retryInside: #expect(sent == ["Bearer alice", "Bearer alice"] && statuses(events) == [200])
        case .delayOutside: #expect(sent == [])
        default: #expect(sent == ["Bearer alice"])
        }
        guard order != .retryInside else { return }
        let error = #expect(throws: APIError.self) { try events.entries.first?.get() }
        #expect(error?.description == "The request was not sent: its user has signed out.")
    }

    @Test("A second attempt has the token that the same user's refresh has brought")
    func refreshedBetweenAttempts() {
        let (scheduler, events) = (TestScheduler(), Log<SingleEvent<APIResponse>>())
        let answers = Answers(.status(503), .status(401), .status(200))
        let middleware = AuthenticationMiddleware(token: "old") { _ in .just("new") }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport(answers.next), middlewares: [RetryMiddleware(scheduler: scheduler), middleware])
        for _ in 0..<2 { _ = provider.request(Endpoint(.get, "") { $0 }).subscribe { events.append($0) } }
        scheduler.run()
        #expect(statuses(events) == [200, 200])
        #expect(
            answers.requests.map { $0.headers["Authorization"] } == [
                "Bearer old", "Bearer old", "Bearer new", "Bearer new",
            ])
    }

    @Test("A request that began while nobody was signed in goes on as the user who signs in")
    func signInBetweenAttempts() {
        let (scheduler, events) = (TestScheduler(), Log<SingleEvent<APIResponse>>())
        let answers = Answers(.status(200))
        let middleware = AuthenticationMiddleware(token: "alice") { _ in .error(URLError(.notConnectedToInternet)) }
        middleware.credential = nil
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport(answers.next), middlewares: [RetryMiddleware(scheduler: scheduler), middleware])
        _ = provider.request(Endpoint(.get, "") { $0 }).subscribe { events.append($0) }
        middleware.credential = "bob"
        scheduler.run()
        #expect(statuses(events) == [200])
        #expect(answers.requests.map { $0.headers["Authorization"] } == ["Bearer bob"])
    }

    @Test("A token that is set while a refresh begins is used by all who wait", .longComputing)
    func setRaces() {
        for _ in 0..<rounds(2_000) {
            let tokens = Producer<String>()
            let events = Locked(0)
            let middleware = AuthenticationMiddleware { _ in tokens.single }
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 {
                    middleware.credential = "set"
                } else {
                    _ = middleware.intercept(PreparedRequest("GET"), next: Answers(.status(200)).next).subscribe { _ in
                        events.withLock { $0 += 1 }
                    }
                }
            }
            #expect(events.withLock { $0 } == 1)
        }
    }

    @Test(
        "A refresh through the same provider is an error that says so, whether it is sent at once or by a task", arguments: [true, false])
    func ownRefresh(isImmediate: Bool) async throws {
        let provider = Locked<DefaultAPIProvider?>(nil)
        let middleware = AuthenticationMiddleware { _ in
            guard let provider = provider.withLock({ $0 }) else { return .error(TestError("no provider")) }
            let refresh = provider.request(Endpoint<String>(.post, "/token"))
            return isImmediate ? refresh : .create(work: { try await refresh.value })
        }
        let own = DefaultAPIProvider(baseURL: example, transport: ClosureTransport { _ in .never() }, middlewares: [middleware])
        provider.withLock { $0 = own }
        // A busy machine may take long to begin a task.
        let request = Endpoint<Void>(.get, "", timeoutInterval: 600)
        let error = try await #require(throws: APIError.self) { try await own.request(request).value }
        #expect(error.description.hasPrefix("The request was not sent: it is part of the refresh of the token, and would wait for itself"))
        provider.withLock { $0 = nil }
    }

    @Test("A refresh through the same provider works with the option that leaves the credential out")
    func ownRefreshWithOption() async throws {
        let provider = Locked<DefaultAPIProvider?>(nil)
        let server = Server(valid: "new")
        let middleware = AuthenticationMiddleware(token: "old") { _ in
            guard let provider = provider.withLock({ $0 }) else { return .error(TestError("no provider")) }
            return provider.request(Endpoint<Void>(.post, "/token").option(\.isAuthenticated, false).validating { _ in }).map {
                _ in "new"
            }
        }
        let own = DefaultAPIProvider(baseURL: example, transport: ClosureTransport(server.next), middlewares: [middleware])
        provider.withLock { $0 = own }
        _ = try await own.request(Endpoint<Void>(.get, "")).value
        #expect(server.seen.entries == ["Bearer old", "none", "Bearer new"])
        provider.withLock { $0 = nil }
    }

    @Test("A request that waits for a refresh keeps its own timeout")
    func timeouts() {
        let scheduler = TestScheduler()
        let tokens = Producer<String>()
        let middleware = AuthenticationMiddleware(nil, scheduler: scheduler, apply: { $1.headers["A"] = $0 }) { _ in tokens.single }
        let events = Log<String>()
        for seconds in [1.5, 3] {
            var request = PreparedRequest("GET", "https://api.example.com/")
            request.timeoutInterval = seconds
            _ = middleware.intercept(request, next: Answers(.status(200)).next).subscribe { event in
                events.append("\(event.map(\.statusCode).mapError { $0 as? APIError ?? $0 })")
            }
        }
        scheduler.advance(by: .milliseconds(1_499))
        #expect(events.entries.isEmpty)
        scheduler.advance(by: .milliseconds(1))
        #expect(
            events.entries == [
                "failure(GET https://api.example.com/ failed: it timed out while it waited for a new token; is the refresh itself sent through this provider? (URLError -1001).)"
            ])
        tokens.send(.success("a"))
        #expect(events.entries.last == "success(200)")
    }

    @Test("The token shows nowhere, wherever it is put and whatever repeats it")
    func everywhere() async throws {
        let log = Log<String>()
        let middleware = AuthenticationMiddleware(
            token: "letters",
            hosts: ["api.example.com"],
            apply: { token, request in
                request.url = URL(string: "https://api.example.com/of-\(token)/\(token)?page=\(token)") ?? example
                request.headers["X-Caller"] = "v1;\(token)"
                request.headers["User-Agent"] = "app \(token)"
            }
        ) { _ in .never() }
        let logging = LoggingMiddleware(.bodies, log: log.append)
        let sent = Answers(.status(400, headers: ["ETag": "letters"], body: #"{"message":"no letters"}"#))
        let response = try await middleware.intercept(PreparedRequest("GET", "https://api.example.com/")) {
            logging.intercept($0, next: sent.next)
        }.value
        let command = try #require(sent.requests.first).curlCommand()
        for text in log.entries + [command, "\(APIError.unacceptableStatus(response))"] {
            #expect(!text.contains("letters") && text.contains("/of-…/…?page="), "\(text)")
        }
        #expect(command.contains("X-Caller: …") && command.contains("User-Agent: app …"), "\(command)")
    }

    @Test("The token is not shown anywhere")
    func redaction() async throws {
        let middleware = AuthenticationMiddleware(token: "s3cret") { _ in .just("s3cret") }
        let sent = Answers(.status(200))
        _ = try await middleware.intercept(PreparedRequest("GET"), next: sent.next).value
        let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport { _ in .never() }, middlewares: [middleware])
        for value in [middleware, provider, try #require(sent.requests.first).curlCommand()] as [Any] {
            var dumped = ""
            dump(value, to: &dumped)
            for form in ["\(value)", String(reflecting: value), dumped] { #expect(!form.contains("s3cret"), "\(form)") }
        }
    }
}
