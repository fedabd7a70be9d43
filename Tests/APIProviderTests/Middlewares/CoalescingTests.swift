import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Coalescing", tenMinutes)
struct CoalescingTests {
    private let middleware = CoalescingMiddleware()
    private let statuses = Log<Int?>()
    private let ended = Log<String>()
    private let server: Producer<APIResponse>

    init() { server = Producer { [ended] in ended.disposable() } }

    private func send(_ request: PreparedRequest = PreparedRequest("GET")) -> any Disposable {
        var request = request
        // A sign-out in another test would count for requests with a context.
        request.context = nil
        return middleware.intercept(request) { [server] _ in server.single }.subscribe { [statuses] in
            statuses.append(try? $0.get().statusCode)
        }
    }

    @Test("Equal requests at the same time get one response, or one error", arguments: [true, false])
    func shared(isSuccess: Bool) {
        let all = (0..<100).map { _ in send(PreparedRequest("GET", headers: ["Authorization": "a"])) }
        #expect(server.subscriptions == 1)
        server.send(isSuccess ? .success(APIResponse(to: PreparedRequest("GET"))) : .failure(TestError()))
        #expect(statuses.entries == Array(repeating: isSuccess ? 200 : nil, count: 100))
        #expect(ended.count == 1)
        let late = send(PreparedRequest("GET", headers: ["Authorization": "a"]))
        #expect(server.subscriptions == 2)
        withExtendedLifetime((all, late)) {}
    }

    @Test("Requests that differ, or have a body or side effects, are sent separately")
    func different() {
        let changes: [(inout PreparedRequest) -> Void] = [
            { _ in }, { $0.timeoutInterval = 1 }, { $0.urlRequest.httpShouldHandleCookies = false },
            { $0.urlRequest.allowsCellularAccess = false },
            { $0.options.isAuthenticated = false }, { $0.returnsRedirects = true },
            { $0.headers["Authorization"] = "a" }, { $0.headers["Authorization"] = "b" },
            { $0.body = RequestBody(Data("a".utf8)) }, { $0.body = RequestBody(Data("a".utf8)) },
        ]
        var requests = changes.map { change in
            var request = PreparedRequest("GET")
            change(&request)
            return request
        }
        requests += ["HEAD", "POST", "POST"].map { PreparedRequest($0) } + [PreparedRequest("GET", "https://api.example.com/b")]
        let all = requests.map { send($0) }
        #expect(server.subscriptions == requests.count)
        withExtendedLifetime(all) {}
    }

    @Test("Requests with the same settings of their URLRequest share a response")
    func equalSettings() {
        var request = PreparedRequest("GET")
        request.urlRequest.allowsCellularAccess = false
        let all = [send(request), send(request)]
        #expect(server.subscriptions == 1)
        withExtendedLifetime(all) {}
    }

    @Test("Downloads, streams and requests with a redirect policy are not shared")
    func unshared() {
        let log = Log<String>()
        let transport = ClosureTransport { request in
            log.append(request.url.path)
            return .create { _ in Disposables.create() }
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [middleware])
        let (folder, bag) = (TemporaryFolder(), DisposeBag())
        for _ in 0..<2 {
            provider.request(Endpoint(.get, "/download", downloadingTo: folder.url("a"))).subscribe { _ in }.disposed(by: bag)
            provider.request(Endpoint<ByteStream>(.get, "/stream")).subscribe { _ in }.disposed(by: bag)
            provider.request(Endpoint<Data>(.get, "/redirect").option(\.redirectPolicy, .never)).subscribe { _ in }.disposed(by: bag)
            // A sign-out in another test would count for requests with a credential.
            provider.request(Endpoint<Data>(.get, "/data").option(\.isAuthenticated, false)).subscribe { _ in }.disposed(by: bag)
        }
        #expect(log.entries.sorted() == ["/data", "/download", "/download", "/redirect", "/redirect", "/stream", "/stream"])
    }

    @Test("Only the dispose of the last subscriber cancels the request")
    func leaving() {
        let all = (0..<3).map { _ in send() }
        all[0].dispose()
        all[1].dispose()
        #expect(ended.count == 0)
        all[2].dispose()
        #expect(ended.count == 1)
        let late = send()
        server.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(statuses.entries == [200])
        withExtendedLifetime(late) {}
    }

