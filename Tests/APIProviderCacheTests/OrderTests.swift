import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderCache

@Suite("The cache: late responses and sign-outs")
struct OrderTests {
    @Test("A late response does not replace the response to a later request", arguments: [200, 204, 304, 404])
    func late(status: Int) {
        let hand = Hand(storing: ["Cache-Control": "max-age=10", "ETag": "\"1\""], "old", age: 20)
        hand.send()
        hand.pass(1)
        hand.send("/a", "GET", [:], .reload)
        hand.answer(2, 200, ["Cache-Control": "max-age=100", "ETag": "\"2\""], "new")
        hand.pass(1)
        hand.answer(1, status, ["Cache-Control": "max-age=100", "ETag": "\"1\""], "late")
        #expect(hand.stored() == "new")
    }

    @Test("A response that was stored while the clock was ahead is not fresh, and the next one replaces it")
    func clockAhead() {
        let hand = Hand()
        hand.pass(1e8)
        hand.send()
        hand.answer(0, 200, fresh, "ahead")
        hand.pass(-1e8)
        hand.send()
        #expect(hand.requests.count == 2)
        hand.answer(1, 200, fresh, "new")
        #expect(hand.send().entries.first?.text == "new")
        #expect(hand.requests.count == 2)
    }

    @Test("After a 304 for another entity tag, the request is sent without conditions (RFC 9111, section 4.3.4)")
    func anotherTag() {
        let hand = Hand(storing: ["Cache-Control": "max-age=10", "ETag": "\"1\""], "one", age: 20)
        let second = hand.send()
        hand.answer(1, 304, ["Cache-Control": "max-age=10", "ETag": "\"2\""])
        #expect(hand.requests.count == 3)
        #expect(hand.requests.last?.headers["If-None-Match"] == nil)
        hand.answer(2, 200, ["Cache-Control": "max-age=10", "ETag": "\"2\""], "two")
        #expect(second.entries.map(\.text) == ["two"])
        #expect(hand.stored() == "two")
    }

    @Test("After a change, responses to later requests are stored, even while an earlier request is in flight")
    func afterAChange() {
        let hand = Hand()
        hand.send()
        hand.send("/a", "PUT")
        hand.answer(1, 204)
        hand.send()
        hand.answer(2, 200, fresh, "new")
        #expect(hand.stored() == "new")
        hand.answer(0, 200, fresh, "old")
        #expect(hand.stored() == "new")
    }

    @Test("After a change, later requests share a validation, even when an earlier request ends meanwhile")
    func sharedAfterAChange() {
        let (hand, headers) = (Hand(), ["Cache-Control": "max-age=10", "ETag": "\"a\""] as HTTPHeaders)
        hand.send()
        hand.send("/a", "PUT")
        hand.answer(1, 204)
        hand.send()
        hand.answer(2, 200, headers, "new")
        hand.pass(20)
        hand.send()
        hand.answer(0, 200, fresh, "old")
        let joined = hand.send()
        #expect(hand.requests.count == 4)
        hand.answer(3, 304, headers)
        #expect(joined.entries.map(\.text) == ["new"])
    }

    @Test("Requests after a sign-out do not join a validation from before it")
    func validations() {
        let hand = Hand()
        let headers: HTTPHeaders = ["Cache-Control": "no-cache", "ETag": "\"1\""]
        hand.send(token: "alice")
        hand.answer(0, 200, headers, "data of alice")
        hand.send(token: "alice")
        hand.cache.removeAll()
        hand.send(token: "bob")
        hand.answer(2, 200, headers, "data of bob")
        let bob = hand.send(token: "bob")
        #expect(hand.requests.count == 4)
        hand.answer(1, 304, headers)
        #expect(bob.entries.isEmpty)
        hand.answer(3, 304, headers)
        #expect(bob.entries.map(\.text) == ["data of bob"])
    }

    @Test("After a sign-out, the next hop of an earlier request reads and stores nothing")
    func secondHop() {
        let hand = Hand()
        let alice = hand.send()
        hand.cache.removeAll()
        hand.send("/b", token: "bob")
        hand.answer(1, 200, fresh, "data of bob")
        hand.answer(0, 302, ["Location": "/b"])
        #expect(alice.entries.isEmpty)
        hand.answer(2, 200, fresh, "data of alice")
        #expect(alice.entries.map(\.text) == ["data of alice"])
        #expect(hand.stored("/b") == "data of bob")
    }

    @Test("Validations at the same time send one request, and all get its response")
    func once() {
        let hand = Hand(storing: ["Cache-Control": "max-age=10", "ETag": "\"a\""], "1", age: 20)
        let responses = (0..<20).map { _ in hand.send() }
        #expect(hand.requests.count == 2)
        hand.answer(1, 304)
        #expect(responses.map { $0.entries.map(\.text) } == Array(repeating: ["1"], count: 20))
        #expect(hand.cache.statistics.validations == 1)
    }

