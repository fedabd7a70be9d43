import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Authentication", tenMinutes)
struct AuthenticationMiddlewareTests {
    /// A server that accepts one token at a time, and refuses others with 401.
    private final class Server: Sendable {
        private let valid: Locked<String>
        let seen = Log<String>()

        init(valid: String) { self.valid = Locked(valid) }

        func accept(_ token: String) { valid.withLock { $0 = token } }

        var next: Middleware.Next {
            { request in
                .deferred {
                    self.seen.append(request.token)
                    let isValid = self.valid.withLock { request.token == "Bearer \($0)" }
                    return .just(APIResponse(to: request, statusCode: isValid ? 200 : 401))
                }
            }
        }
    }

    private let scheduler = TestScheduler()
    private let server = Server(valid: "new")
    private let tokens: Producer<String>
    private let ended = Log<String>()
    private let events = Log<SingleEvent<APIResponse>>()
    private let refreshes = Log<String?>()

    init() { tokens = Producer { [ended] in ended.disposable() } }

    /// Logs the token that each refresh replaces.
    private func middleware(
        _ token: String? = "old", refresh: @escaping @Sendable () -> Single<String>
    ) -> AuthenticationMiddleware<String> {
        AuthenticationMiddleware(token, scheduler: scheduler, apply: { $1.headers["Authorization"] = "Bearer \($0)" }) { [refreshes] in
            refreshes.append($0)
            return refresh()
        }
    }

    private func send(_ count: Int = 1, by middleware: AuthenticationMiddleware<String>, to next: Middleware.Next? = nil) {
        for _ in 0..<count {
            _ = middleware.intercept(PreparedRequest("GET"), next: next ?? server.next).subscribe { events.append($0) }
        }
    }