    @Test("A user who signs in does not get the response to a request of the previous user")
    func users() {
        let authentication = AuthenticationMiddleware(token: "a") { _ in .error(TestError()) }
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { [server] _ in server.single }, middlewares: [middleware, authentication])
        let log = Log<String>()
        let first = provider.request(Endpoint<Void>(.get, "/me")).subscribe { _ in log.append("a") }
        authentication.credential = nil
        authentication.credential = "b"
        let second = provider.request(Endpoint<Void>(.get, "/me")).subscribe { _ in log.append("b") }
        #expect(server.subscriptions == 2)
        server.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(log.entries == ["b"])
        withExtendedLifetime((first, second)) {}
    }

    @Test("Nothing is kept of a request that another thread disposes while it begins", .longComputing)
    func disposedAtItsBeginning() async {
        let (scheduler, released) = (ConcurrentDispatchQueueScheduler(qos: .userInitiated), Log<Void>())
        let count = rounds(20_000)
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

    private final class OnRelease: Sendable {
        private let action: @Sendable () -> Void
        init(_ action: @escaping @Sendable () -> Void) { self.action = action }
        deinit { action() }
    }

    @Test("Ten thousand requests from eight threads all get a response")
    func race() async {
        let count = Locked(0)
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<rounds(1_250) {
                        let response = middleware.intercept(PreparedRequest("GET", "https://api.example.com/\(number % 3)")) {
                            .just(APIResponse(to: $0)).observe(on: ConcurrentDispatchQueueScheduler(qos: .default))
                        }
                        if (try? await response.value.statusCode) == 200 { count.withLock { $0 += 1 } }
                    }
                }
            }
        }
        #expect(count.withLock { $0 } == 8 * rounds(1_250))
    }
}

@Suite("A limit of concurrent requests", tenMinutes)
struct ConcurrencyLimitTests {
    @Test("Requests wait for their turn, first come, first served, and a dispose frees a place")
    func turns() {
        let middleware = ConcurrencyLimitMiddleware(maxConcurrent: 2)
        let started = Log<Int>()
        let responses = (0..<5).map { _ in Producer<APIResponse>() }
        let all = responses.indices.map { number in
            middleware.intercept(PreparedRequest("GET")) { _ in
                started.append(number)
                return responses[number].single
            }.subscribe { _ in }
        }
        #expect(started.entries == [0, 1])
        all[2].dispose()
        responses[1].send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(started.entries == [0, 1, 3])
        all[0].dispose()
        #expect(started.entries == [0, 1, 3, 4])
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

    @Test("Ten thousand requests that are answered at once need no deep stack, also after a slow one")
    func flat() {
        let middleware = ConcurrencyLimitMiddleware(maxConcurrent: 1)
        let (first, responses, bag) = (Producer<APIResponse>(), Log<Void>(), DisposeBag())
        middleware.intercept(PreparedRequest("GET")) { _ in first.single }.subscribe { _ in }.disposed(by: bag)
        for _ in 0..<10_000 {
            middleware.intercept(PreparedRequest("GET")) { .just(APIResponse(to: $0)) }.subscribe { _ in responses.append(()) }
                .disposed(by: bag)
        }
        #expect(responses.count == 0)
        first.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(responses.count == 10_000)
    }

    @Test("A request is not sent after a dispose that races its turn", .longComputing)
    func disposedAtItsTurn() {
        // A start that is already under way may still send its request. That is rare, so one of five attempts must be without it.
        #expect((0..<5).contains { _ in lateRequests(in: 3_000) == 0 })
    }

    private func lateRequests(in rounds: Int) -> Int {
        let queue = DispatchQueue(label: "races", attributes: .concurrent)
        let late = Log<Void>()
        for round in 0..<rounds {
            let middleware = ConcurrencyLimitMiddleware(maxConcurrent: 1)
            let (first, isTurn, isDisposed) = (Producer<APIResponse>(), Locked(false), Locked(false))
            let running = middleware.intercept(PreparedRequest("GET")) { _ in first.single }
                .subscribe { _ in isTurn.withLock { $0 = true } }
            let waiting = middleware.intercept(PreparedRequest("GET")) { request in
                if isDisposed.withLock({ $0 }) { late.append(()) }
                return .just(APIResponse(to: request))
            }.subscribe { _ in }
            let group = DispatchGroup()
            queue.async(group: group) { first.send(.success(APIResponse(to: PreparedRequest("GET")))) }
            queue.async(group: group) {
                while !isTurn.withLock({ $0 }) {}
                // The dispose comes at another point of the turn in each round.
                for _ in 0..<(round % 40) { _ = isTurn.withLock { $0 } }
                waiting.dispose()
                isDisposed.withLock { $0 = true }
            }
            group.wait()
            running.dispose()
        }
        return late.count
    }
}
