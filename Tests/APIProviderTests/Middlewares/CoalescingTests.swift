import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("One request for many", tenMinutes)
struct CoalescingTests {
    /// A server that answers when the test says so.
    private final class Server: Sendable {
        let seen = Log<String>()
        let ended = Log<String>()
        private let observers = Locked<[Single<APIResponse>.SingleObserver]>([])

        var next: Middleware.Next {
            { request in
                .create { observer in
                    let line = "\(request.method) \(request.url.path)"
                    self.seen.append(line)
                    self.observers.withLock { $0.append(observer) }
                    return Disposables.create { self.ended.append(line) }
                }
            }
        }

        func answer(_ number: Int = 0, _ event: SingleEvent<Int> = .success(200)) {
            let observer = observers.withLock { $0[number] }
            observer(event.map { APIResponse(to: PreparedRequest("GET"), status: $0) })
        }
    }

    private let middleware = CoalescingMiddleware()
    private let server = Server()

    private func send(_ request: PreparedRequest, to log: Log<String>) -> any Disposable {
        middleware.intercept(request, next: server.next)
            .subscribe { log.append((try? $0.get()).map { "\($0.statusCode)" } ?? "error") }
    }

    @Test("Many that ask for the same at the same time get one response", arguments: [true, false])
    func shared(isSuccess: Bool) {
        let log = Log<String>()
        let all = (0..<100).map { _ in send(PreparedRequest("GET", headers: ["Authorization": "a"]), to: log) }
        #expect(server.seen.entries == ["GET /items"])
        server.answer(0, isSuccess ? .success(200) : .failure(TestError()))
        #expect(log.entries == Array(repeating: isSuccess ? "200" : "error", count: 100))
        #expect(server.ended.count == 1)
        _ = send(PreparedRequest("GET", headers: ["Authorization": "a"]), to: log)
        #expect(server.seen.count == 2)
        withExtendedLifetime(all) {}
    }

    @Test("Requests that differ are sent each")
    func different() {
        let log = Log<String>()
        var body = PreparedRequest("GET")
        body.body = RequestBody(Data("a".utf8))
        var impatient = PreparedRequest("GET")
        impatient.timeoutInterval = 1
        var withoutCookies = PreparedRequest("GET")
        withoutCookies.urlRequest.httpShouldHandleCookies = false
        var anonymous = PreparedRequest("GET")
        anonymous.options.isAuthenticated = false
        var hop = PreparedRequest("GET")
        hop.returnsRedirects = true
        let all = [
            send(PreparedRequest("GET"), to: log), send(PreparedRequest("HEAD"), to: log),
            send(PreparedRequest("GET", "https://api.example.com/b"), to: log),
            send(PreparedRequest("GET", headers: ["Authorization": "a"]), to: log),
            send(PreparedRequest("GET", headers: ["Authorization": "b"]), to: log),
            send(PreparedRequest("POST"), to: log), send(PreparedRequest("POST"), to: log), send(body, to: log), send(body, to: log),
            send(impatient, to: log), send(anonymous, to: log), send(withoutCookies, to: log),
            send(hop, to: log),
        ]
        #expect(server.seen.count == all.count)
    }

    @Test("One that leaves does not cancel the others, and the last one does")
    func leaving() {
        let log = Log<String>()
        let all = (0..<3).map { _ in send(PreparedRequest("GET"), to: log) }
        all[0].dispose()
        all[1].dispose()
        #expect(server.ended.count == 0)
        all[2].dispose()
        #expect(server.ended.count == 1)
        let late = send(PreparedRequest("GET"), to: log)
        #expect(server.seen.count == 2)
        server.answer(1)
        #expect(log.entries == ["200"])
        withExtendedLifetime(late) {}
    }

