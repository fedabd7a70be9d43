import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Coalescing", tenMinutes)
struct CoalescingTests {
    private let middleware = CoalescingMiddleware()
    /// One request for all, because it belongs to the user of its time, and another test may sign out.
    private let request = PreparedRequest("GET", headers: ["Authorization": "a"])
    private let statuses = Log<Int?>()
    private let ended = Log<String>()
    private let server: Producer<APIResponse>

    init() { server = Producer { [ended] in ended.disposable() } }

    @discardableResult
    private func send(_ other: PreparedRequest? = nil) -> any Disposable {
        middleware.intercept(other ?? request) { [server] _ in server.single }.subscribe { [statuses] in
            statuses.append(try? $0.get().statusCode)
        }
    }

    @Test("Equal requests at the same time get one response, or one error", arguments: [true, false])
    func shared(isSuccess: Bool) {
        for _ in 0..<100 { send() }
        #expect(server.subscriptions == 1)
        server.send(isSuccess ? .success(APIResponse(to: PreparedRequest("GET"))) : .failure(TestError()))
        #expect(statuses.entries == Array(repeating: isSuccess ? 200 : nil, count: 100))
        #expect(ended.count == 1)
        send()
        #expect(server.subscriptions == 2)
    }

    @Test("A request that comes while an equal one ends is sent, and shared with those after it", arguments: [false, true])
    func sentAgain(isDisposed: Bool) {
        let again = Locked<Action?>(nil)
        let server = Producer<APIResponse> { Disposables.create { again.withLock { $0.take() }?() } }
        let send: @Sendable () -> any Disposable = { [middleware, request] in
            middleware.intercept(request) { _ in server.single }.subscribe { _ in }
        }
        let first = send()
        again.withLock { $0 = Action { _ = send() } }
        if isDisposed { first.dispose() } else { server.send(.success(APIResponse(to: request))) }
        _ = send()
        #expect(server.subscriptions == 2)
        server.send(.success(APIResponse(to: request)))
        _ = send()
        #expect(server.subscriptions == 3)
    }

    @Test("Requests that differ, or have a body or side effects, are sent separately")
    func different() {
        let changes: [(inout PreparedRequest) -> Void] = [
            { _ in }, { $0.timeoutInterval = 1 }, { $0.urlRequest.httpShouldHandleCookies = false },
            { $0.urlRequest.allowsCellularAccess = false },
            { $0.options.isAuthenticated = false }, { $0.followsRedirects = false },
            { $0.headers["Authorization"] = "a" }, { $0.headers["Authorization"] = "b" },
            { $0.body = RequestBody(Data("a".utf8)) }, { $0.body = RequestBody(Data("a".utf8)) },
        ]
        var requests = changes.map { change in
            var request = PreparedRequest("GET")
            change(&request)
            return request
        }
        requests += ["HEAD", "POST", "POST"].map { PreparedRequest($0) } + [PreparedRequest("GET", "https://api.example.com/b")]
        for request in requests { send(request) }
        #expect(server.subscriptions == requests.count)
    }

    @Test("Requests that no provider sends belong to no user, so a sign-out in between does not part them")
    func withoutAProvider() {
        send(PreparedRequest(.get, example))
        AuthenticationMiddleware(token: "a") { _ in .never() }.credential = nil
        send(PreparedRequest(.get, example))
        #expect(server.subscriptions == 1)
    }

    @Test("Requests with the same settings of their URLRequest share a response")
    func equalSettings() {
        var request = PreparedRequest("GET")
        request.urlRequest.allowsCellularAccess = false
        for _ in 0..<2 { send(request) }
        #expect(server.subscriptions == 1)
    }

    @Test("Downloads, streams and requests with a redirect policy or an option of the app's own are not shared, and a name is no reason")
    func unshared() {
        let log = Log<String>()
        let transport = ClosureTransport { request in
            log.append(request.url.path)
            return .never()
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [middleware])
        let folder = TemporaryFolder()
        for _ in 0..<2 {
            _ = provider.request(Endpoint(.get, "/download", downloadingTo: folder.url("a"))).subscribe()
            _ = provider.request(Endpoint<ByteStream>(.get, "/stream")).subscribe()
            _ = provider.request(Endpoint<Data>(.get, "/redirect").option(\.redirectPolicy, .never)).subscribe()
            // A sign-out in another test would count for requests with a credential.
            let plain = Endpoint<Data>(.get, "/data").option(\.isAuthenticated, false)
            _ = provider.request(plain.option(\.name, "data()")).subscribe()
            _ = provider.request(plain.option(\.trace, 1).adapting { $0.url.appendPathComponent("own") }).subscribe()
        }
        let twice = ["/data/own", "/download", "/redirect", "/stream"]
        #expect(log.entries.sorted() == ["/data"] + twice.flatMap { [$0, $0] })
    }

    @Test("Only disposing the last subscription cancels the request")
    func leaving() {
        let all = (0..<3).map { _ in send() }
        all[0].dispose()
        all[1].dispose()
        #expect(ended.count == 0)
        all[2].dispose()
        #expect(ended.count == 1)
        send()
        server.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(statuses.entries == [200])
    }