    private func provider(_ middlewares: [any Middleware], send: @escaping Middleware.Next) -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: ClosureTransport(send), middlewares: middlewares)
    }

    /// Its timeout is long enough for a refresh in a task on a busy machine.
    private let get = Endpoint(.get, "", timeoutInterval: 600) { $0 }

    private static func failing(token: String? = "a", hosts: Set<String>? = nil) -> AuthenticationMiddleware<String> {
        AuthenticationMiddleware(token: token, hosts: hosts) { _ in .error(TestError("refresh")) }
    }

    @Test(
        "No refresh starts after another status, or after a redirect that dropped the token or a part of it",
        arguments: [["Authorization"], ["X-Customer"], ["Authorization", "X-Customer"]])
    func noRefresh(headers: [String]) async throws {
        let middleware = AuthenticationMiddleware(
            token: "a", apply: { token, request in for header in headers { request.headers[header] = token } }
        ) { _ in .error(TestError("refresh")) }
        func request(_ url: String = "https://api.example.com/items", without missing: [String] = []) -> PreparedRequest {
            var request = PreparedRequest("GET", url, headers: ["X-A": "b"])
            for header in headers where !missing.contains(header) { request.headers[header] = "a" }
            return request
        }
        let others = [200, 400, 403, 407, 500].map { APIResponse(to: request(), statusCode: $0) }
        let without = headers.map { request(without: [$0]) }
        let dropped = (without + [request("https://elsewhere.example.com/")]).map { APIResponse(to: $0, statusCode: 401) }
        for answer in others + dropped {
            #expect(try await middleware.intercept(request(without: headers)) { _ in .just(answer) }.value.statusCode == answer.statusCode)
        }
    }

    @Test(
        "After a 401 behind a redirect, a request is sent again if that is safe for each request of its chain, and the next has a new token",
        arguments: [("POST", nil, 303, 1), ("POST", "1", 303, 2), ("POST", "1", 307, 2), ("PUT", nil, 303, 2), ("GET", nil, 307, 2)]
            as [(HTTPMethod, String?, Int, Int)])
    func chain(method: HTTPMethod, key: String?, status: Int, count: Int) async throws {
        let (seen, middleware) = (Log<String>(), AuthenticationMiddleware(token: "old") { _ in .just("new") })
        var request = PreparedRequest(method, body: method == .get ? nil : Data("body".utf8))
        request.headers["Idempotency-Key"] = key
        for expected in [count > 1 ? 200 : 401, 200] {
            let response = try await middleware.intercept(request) { [server] request in
                .followingRedirects(request) { request in
                    guard request.url.path == "/items" else { return server.next(request) }
                    seen.append(request.token)
                    return .just(APIResponse(to: request, statusCode: status, headers: ["Location": "/items/1"]))
                }
            }.value
            #expect(response.statusCode == expected)
        }
        #expect(seen.entries == ["Bearer old", "Bearer new"].prefix(count) + ["Bearer new"])
        #expect(server.seen.entries == seen.entries)
    }

    @Test("A 401 is a rejection, with each way to create the middleware")
    func ofStatus401() async throws {
        let middlewares: [any Middleware] = [
            AuthenticationMiddleware(token: "old", hosts: ["api.example.com"]) { _ in .just("new") },
            AuthenticationMiddleware(
                "old", hosts: ["api.example.com"], apply: { $1.headers["Authorization"] = "Bearer \($0)" }, refresh: { _ in .just("new") }),
        ]
        for middleware in middlewares {
            let answers = Answers(.status(401), .status(200))
            #expect(try await middleware.intercept(PreparedRequest(.get, example), next: answers.next).value.statusCode == 200)
            #expect(answers.requests.map(\.token) == ["Bearer old", "Bearer new"])
        }
    }

    @Test("Without a token, the first comes from refresh, and a token that is set is sent")
    func signIn() async throws {
        let middleware = middleware(nil) { .just("refreshed") }
        for credential in [nil, "set", nil] as [String?] {
            middleware.credential = credential
            for _ in 0..<2 { _ = try await middleware.intercept(PreparedRequest("GET"), next: Answers(.status(200)).next).value }
            #expect(middleware.credential == credential ?? "refreshed")
        }
        #expect(refreshes.entries == [nil, nil])
    }

    /// Each way to create a middleware without a refresh.
    private func middlewaresWithoutRefresh(_ token: String?) -> [AuthenticationMiddleware<String>] {
        [
            AuthenticationMiddleware(token: token),
            AuthenticationMiddleware(token) { $1.headers["Authorization"] = "Bearer \($0)" },
        ]
    }

    @Test("Without a refresh, a 401 is delivered, with and without a token, and the token that is set at the sign-in is sent")
    func withoutRefresh() async throws {
        for (index, middleware) in middlewaresWithoutRefresh(nil).enumerated() {
            for (token, status) in [(nil, 401), ("old", 401), ("old", 401), ("new", 200), (nil, 401)] as [(String?, Int)] {
                middleware.credential = token
                #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == status)
                #expect(server.seen.entries.last == token.map { "Bearer \($0)" } ?? "none")
                #expect(middleware.credential == token)
            }
            #expect(server.seen.count == (index + 1) * 5)
        }
    }

    @Test("Without a refresh, too, a token goes to its hosts alone")
    func withoutRefreshToHosts() async throws {
        for middleware in middlewaresWithoutRefresh("new") {
            let provider = provider([middleware], send: server.next)
            for (path, token) in [("/", "Bearer new"), ("https://elsewhere.example.com/", "none")] {
                _ = try? await provider.request(Endpoint<Void>(.get, path == "/" ? "/" : .url(URL(string: path)!))).value
                #expect(server.seen.entries.last == token)
            }
            let error = await #expect(throws: APIError.self) {
                try await DefaultAPIProvider(transport: ClosureTransport(server.next), middlewares: [middleware])
                    .request(Endpoint<Void>(.get, .url(example))).value
            }
            #expect(error?.description.contains("does not know which hosts it is for") == true)
        }
        #expect(server.seen.count == 4)
    }

    @Test(
        "Without a refresh, too, nothing is sent for a user who has signed out, and a 401 is not sent again for the next",
        arguments: [nil, "new"])
    func withoutRefreshAfterSignOut(next: String?) {
        for middleware in middlewaresWithoutRefresh("old") {
            let (go, responses, sent) = (Producer<Void>(), Producer<APIResponse>(), Log<PreparedRequest>())
            let waiting = ClosureMiddleware { request, next in go.single.flatMap { next(request) } }
            _ = provider([waiting, middleware], send: server.next).request(get).subscribe { events.append($0) }
            send(by: middleware) { request in
                sent.append(request)
                return responses.single
            }
            middleware.credential = nil
            middleware.credential = next
            go.send(.success(()))
            responses.send(.success(APIResponse(to: sent.entries[0], statusCode: 401)))
            let error = #expect(throws: APIError.self) { try events.entries[events.count - 2].get() }
            #expect(error?.description == APIError.signedOut.description)
            #expect(events.statuses.last == 401 && sent.count == 1)
        }
        #expect(server.seen.count == 0)
    }

    @Test("Requests that are refused at the same time, or come during the refresh, share one refresh", arguments: [true, false])
    func oneForAll(isSuccess: Bool) {
        let middleware = middleware { [tokens] in tokens.single }
        let refusal = Producer<APIResponse>()
        let refusals = refusal.single.share()
        send(20, by: middleware) { [server] request in server.next(request).flatMap { $0.statusCode == 401 ? refusals : .just($0) } }
        #expect(refreshes.count == 0)
        refusal.send(.success(APIResponse(to: PreparedRequest("GET", headers: ["Authorization": "Bearer old"]), statusCode: 401)))
        send(by: middleware)
        #expect(events.count == 0)
        tokens.send(isSuccess ? .success("new") : .failure(TestError("refresh")))
        #expect(refreshes.entries == ["old"])
        if isSuccess {
            #expect(events.statuses == Array(repeating: 200, count: 21))
            #expect(server.seen.entries == Array(repeating: "Bearer old", count: 20) + Array(repeating: "Bearer new", count: 21))
        } else {
            #expect(events.count == 21)
            for event in events.entries { #expect(throws: TestError("refresh")) { try event.get() } }
            // The next request tries again before it is sent.
            send(by: middleware)
            tokens.send(.success("new"))
            #expect(events.statuses.last == 200)
            #expect(server.seen.entries == Array(repeating: "Bearer old", count: 20) + ["Bearer new"])
        }
    }

    @Test("A refresh that has failed is the answer of each request that was sent before, and the next request tries again")
    func refusedAfterFailedRefresh() {
        let middleware = middleware { [tokens] in tokens.single }
        let refusals = (0..<30).map { _ in Producer<APIResponse>() }
        for refusal in refusals { send(by: middleware) { _ in refusal.single } }
        let refusal = APIResponse(to: PreparedRequest("GET", headers: ["Authorization": "Bearer old"]), statusCode: 401)
        for number in refusals.indices {
            refusals[number].send(.success(refusal))
            if number == 0 { tokens.send(.failure(TestError("refresh"))) }
        }
        #expect(refreshes.entries == ["old"])
        #expect(events.count == 30)
        for event in events.entries { #expect(throws: TestError("refresh")) { try event.get() } }
        send(by: middleware)
        tokens.send(.success("new"))
        #expect(events.statuses.last == 200)
        #expect(refreshes.entries == ["old", "old"])
    }

    @Test(
        "A request that was sent before a failed refresh gets the token of a later refresh, or of a new sign-in", arguments: [true, false])
    func refusedAfterLaterRefresh(isSignIn: Bool) async {
        let middleware = middleware { [tokens] in tokens.single }
        let refusals = (0..<3).map { _ in Producer<APIResponse>() }
        for refusal in refusals {
            send(by: middleware) { [server] in $0.token == "Bearer old" ? refusal.single : server.next($0) }
        }
        let refusal = APIResponse(to: PreparedRequest("GET", headers: ["Authorization": "Bearer old"]), statusCode: 401)
        refusals[0].send(.success(refusal))
        tokens.send(.failure(TestError("refresh")))
        send(by: middleware)
        refusals[1].send(.success(refusal))
        if isSignIn { middleware.credential = "new" } else { tokens.send(.success("new")) }
        refusals[2].send(.success(refusal))
        #expect(await eventually { events.statuses == [nil, 200, 200, 200] })
        #expect(refreshes.count == 2)
    }

    @Test("A request that is refused after its token was replaced is sent with the new one", arguments: ["new", "same"])
    func late(token: String) {
        let (responses, sent) = (Producer<APIResponse>(), Log<PreparedRequest>())
        let middleware = middleware("same") { .just(token) }
        send(by: middleware) { request in
            sent.append(request)
            return sent.count == 1 ? responses.single : .just(APIResponse(to: request))
        }
        send(by: middleware, to: Answers(.status(401), .status(200)).next)
        responses.send(.success(APIResponse(to: sent.entries[0], statusCode: 401)))
        #expect(events.statuses == [200, 200])
        #expect(sent.entries.map(\.token) == ["Bearer same", "Bearer \(token)"])
        #expect(refreshes.count == 1)
    }

    /// How a refresh sets the credential that it also returns.
    enum Setting: CaseIterable { case never, atOnce, twice, inTask }

    @Test(
        "A server that also refuses the new token causes one refresh and one second attempt a minute, also if the refresh sets the token",
        arguments: Setting.allCases)
    func alwaysRefused(setting: Setting) async throws {
        let box = Locked<AuthenticationMiddleware<String>?>(nil)
        let middleware = middleware { [refreshes] in
            let token = "\(refreshes.count)"
            @Sendable func set() { box.withLock { $0 }?.credential = token }
            if setting == .inTask {
                return .create {
                    set()
                    return token
                }
            }
            for _ in 0..<([.never: 0, .twice: 2][setting] ?? 1) { set() }
            return .just(token)
        }
        box.withLock { $0 = middleware }
        for minute in 1...2 {
            for (index, status) in (0..<20).flatMap({ _ in [401, 200] }).enumerated() {
                let answers = Answers(.status(status))
                #expect(try await middleware.intercept(PreparedRequest("GET"), next: answers.next).value.statusCode == status)
                #expect(answers.requests.count == (index == 0 ? 2 : 1))
            }
            #expect(refreshes.count == minute && middleware.credential == "\(minute)")
            scheduler.advance(by: .seconds(60))
        }
        // A sign-in elsewhere ends the minute.
        _ = try await middleware.intercept(PreparedRequest("GET"), next: Answers(.status(401)).next).value
        middleware.credential = "signed in"
        _ = try await middleware.intercept(PreparedRequest("GET"), next: Answers(.status(401)).next).value
        #expect(refreshes.entries == ["old", "1", "2", "signed in"])
        box.withLock { $0 = nil }
    }

    @Test("A new credential whose date is near is sent, and not refreshed again, also if the refresh sets it on another thread")
    func nearDate() async throws {
        let box = Locked<AuthenticationMiddleware<String>?>(nil)
        let set = { @Sendable (token: String) in box.withLock { $0 }?.credential = token }
        let middleware = AuthenticationMiddleware(
            "old", scheduler: scheduler, now: { Date(timeIntervalSince1970: 0) }, apply: { $1.headers["Authorization"] = $0 },
            expiry: { _ in Date(timeIntervalSince1970: 30) }, leeway: 60
        ) { [refreshes] old in
            refreshes.append(old)
            return .create { observer in
                // The thread of a network stack does not know whose refresh this is.
                Task.detached {
                    set("new")
                    observer(.success("new"))
                }
                return Disposables.create()
            }
        }
        box.withLock { $0 = middleware }
        let response = try await middleware.intercept(PreparedRequest("GET"), next: Answers(.status(200)).next).value
        #expect(response.request.headers["Authorization"] == "new" && refreshes.count == 1)
        box.withLock { $0 = nil }
    }

    @Test("A refresh that a sign-out has ended sets nothing, also after the next user has signed in")
    func setAfterSignOut() async throws {
        let (box, going, signedOut) = (
            Locked<AuthenticationMiddleware<String>?>(nil), AsyncStream<Void>.makeStream(), AsyncStream<Void>.makeStream()
        )
        let ended = AsyncStream<Void>.makeStream()
        let middleware = AuthenticationMiddleware(token: String?.none) { _ in
            going.continuation.finish()
            // A task that looks at no cancellation.
            await Task.detached { for await _ in signedOut.stream {} }.value
            box.withLock { $0 }?.credential = "of the first user"
            ended.continuation.finish()
            return "of the first user"
        }
        box.withLock { $0 = middleware }
        let request = Task { try await middleware.intercept(PreparedRequest("GET"), next: Answers(.status(200)).next).value }
        for await _ in going.stream {}
        middleware.credential = nil
        middleware.credential = "of the second user"
        signedOut.continuation.finish()
        for await _ in ended.stream {}
        #expect(middleware.credential == "of the second user")
        await #expect(throws: APIError.self) { try await request.value }
        box.withLock { $0 = nil }
    }

    @Test("A credential that somebody else sets during a refresh, and that is refused, is refreshed at once")
    func setElsewhere() async {
        let middleware = middleware { [tokens] in tokens.single }
        send(by: middleware)
        middleware.credential = "signed in"
        #expect(await eventually { events.statuses == [401] })
        send(by: middleware)
        tokens.send(.success("new"))
        #expect(events.statuses == [401, 200])
        #expect(refreshes.entries == ["old", "signed in"])
    }

    @Test("A refresh goes on after the request that waits is disposed or times out, and its token is kept", arguments: [true, false])
    func abandoned(isDisposed: Bool) {
        let middleware = middleware(nil) { [tokens] in tokens.single }
        var request = PreparedRequest("GET")
        request.timeoutInterval = 2
        let waiting = middleware.intercept(request, next: server.next).subscribe { events.append($0) }
        scheduler.advance(by: .milliseconds(1_999))
        #expect(events.count == 0)
        if isDisposed { waiting.dispose() }
        scheduler.advance(by: .milliseconds(1))
        #expect(events.count == (isDisposed ? 0 : 1))
        for event in events.entries {
            let error = #expect(throws: APIError.self) { try event.get() }
            #expect(error?.description.contains("timed out while it waited for a new credential") == true)
        }
        #expect(ended.count == 0)
        send(by: middleware)
        tokens.send(.success("new"))
        send(by: middleware)
        #expect(events.statuses.suffix(2) == [200, 200])
        #expect(tokens.subscriptions == 1)
    }

    @Test("A refresh through the same provider, sent at once or by a task, fails with an error that says so", arguments: [true, false])
    func ownRefresh(isImmediate: Bool) async throws {
        let box = Locked<DefaultAPIProvider?>(nil)
        let middleware = AuthenticationMiddleware { _ in
            guard let provider = box.withLock({ $0 }) else { return .error(TestError("no provider")) }
            let refresh = provider.request(Endpoint<String>(.post, "/token"))
            return isImmediate ? refresh : .create(work: { try await refresh.value })
        }
        let provider = provider([middleware]) { _ in .never() }
        box.withLock { $0 = provider }
        // A busy machine may take long to begin a task.
        let request = Endpoint<Void>(.get, "", timeoutInterval: 600)
        let error = try await #require(throws: APIError.self) { try await provider.request(request).value }
        #expect(error.description.contains("it is part of the refresh of the token, and would wait for itself"))
        box.withLock { $0 = nil }
    }

    @Test(
        "A refresh through the same provider does not wait for a limit that the waiting requests use up",
        arguments: [
            (["authentication", "limit"], 1), (["retry", "authentication", "limit"], 2), (["authentication", "retry", "limit"], 2),
        ])
    func limited(order: [String], attempts: Int) {
        let box = Locked<DefaultAPIProvider?>(nil)
        let authentication = AuthenticationMiddleware(token: "old") { _ in
            guard let provider = box.withLock({ $0 }) else { return .error(TestError("no provider")) }
            return provider.request(Endpoint<String>(.put, "/token").option(\.isAuthenticated, false))
        }
        let all: [String: any Middleware] = [
            "limit": ConcurrencyLimitMiddleware(maxConcurrent: 1), "retry": RetryMiddleware(scheduler: scheduler),
            "authentication": authentication,
        ]
        let provider = provider(order.compactMap { all[$0] }) { [refreshes, server] request in
            guard request.url.path == "/token" else { return server.next(request) }
            refreshes.append(request.token)
            return .just(APIResponse(to: request, statusCode: refreshes.count < attempts ? 503 : 200, data: Data("new".utf8)))
        }
        box.withLock { $0 = provider }
        for _ in 0..<3 { _ = provider.request(get).subscribe { events.append($0) } }
        scheduler.run()
        #expect(events.statuses == [200, 200, 200])
        #expect(refreshes.entries == Array(repeating: "none", count: attempts))
        box.withLock { $0 = nil }
    }

    @Test(
        "A refresh may be async, for a credential of any type, and its error is that of the requests that wait", arguments: [true, false])
    func asyncRefresh(succeeds: Bool) async throws {
        let token = AuthenticationMiddleware(token: "old") { expired in
            #expect(expired == "old")
            guard succeeds else { throw TestError("no new token") }
            return try await Single.just("new").value
        }
        let provider = provider([token]) { [server] in server.next($0) }
        if succeeds {
            #expect(try await provider.request(get).value.statusCode == 200)
        } else {
            await #expect(throws: TestError.self) { try await provider.request(get).value }
        }
        #expect(server.seen.entries == (succeeds ? ["Bearer old", "Bearer new"] : ["Bearer old"]))
        let apply: @Sendable (Session, inout PreparedRequest) -> Void = { $1.headers["Authorization"] = "Bearer \($0.access)" }
        let session = AuthenticationMiddleware(Session(access: "old"), apply: apply) { _ in
            try await Single.just(Session(access: "new")).value
        }
        #expect(try await session.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 200)
    }

    @Test("A request that is made of a response's request holds no place, and is sent")
    func limitIsReleased() async throws {
        let again = ClosureMiddleware { request, next in next(request).flatMap { next($0.request) } }
        let limited = provider([again, middleware { .just("new") }, ConcurrencyLimitMiddleware(maxConcurrent: 1)]) { [server] in
            server.next($0)
        }
        #expect(try await limited.request(get).value.statusCode == 200)
    }

    @Test("Behind a limit, each request fails at once with an error that says to swap the two", arguments: [1, 100])
    func limitBefore(maxConcurrent: Int) {
        let provider = provider([
            ConcurrencyLimitMiddleware(maxConcurrent: maxConcurrent), RetryMiddleware(scheduler: scheduler),
            middleware { .just("new") },
        ]) { [server] in server.next($0) }
        for _ in 0..<2 { _ = provider.request(get).subscribe { events.append($0) } }
        scheduler.run()
        let texts = events.entries.map { "\($0)" }
        let sentence = "its ConcurrencyLimitMiddleware stands before its AuthenticationMiddleware; swap the two."
        #expect(texts.count == 2 && texts.allSatisfy { $0.contains(sentence) } && server.seen.entries.isEmpty, "\(texts)")
        _ = provider.request(get.option(\.isAuthenticated, false)).subscribe { events.append($0) }
        #expect(server.seen.count == 1)
    }

    @Test("A request ends after its middleware is released, and the middleware is then deallocated")
    func released() {
        weak var released: AuthenticationMiddleware<String>?
        do {
            let middleware = middleware { [tokens] in tokens.single }
            released = middleware
            send(by: middleware)
        }
        tokens.send(.success("new"))
        #expect(events.statuses == [200])
        #expect(released == nil)
    }

    @Test("A response after an immediate refresh may send the next request, which is refused and refreshed again")
    func reentrant() {
        let middleware = middleware(nil) { [refreshes] in .just(refreshes.count == 1 ? "refused" : "new") }
        _ = middleware.intercept(PreparedRequest("GET"), next: server.next)
            .flatMap { [server] _ in middleware.intercept(PreparedRequest("GET"), next: server.next) }
            .subscribe { events.append($0) }
        #expect(events.statuses == [200])
        #expect(refreshes.count == 2)
    }

    @Test("20 requests on 20 threads make one refresh", .longComputing)
    func races() {
        let queue = DispatchQueue(label: "refresh", attributes: .concurrent)
        let middleware = AuthenticationMiddleware(token: "0") { [refreshes] expired in
            refreshes.append(expired)
            let token = "\(refreshes.count)"
            return .create { observer in
                queue.async { observer(.success(token)) }
                return Disposables.create()
            }
        }
        for round in 1...rounds(100) {
            server.accept("\(round)")
            let (events, group) = (Log<SingleEvent<APIResponse>>(), DispatchGroup())
            DispatchQueue.concurrentPerform(iterations: 20) { _ in
                group.enter()
                _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe {
                    events.append($0)
                    group.leave()
                }
            }
            group.wait()
            #expect(events.statuses == Array(repeating: 200, count: 20))
            #expect(refreshes.count == round)
        }
    }

    @Test("Setting the credential calls nothing of a waiting request on its thread", arguments: ["set", nil])
    func settingThread(credential: String?) async {
        let (isSetting, ended) = (DispatchSpecificKey<Bool>(), Signals<Bool>())
        let middleware = AuthenticationMiddleware<String> { _ in .never() }
        _ = middleware.intercept(PreparedRequest("GET"), next: Answers(.status(200)).next).subscribe { _ in
            ended.send(DispatchQueue.getSpecific(key: isSetting) == true)
        }
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: isSetting, value: true)
        queue.sync { middleware.credential = credential }
        #expect(await ended.next() == false)
    }

    @Test("A token that is set while a refresh begins is used by all who wait", .longComputing)
    func setRaces() async {
        for _ in 0..<rounds(2_000) {
            let (tokens, events) = (Producer<String>(), Log<SingleEvent<APIResponse>>())
            let middleware = AuthenticationMiddleware { _ in tokens.single }
            DispatchQueue.concurrentPerform(iterations: 2) { index in
                if index == 0 {
                    middleware.credential = "set"
                } else {
                    _ = middleware.intercept(PreparedRequest("GET"), next: Answers(.status(200)).next).subscribe { events.append($0) }
                }
            }
            #expect(await eventually { events.statuses == [200] })
        }
    }

    @Test(
        "A token that has no host or cannot be put into the request is an error that says why, and nothing is sent",
        arguments: [
            (
                [failing()],
                "AuthenticationMiddleware does not know which hosts it is for; give it hosts:, or give the provider a baseURL:"
            ),
            (
                ["https://one", "one:8443", "one/x", "[::1]:80", "*.one", "me@one", ""].map { failing(hosts: [$0]) },
                "in the hosts of AuthenticationMiddleware is not a host; write it as \"api.example.com\""
            ),
            (
                ["a\n", "a\0"].map { failing(token: $0, hosts: ["one"]) },
                "its token contains a control character; if you read it from a file, trim it"
            ),
            (
                [AuthenticationMiddleware(1, hosts: ["one"], apply: { $1.headers["Authorization"] = "a\n" }) { _ in .never() }],
                "its credential contains a control character; if you read it from a file, trim it"
            ),
            (
                [
                    AuthenticationMiddleware(1, hosts: ["one"], apply: { _, _ in }) { _ in .never() },
                    AuthenticationMiddleware(token: "a", hosts: ["one"], apply: { _, _ in }) { _ in .never() },
                ],
                "its credential has added nothing to it; set a header in apply"
            ),
        ] as [([any Middleware], String)])
    func invalid(middlewares: [any Middleware], reason: String) async throws {
        for middleware in middlewares {
            var request = PreparedRequest("GET", "https://one/")
            request.baseURL = nil
            let error = await #expect(throws: APIError.self) { try await middleware.intercept(request, next: server.next).value }
            #expect(error?.description.hasSuffix("\(reason).") == true, "\(String(describing: error))")
        }
        #expect(server.seen.count == 0)
    }

    @Test("A token that is set during a refresh replaces it; after a sign-out, the requests that wait fail", arguments: [false, true])
    func setDuringRefresh(isSignOut: Bool) async {
        let middleware = middleware("other") { [tokens] in tokens.single }
        middleware.credential = nil
        send(3, by: middleware)
        if isSignOut { middleware.credential = nil }
        middleware.credential = "new"
        #expect(ended.count == 1)
        tokens.send(.success("late"))
        #expect(middleware.credential == "new")
        #expect(await eventually { events.statuses == Array(repeating: isSignOut ? nil : 200, count: 3) })
        #expect(server.seen.count == (isSignOut ? 0 : 3))
        for event in events.entries where isSignOut {
            let error = #expect(throws: APIError.self) { try event.get() }
            #expect(error?.description == "The request was not completed: its user has signed out.")
        }
    }

    @Test("A request in flight at sign-out is not sent again, by another user or by a refresh", arguments: ["bob", nil])
    func signOutInFlight(next: String?) {
        let (responses, sent) = (Producer<APIResponse>(), Log<PreparedRequest>())
        let middleware = middleware("alice") { .just("resurrected") }
        send(by: middleware) { request in
            sent.append(request)
            return responses.single
        }
        middleware.credential = nil
        middleware.credential = next
        responses.send(.success(APIResponse(to: sent.entries[0], statusCode: 401)))
        #expect(events.statuses == [401])
        #expect(sent.entries.map(\.token) == ["Bearer alice"])
        #expect(refreshes.count == 0)
        #expect(middleware.credential == next)
    }

    @Test(
        "A request belongs to the user who was signed in when it began, whatever the order of the middlewares",
        arguments: [
            (["retry", "alice"], 1), (["retry", "delay", "alice"], 1), (["delay", "retry", "alice"], 0), (["alice", "retry"], 2),
        ])
    func anotherUser(order: [String], attempts: Int) {
        let answers = Answers(.status(503), .status(200))
        let alice = Self.failing(token: "alice")
        let all: [String: any Middleware] = [
            "retry": RetryMiddleware(scheduler: scheduler, random: { 1 }), "alice": alice,
            "delay": ClosureMiddleware { [scheduler] in Single.just($0).delay(.seconds(1), scheduler: scheduler).flatMap($1) },
        ]
        _ = provider(order.compactMap { all[$0] }, send: answers.next).request(get).subscribe { events.append($0) }
        if order.starts(with: ["retry", "delay"]) { scheduler.advance(by: .seconds(1)) }
        alice.credential = nil
        alice.credential = "bob"
        scheduler.run()
        #expect(answers.requests.map(\.token) == Array(repeating: "Bearer alice", count: attempts))
        #expect(events.statuses == [order.first == "alice" ? 200 : nil])
        #expect((order.first == "alice") != "\(events.entries)".contains("signed out"))
    }

    @Test("A second attempt has the token that the same user's refresh brought")
    func refreshedBetweenAttempts() {
        let answers = Answers(.status(503), .status(401), .status(200))
        let middleware = AuthenticationMiddleware(token: "old") { _ in .just("new") }
        let provider = answers.provider(RetryMiddleware(scheduler: scheduler), middleware)
        for _ in 0..<2 { _ = provider.request(get).subscribe { events.append($0) } }
        scheduler.run()
        #expect(events.statuses == [200, 200])
        #expect(answers.requests.map(\.token) == ["Bearer old", "Bearer old", "Bearer new", "Bearer new"])
    }

    private struct Session: Sendable, Equatable { let access: String }

    private func sessions(
        _ access: String = "old", now: Date = Date(), expiry: @escaping @Sendable (Session) -> Date? = { _ in nil },
        isRejected: @escaping @Sendable (APIResponse) throws -> Bool = { $0.statusCode == 401 }
    ) -> AuthenticationMiddleware<Session> {
        AuthenticationMiddleware(
            Session(access: access), scheduler: scheduler, now: { now }, apply: { $1.headers["Authorization"] = "Bearer \($0.access)" },
            expiry: expiry, isRejected: isRejected
        ) { [refreshes] session in
            refreshes.append(session?.access)
            return .just(Session(access: "new"))
        }
    }

    @Test("A predicate that reads the body of a 200 may reject the credential, and refresh gets the whole credential")
    func predicate() async throws {
        struct Problem: Decodable { let code: String }
        let middleware = sessions(isRejected: { try $0.decode(Problem.self).code == "expired" })
        let answers = Answers(.status(200, body: #"{"code":"expired"}"#), .status(200, body: #"{"code":"none"}"#))
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: answers.next).value.data.count == 15)
        #expect(answers.requests.map(\.token) == ["Bearer old", "Bearer new"])
        #expect(refreshes.entries == ["old"])
        #expect(middleware.credential == Session(access: "new"))
    }

    @Test("An error that the predicate or apply throws is the error of the request")
    func throwing() async {
        let predicate = sessions(isRejected: { _ in throw TestError("closure") })
        let apply = AuthenticationMiddleware(1, apply: { _, _ in throw TestError("closure") }) { _ in .just(2) }
        for (middleware, count) in [(predicate, 1), (apply, 0)] as [(any Middleware, Int)] {
            let answers = Answers(.status(200))
            await #expect(throws: TestError("closure")) { try await middleware.intercept(PreparedRequest("GET"), next: answers.next).value }
            #expect(answers.requests.count == count)
        }
        #expect(refreshes.count == 0)
    }

    @Test(
        "A credential is refreshed at its expiry, once for all requests, before it is sent; a new one does not expire for a minute",
        arguments: [(1, 60, []), (0, 60, ["old"]), (0, 0, ["old", "new", "new"])] as [(TimeInterval, TimeInterval, [String])])
    func expiry(old: TimeInterval, new: TimeInterval, refreshed: [String]) async throws {
        let (now, answers) = (Date(), Answers(.status(200)))
        let middleware = sessions(now: now, expiry: { now + ($0.access == "old" ? old : new) })
        for minute in 1...3 {
            for _ in 0..<20 { _ = try await middleware.intercept(PreparedRequest("GET"), next: answers.next).value }
            #expect(refreshes.entries == Array(refreshed.prefix(minute)))
            scheduler.advance(by: .seconds(60))
        }
        #expect(answers.requests.map(\.token) == Array(repeating: refreshed.isEmpty ? "Bearer old" : "Bearer new", count: 60))
    }

    /// A credential that ends in a minute, and is refreshed during that minute.
    private func due(now: Locked<Date>, refresh: @escaping @Sendable () -> Single<Session>) -> AuthenticationMiddleware<Session> {
        let end = now.withLock { $0 } + 60
        return AuthenticationMiddleware(
            Session(access: "old"), scheduler: scheduler, now: { now.withLock { $0 } },
            apply: { $1.headers["Authorization"] = "Bearer \($0.access)" }, expiry: { $0.access == "old" ? end : nil }, leeway: 60
        ) { [refreshes] session in
            refreshes.append(session?.access)
            return refresh()
        }
    }

    @Test("A refresh that fails before the credential's end fails no request, and is tried again ten seconds later")
    func dueRefreshFails() {
        let (now, answers, refresh) = (Locked(Date()), Answers(.status(200)), Producer<Session>())
        let middleware = due(now: now) { refresh.single }
        func send(_ count: Int) {
            for _ in 0..<count { _ = middleware.intercept(PreparedRequest("GET"), next: answers.next).subscribe { events.append($0) } }
        }
        // All of them wait, those that come during the refresh, too.
        send(2)
        #expect(events.count == 0)
        refresh.send(.failure(TestError("refresh")))
        send(2)
        #expect(events.statuses == [200, 200, 200, 200] && refreshes.count == 1)
        scheduler.advance(by: .seconds(9))
        send(1)
        #expect(refreshes.count == 1)
        scheduler.advance(by: .seconds(1))
        send(1)
        #expect(refreshes.count == 2)
        refresh.send(.success(Session(access: "new")))
        #expect(events.statuses == Array(repeating: 200, count: 6))
        #expect(answers.requests.map(\.token) == Array(repeating: "Bearer old", count: 5) + ["Bearer new"])
    }

    @Test("A refresh that fails after the credential's end, or after the server has rejected it, is the error of the requests that wait")
    func worthless() {
        for isRejected in [false, true] {
            let (now, refresh, refusal) = (Locked(Date()), Producer<Session>(), Producer<APIResponse>())
            let (middleware, events) = (due(now: now) { refresh.single }, Log<SingleEvent<APIResponse>>())
            func send() { _ = middleware.intercept(PreparedRequest("GET")) { _ in refusal.single }.subscribe { events.append($0) } }
            send()
            refresh.send(.failure(TestError("due")))
            scheduler.advance(by: .seconds(10))
            if isRejected {
                // It waits for the refresh that is due, when the server rejects the credential that the first request has.
                send()
                refusal.send(.success(APIResponse(to: PreparedRequest("GET", headers: ["Authorization": "Bearer old"]), statusCode: 401)))
            } else {
                now.withLock { $0 += 60 }
                send()
            }
            refresh.send(.failure(TestError("refresh")))
            #expect(events.count == (isRejected ? 2 : 1))
            for event in events.entries { #expect(throws: TestError("refresh")) { try event.get() } }
        }
    }

    @Test("A credential that expires while a refresh before its end is under way is not sent")
    func expiresMeanwhile() {
        let (now, refresh) = (Locked(Date()), Producer<Session>())
        let middleware = due(now: now) { refresh.single }
        _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe { events.append($0) }
        now.withLock { $0 += 60 }
        for count in 1...2 {
            #expect(refreshes.count == count)
            refresh.send(.failure(TestError("refresh")))
        }
        #expect(events.statuses == [nil] && server.seen.entries.isEmpty)
    }

    @Test("A credential that a refresh has just brought is refreshed all the same if the server rejects it")
    func rejectedBeforeItExpires() async throws {
        let middleware = sessions(now: .distantFuture, expiry: { _ in .distantPast })
        let answers = Answers(.status(200), .status(401), .status(200))
        for _ in 0..<2 { #expect(try await middleware.intercept(PreparedRequest("GET"), next: answers.next).value.statusCode == 200) }
        #expect(refreshes.entries == ["old", "new"])
    }

    @Test("A token may have an expiry, too")
    func expiryOfToken() async throws {
        let middleware = AuthenticationMiddleware(token: "old", expiry: { $0 == "old" ? .distantPast : nil }) { _ in .just("new") }
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 200)
        #expect(server.seen.entries == ["Bearer new"])
    }

    @Test("A refresh that has failed is the answer of each request that had the expired credential before")
    func expiredBeforeFailedRefresh() {
        let first = Locked<AuthenticationMiddleware<String>?>(nil)
        let middleware = AuthenticationMiddleware(
            "old", scheduler: scheduler, apply: { $1.headers["Authorization"] = $0 },
            expiry: { [events, server] _ in
                // Another request comes first.
                if let middleware = first.withLock({ $0.take() }) {
                    _ = middleware.intercept(PreparedRequest("GET"), next: server.next).subscribe { events.append($0) }
                }
                return .distantPast
            }
        ) { [refreshes] in
            refreshes.append($0)
            return .error(TestError("refresh"))
        }
        first.withLock { $0 = middleware }
        send(by: middleware)
        #expect(refreshes.entries == ["old"])
        #expect(events.count == 2)
        for event in events.entries { #expect(throws: TestError("refresh")) { try event.get() } }
    }

    @Test(
        "An expired credential is not sent if its user signs out meanwhile, and takes no other along that the app has set",
        arguments: [nil, "set"])
    func expiredMeanwhile(next: String?) async {
        let (middleware, answers) = (Locked<AuthenticationMiddleware<Session>?>(nil), Answers(.status(200)))
        let expiring = sessions(expiry: { session in
            middleware.withLock { $0.take() }?.credential = next.map { Session(access: $0) }
            return session.access == "old" ? .distantPast : nil
        })
        middleware.withLock { $0 = expiring }
        let response = try? await expiring.intercept(PreparedRequest("GET"), next: answers.next).value
        #expect((response != nil) == (next != nil))
        #expect(answers.requests.map(\.token) == (next.map { ["Bearer \($0)"] } ?? []) && refreshes.count == 0)
    }

    @Test("A request that already has the credential, as after a redirect, is sent")
    func addedBefore() async throws {
        let request = PreparedRequest("GET", headers: ["Authorization": "Bearer new"])
        #expect(try await sessions("new").intercept(request, next: server.next).value.statusCode == 200)
    }
}

extension PreparedRequest {
    fileprivate var token: String { headers["Authorization"] ?? "none" }
}