    @Test("A user who signs in does not get the response to the request of the one before")
    func users() async throws {
        let authentication = AuthenticationMiddleware(token: "a") { _ in .error(TestError()) }
        let producer = Producer<APIResponse>()
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { _ in producer.single }, middlewares: [CoalescingMiddleware(), authentication])
        let log = Log<String>()
        let first = provider.request(Endpoint<String>(.get, "/me")).subscribe { log.append("a \((try? $0.get()) ?? "error")") }
        #expect(producer.subscriptions == 1)
        authentication.credential = nil
        authentication.credential = "b"
        let second = provider.request(Endpoint<String>(.get, "/me")).subscribe { log.append("b \((try? $0.get()) ?? "error")") }
        #expect(producer.subscriptions == 2)
        producer.send(.success(APIResponse(to: PreparedRequest("GET"), data: Data("of b".utf8))))
        #expect(log.entries == ["b of b"])
        withExtendedLifetime((first, second)) {}
    }

    @Test("Downloads, streams and requests with a redirect policy are not shared")
    func unshared() {
        let log = Log<String>()
        let transport = ClosureTransport { request in
            log.append(request.url.path)
            return .create { _ in Disposables.create() }
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [CoalescingMiddleware()])
        let folder = TemporaryFolder()
        let file = folder.url("a")
        let bag = DisposeBag()
        for _ in 0..<2 {
            provider.request(Endpoint(.get, "/download", downloadingTo: file)).subscribe { _ in }.disposed(by: bag)
            provider.request(Endpoint<ByteStream>(.get, "/stream")).subscribe { _ in }.disposed(by: bag)
            // A sign-out in another test would count for requests with a credential.
            provider.request(Endpoint<Data>(.get, "/data").option(\.isAuthenticated, false)).subscribe { _ in }.disposed(by: bag)
            provider.request(Endpoint<Data>(.get, "/data").option(\.redirectPolicy, .never)).subscribe { _ in }.disposed(by: bag)
        }
        #expect(log.entries.sorted() == ["/data", "/data", "/data", "/download", "/download", "/stream", "/stream"])
    }

    /// Counts those that are alive.
    private final class Counted: Sendable {
        private let alive: Locked<Int>
        init(_ alive: Locked<Int>) {
            self.alive = alive
            alive.withLock { $0 += 1 }
        }
        deinit { alive.withLock { $0 -= 1 } }
    }

    @Test("Nothing is kept of a request that another thread disposes while it begins", .longComputing)
    func disposedAtItsBeginning() async {
        let (scheduler, alive) = (ConcurrentDispatchQueueScheduler(qos: .userInitiated), Locked(0))
        for number in 0..<rounds(20_000) {
            let counted = Counted(alive)
            let subscription = middleware.intercept(PreparedRequest("GET", "https://api.example.com/\(number)")) { _ in
                withExtendedLifetime(counted) { .create { _ in Disposables.create() } }
            }.subscribe(on: scheduler).subscribe { _ in }
            for turn in 0..<number % 400 { withExtendedLifetime(turn) {} }
            subscription.dispose()
        }
        await eventually(within: 20) { alive.withLock { $0 } == 0 }
        #expect(alive.withLock { $0 } == 0)
    }

    @Test("Ten thousand requests from eight threads all get a response, and nothing is kept")
    func race() async {
        let (middleware, count) = (CoalescingMiddleware(), Locked(0))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<rounds(1_250) {
                        let request = PreparedRequest("GET", "https://api.example.com/\(number % 3)")
                        let response = middleware.intercept(request) {
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

@Suite("At most some requests at a time", tenMinutes)
struct ConcurrencyLimitTests {
    @Test("Others wait for their turn, first come, first served, and one that leaves makes place")
    func turns() {
        let middleware = ConcurrencyLimitMiddleware(maxConcurrent: 2)
        let (started, observers) = (Log<Int>(), Locked<[Int: Single<APIResponse>.SingleObserver]>([:]))
        let all = (0..<5).map { number in
            middleware.intercept(PreparedRequest("GET")) { _ in
                .create { observer in
                    started.append(number)
                    observers.withLock { $0[number] = observer }
                    return Disposables.create()
                }
            }.subscribe { _ in }
        }
        #expect(started.entries == [0, 1])
        all[2].dispose()
        observers.withLock { $0[1] }?(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(started.entries == [0, 1, 3])
        all[0].dispose()
        #expect(started.entries == [0, 1, 3, 4])
    }

    @Test("A number below 1 is an error that says so, and nothing is sent")
    func none() async {
        let answers = Answers(.status(200))
        let error = await #expect(throws: APIError.self) {
            try await ConcurrencyLimitMiddleware(maxConcurrent: 0).intercept(PreparedRequest("GET"), next: answers.next).value
        }
        #expect(
            error?.description == "The request was not sent: maxConcurrent of its ConcurrencyLimitMiddleware is 0; it must be at least 1.")
        #expect(answers.requests.count == 0)
    }

    @Test("Ten thousand requests that are answered at once take their turns without a deep stack, also when the first one is slow")
    func flat() {
        let middleware = ConcurrencyLimitMiddleware(maxConcurrent: 1)
        let (first, count) = (Producer<APIResponse>(), Locked(0))
        let bag = DisposeBag()
        middleware.intercept(PreparedRequest("GET")) { _ in first.single }.subscribe { _ in }.disposed(by: bag)
        for _ in 0..<10_000 {
            middleware.intercept(PreparedRequest("GET")) { .just(APIResponse(to: $0)) }.subscribe { _ in count.withLock { $0 += 1 } }
                .disposed(
                    by: bag)
        }
        #expect(count.withLock { $0 } == 0)
        first.send(.success(APIResponse(to: PreparedRequest("GET"))))
        #expect(count.withLock { $0 } == 10_000)
    }

    @Test("A request is not sent after a dispose that races its turn", .longComputing)
    func disposedAtItsTurn() {
        // A start that is already under way may still send its request. That is rare, so one of five attempts must be without it.
        #expect((0..<5).contains { _ in lateRequests(in: 3_000) == 0 })
    }

    private func lateRequests(in rounds: Int) -> Int {
        let queue = DispatchQueue(label: "races", attributes: .concurrent)
        let late = Locked(0)
        for round in 0..<rounds {
            let middleware = ConcurrencyLimitMiddleware(maxConcurrent: 1)
            let (first, isTurn, isDisposed) = (Producer<APIResponse>(), Locked(false), Locked(false))
            let running = middleware.intercept(PreparedRequest("GET")) { _ in first.single }.subscribe { _ in isTurn.withLock { $0 = true }
            }
            let waiting = middleware.intercept(PreparedRequest("GET")) { request in
                if isDisposed.withLock({ $0 }) { late.withLock { $0 += 1 } }
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
        return late.withLock { $0 }
    }
}