    @Test("A user who signs in does not get the response to a request of the previous user")
    func users() {
        let authentication = AuthenticationMiddleware(token: "a") { _ in .error(TestError()) }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { [server] _ in server.single }, middlewares: [middleware, authentication])
        let log = Log<String>()
        _ = provider.request(Endpoint<Void>(.get, "/me")).subscribe { _ in log.append("a") }
        authentication.credential = nil
        authentication.credential = "b"
        _ = provider.request(Endpoint<Void>(.get, "/me")).subscribe { _ in log.append("b") }
        #expect(server.subscriptions == 2)
        server.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(log.entries == ["b"])
    }

    @Test("A request that another thread disposes while it starts leaves nothing behind", .longComputing)
    func disposedAtItsBeginning() async {
        let (scheduler, released) = (ConcurrentDispatchQueueScheduler(qos: .userInitiated), Log<Void>())
        let count = rounds(10_000)
        for number in 0..<count {
            let token = OnRelease { released.append(()) }
            let subscription = middleware.intercept(PreparedRequest("GET", "https://api.example.com/\(number)")) { _ in
                withExtendedLifetime(token) { .create { _ in Disposables.create() } }
            }.subscribe(on: scheduler).subscribe { _ in }
            for turn in 0..<number % 400 { withExtendedLifetime(turn) {} }
            subscription.dispose()
        }
        await eventually(within: 20) { released.count == count }
        #expect(released.count == count)
    }

    @Test("Requests from eight threads all get a response")
    func race() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<rounds(500) {
                        let response = middleware.intercept(PreparedRequest("GET", "https://api.example.com/\(number % 3)")) {
                            .just(APIResponse(to: $0)).observe(on: ConcurrentDispatchQueueScheduler(qos: .default))
                        }
                        if (try? await response.value.statusCode) == 200 { count.withLock { $0 += 1 } }
                    }
                }
            }
        }
        #expect(count.withLock { $0 } == 8 * rounds(500))
    }
}

@Suite("A limit of concurrent requests", tenMinutes)
struct ConcurrencyLimitTests {
    private let middleware = ConcurrencyLimitMiddleware(maxConcurrent: 2)
    private let started = Log<Int>()

    @discardableResult
    private func send(_ number: Int, _ response: @escaping @Sendable (PreparedRequest) -> Single<APIResponse>) -> any Disposable {
        middleware.intercept(PreparedRequest("GET")) { [started] request in
            started.append(number)
            return response(request)
        }.subscribe()
    }

    @Test("Requests wait for their turn, first come, first served, and disposing one lets the next start, even while it starts")
    func turns() async {
        let (second, third) = (Producer<APIResponse>(), SerialDisposable())
        let first = send(0) { _ in .never() }
        send(1) { _ in second.single }
        let waiting = send(2) { _ in .never() }
        third.disposable = send(3) { _ in
            third.dispose()
            return .never()
        }
        for number in 4...6 { send(number) { _ in .never() } }
        #expect(started.entries == [0, 1])
        waiting.dispose()
        second.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(started.entries == [0, 1, 3, 4])
        first.dispose()
        #expect(await eventually { started.entries == [0, 1, 3, 4, 5] })
    }

    @Test("A dispose starts no waiting request on its thread")
    func disposing() async {
        let (isDisposing, next) = (DispatchSpecificKey<Bool>(), Signals<Bool>())
        let first = send(0) { _ in .never() }
        send(1) { _ in .never() }
        send(2) { _ in
            next.send(DispatchQueue.getSpecific(key: isDisposing) == true)
            return .never()
        }
        let queue = DispatchQueue(label: "test")
        queue.setSpecific(key: isDisposing, value: true)
        queue.sync { first.dispose() }
        #expect(await next.next() == false)
    }

    @Test("A number below 1 is an error, and nothing is sent")
    func none() async {
        let answers = Answers(.status(200))
        let error = await #expect(throws: APIError.self) {
            try await answers.provider(ConcurrencyLimitMiddleware(maxConcurrent: 0)).request(Endpoint<Void>(.get, "")).value
        }
        #expect(
            error?.description == "The request was not sent: maxConcurrent of its ConcurrencyLimitMiddleware is 0; it must be at least 1.")
        #expect(answers.requests.isEmpty)
    }

    @Test("A request that takes long to start keeps no other from its turn")
    func slowStart() {
        let (first, second, startedMeanwhile) = (Producer<APIResponse>(), Producer<APIResponse>(), Log<Int>())
        send(0) { _ in first.single }
        send(1) { _ in second.single }
        send(2) { [started] _ in
            second.send(.success(APIResponse(to: PreparedRequest("GET"))))
            for number in started.entries { startedMeanwhile.append(number) }
            return .never()
        }
        for number in 3...4 { send(number) { _ in .never() } }
        first.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(startedMeanwhile.entries == [0, 1, 2, 3])
        #expect(started.entries == [0, 1, 2, 3])
    }

    @Test("Ten thousand requests that are answered at once need no deep stack, also after a slow one")
    func flat() {
        let slow = Producer<APIResponse>()
        send(0) { _ in .never() }
        send(1) { _ in slow.single }
        for number in 2..<10_002 { send(number) { .just(APIResponse(to: $0)) } }
        #expect(started.count == 2)
        onSmallStack { slow.send(.success(APIResponse(to: PreparedRequest("GET")))) }
        #expect(started.count == 10_002)
    }
}