    private struct Waiting: Middleware {
        let turn: Single<Void>

        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            turn.flatMap { next(request) }
        }
    }

    @Test("A request that waits before the cache until a sign-out does not get the next user's response")
    func waitsInFront() throws {
        let (cache, turn) = (CacheMiddleware(), Producer<Void>())
        let authentication = AuthenticationMiddleware(token: "alice") { _ in .error(TestError()) }
        let transport = ClosureTransport { request in
            let user = request.headers["Authorization"] ?? "nobody"
            return .just(APIResponse(to: request, headers: fresh, data: Data("data of \(user)".utf8)))
        }
        func provider(_ middlewares: [any Middleware]) -> DefaultAPIProvider {
            DefaultAPIProvider(baseURL: example, transport: transport, middlewares: middlewares)
        }
        let (alice, bob) = (Log<SingleEvent<String>>(), Log<SingleEvent<String>>())
        _ = provider([Waiting(turn: turn.single), cache, authentication]).request(Endpoint(.get, "/a")).subscribe { alice.append($0) }
        authentication.credential = nil
        cache.removeAll()
        authentication.credential = "bob"
        _ = provider([cache, authentication]).request(Endpoint(.get, "/a")).subscribe { bob.append($0) }
        turn.send(.success(()))
        #expect(try bob.entries.first?.get() == "data of Bearer bob")
        #expect(alice.count == 1)
        #expect(throws: APIError.self) { try alice.entries.first?.get() }
    }

    @Test("Requests with and without authentication or cookies do not share responses, and a change removes them all")
    func kinds() {
        let hand = Hand()
        let kinds = [(true, true), (true, false), (false, true), (false, false)]
        for (index, (isAuthenticated, hasCookies)) in kinds.enumerated() {
            #expect(hand.stored(isAuthenticated: isAuthenticated, hasCookies: hasCookies) == nil)
            hand.send(isAuthenticated: isAuthenticated, hasCookies: hasCookies)
            hand.answer(index, 200, fresh, "\(index)")
            #expect(hand.stored(isAuthenticated: isAuthenticated, hasCookies: hasCookies) == "\(index)")
        }
        hand.send("/a", "PUT", isAuthenticated: false)
        hand.answer(4, 204)
        for (isAuthenticated, hasCookies) in kinds {
            #expect(hand.stored(isAuthenticated: isAuthenticated, hasCookies: hasCookies) == nil)
        }
    }

    @Test("A token from a later middleware is not sent to the next hop, so it is never stored")
    func tokenOfARedirect() {
        let store = MemoryCache()
        let hand = Hand(store)
        hand.send(token: "hunter2")
        hand.answer(0, 302, ["Location": "/b"])
        hand.answer(1, 200, ["Cache-Control": "max-age=10", "Vary": "Authorization"], "x")
        #expect(hand.requests.last?.headers["Authorization"] == "hunter2")
        let stored = store.responses(for: example.appendingPathComponent("/b").absoluteString)
        #expect(stored.count == 1 && !"\(stored)".contains("hunter2"))
    }

    @Test("If the transport follows a redirect by itself, the response is not stored")
    func anotherURL() async throws {
        let cache = CacheMiddleware()
        let request = PreparedRequest(.get, example.appendingPathComponent("/a"))
        for (path, hits) in [("/b", 0), ("/a/", 0), ("/a?b", 0), ("/a", 1)] {
            let url = try #require(URL(string: path, relativeTo: example))
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: ["Cache-Control": "max-age=9"])
            let response = APIResponse(request: request, httpResponse: try #require(head), data: Data())
            for _ in 0..<2 { _ = try await cache.intercept(request) { _ in .just(response) }.value }
            #expect(cache.statistics.hits == hits, "\(path)")
        }
    }

    @Test("Memory is read on the subscriber's thread, and a disk on another")
    func threads() {
        let (request, bag) = (PreparedRequest(.get, example), DisposeBag())
        let (store, log, hasSubscribed) = (HookedStore(), Log<APIResponse>(), DispatchSemaphore(value: 0))
        store.beforeReading.withLock { $0 = Action { hasSubscribed.wait() } }
        let scheduler = CacheMiddleware.Storage.disk(TemporaryFolder().url("cache")).makeStore().1
        #expect(scheduler != nil)
        for cache in [CacheMiddleware(), CacheMiddleware(store, scheduler: scheduler, now: { Date() })] {
            cache.intercept(request) { .just(APIResponse(to: $0)) }.subscribe(onSuccess: { log.append($0) }).disposed(by: bag)
            #expect(log.count == 1)
        }
        hasSubscribed.signal()
    }

    #if compiler(>=6.2) && os(Linux)
    @Test("Nothing is kept of a URL after the last request for it")
    func states() async {
        await #expect(processExitsWith: .success) {
            let epoch = StoreEpoch()
            func use(_ numbers: Range<Int>) { for number in numbers { _ = epoch.state(for: "https://api.example.com/users/\(number)") } }
            use(0..<1_000)
            let before = try residentKilobytes()
            use(1_000..<50_000)
            #expect(try residentKilobytes() - before < 3_000)
        }
    }
    #endif

    @Test("removeAll waits for responses that are being stored, and removes them")
    func removalWaits() async throws {
        let store = HookedStore()
        let hand = Hand(store)
        hand.send("/b")
        hand.answer(0, 200, fresh, "b")
        let ended = Signals<Void>()
        store.beforeWriting.withLock {
            $0 = Action {
                Thread.detachNewThread {
                    hand.cache.removeAll()
                    ended.send(())
                }
                // Nothing is read once removeAll has begun.
                while hand.stored("/b") != nil { sched_yield() }
            }
        }
        hand.send()
        hand.answer(1, 200, fresh, "a")
        await ended.next()
        #expect(store.log.entries.suffix(2) == ["1 for https://api.example.com/a", "removed"])
        #expect(hand.stored() == nil)
    }

    @Test("Responses that arrive at the same time are stored one after the other, and the one to the later request remains")
    func writesDoNotOverlap() {
        for (first, second) in [(0, 1), (1, 0)] {
            let store = HookedStore()
            let hand = Hand(store)
            hand.send()
            hand.pass(1)
            hand.send()
            store.beforeWriting.withLock { $0 = Action { hand.answer(second, 200, fresh, "\(second)") } }
            hand.answer(first, 200, fresh, "\(first)")
            #expect(hand.stored() == "1")
        }
    }
}
