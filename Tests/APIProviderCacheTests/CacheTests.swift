import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderCache

@Suite("The cache: freshness", .mockNetwork)
struct FreshnessTests {
    @Test(
        "A response is fresh for as long as its server says (RFC 9111, section 4.2)",
        arguments: [
            (["Cache-Control": "MaX-AgE=10"], 10), (["Cache-Control": "max-age=\"10\""], 10), (["Cache-Control": "max-age=0010"], 10),
            (["Cache-Control": "private, max-age=10, max-age=99"], 10), (["Cache-Control": "a=\"max-age=99\", max-age=10"], 10),
            (["Cache-Control": "a=\"x, max-age=10"], 10), (["Cache-Control": "a=\"x, max-age=99\", max-age=10"], 10),
            (["Cache-Control": "a=\"x\\\", max-age=99\", max-age=10"], 10),
            (["Cache-Control": "s-maxage=99, max-age=10", "Expires": "EXPIRED"], 10),
            (["Cache-Control": "max-age=30", "Age": "20 , 0"], 10), (["Cache-Control": "max-age=10", "Age": "-7"], 10),
            (["Expires": "IN10", "Date": "no date"], 10), (["Expires": "IN10", "Date": "AGO5"], 10),
            (["Cache-Control": "no-store, must-understand, max-age=10"], 10), (["Last-Modified": "AGO100", "Date": "NOW"], 10),
            (["Cache-Control": "max-age=99999999999"], 2_147_483_648), (["Last-Modified": "AGO100000000"], 86_400),
            (["Cache-Control": "max-age=-1"], 0), (["Cache-Control": "max-age='10'", "Expires": "IN10"], 0),
            (["Cache-Control": "max-age"], 0),
            (["Cache-Control": "max-age=\"\""], 0),
            (["Cache-Control": "max-age=0", "Expires": "IN10"], 0), (["Cache-Control": "No-CaChE=\"a\", max-age=10"], 0),
            (["Cache-Control": "max-age=10", "Age": "2147483649"], 0), (["Expires": "0"], 0), (["Expires": "NOW"], 0),
            (["Expires": "IN10, IN10"], 0), (["ETag": "\"a\""], 0),
        ] as [([String: String], Int)])
    func lifetimes(headers: [String: String], seconds: Int) async throws {
        let world = World()
        let dates = [("NOW", 0), ("IN10", 10), ("EXPIRED", -10), ("AGO100000000", -1e8), ("AGO100", -100), ("AGO5", -5.0)]
        let fields = headers.mapValues { dates.reduce($0) { $0.replacingOccurrences(of: $1.0, with: world.date($1.1)) } }
        world.serve(HTTPHeaders(fields))
        #expect(try await world.get().text == "1")
        if seconds > 0 {
            world.pass(TimeInterval(seconds) - 1)
            let hit = try await world.get()
            #expect(hit.text == "1" && hit.isFromCache, "\(headers)")
            world.pass(1)
        }
        #expect(try await world.get().isFromCache == false, "\(headers)")
        #expect(world.requests == 2, "\(headers)")
    }

    @Test(
        "Only some statuses are stored without an explicit lifetime",
        arguments: [(200, true), (203, true), (404, true), (410, true), (501, true), (201, false), (400, false), (503, false)])
    func heuristics(status: Int, isKept: Bool) async throws {
        let world = World()
        world.serve(["Last-Modified": world.date(-1_000)], status: status)
        world.serve(fresh, at: "/told", status: status)
        for _ in 0..<2 {
            #expect(try await world.get().statusCode == status)
            #expect(try await world.get("/told").text == "1")
        }
        #expect(world.requests == (isKept ? 2 : 3))
        // Servers send `private` with errors, too.
        world.serve(["Cache-Control": "private"], at: "/private", status: status)
        _ = try await world.get("/private")
        #expect(try await world.get("/private", [:], .onlyIfCached).isFromCache == (isKept || status < 400))
    }

    @Test(
        "A response with another status that may be stored is fresh by Last-Modified only if it is public (RFC 9111, section 4.2.2)",
        arguments: [("public", true), ("private", false)])
    func heuristicsOfPublic(control: String, isFresh: Bool) async throws {
        let world = World()
        world.serve(["Last-Modified": world.date(-1_000), "Cache-Control": control], status: 201)
        for _ in 0..<2 { _ = try await world.get() }
        #expect(world.requests == (isFresh ? 1 : 2))
        #expect(try await world.get("/a", [:], .onlyIfCached).isFromCache)
    }

    @Test("The age of a stored response grows, and its Cache-Status is the cache's")
    func age() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=100", "Age": "7", "Date": world.date(-3), "Cache-Status": "APIProviderCache; hit"])
        let first = try await world.get()
        #expect(first.age == 7 && !first.isFromCache)
        #expect(try await world.get().age == 7)
        world.pass(10)
        let stored = try await world.get()
        #expect(stored.age == 17 && stored.isFromCache)
        for text in ["nan", "inf", "0x10", "-5", "+5", ""] {
            #expect(APIResponse(to: first.request, statusCode: 200, headers: ["Age": text]).age == nil, "\(text)")
        }
        #expect(stored.value(forHTTPHeaderField: "Date") == World().date(-3))
        #expect(stored.value(forHTTPHeaderField: "Cache-Status") == "APIProviderCache; hit")
    }

    @Test("The time that a response took counts as its age (RFC 9111, section 4.2.3)")
    func delay() {
        let hand = Hand()
        hand.send()
        hand.pass(5)
        hand.answer(0, 200, ["Cache-Control": "max-age=10", "Age": "2"], "1")
        #expect(hand.send().entries.first?.age == 7)
        hand.pass(2)
        #expect(hand.send().entries.first?.text == "1")
        hand.pass(1)
        #expect(hand.send().entries.isEmpty)
    }

    @Test(
        "The cache follows the request's own Cache-Control (RFC 9111, section 5.2.1)",
        arguments: [
            (["Cache-Control": "no-cache"], 5.0, false), (["Pragma": "no-cache"], 5, false), (["Pragma": "other"], 5, true),
            (["Cache-Control": "max-age=5"], 5, true), (["Cache-Control": "max-age=5"], 6, false),
            (["Cache-Control": "min-fresh=5"], 5, true), (["Cache-Control": "min-fresh=5"], 6, false),
            (["Cache-Control": "max-stale"], 99, true), (["Cache-Control": "max-stale=5"], 15, true),
            (["Cache-Control": "max-stale=5"], 16, false), (["Cache-Control": "no-cache, max-stale"], 14, false),
            (["Cache-Control": "only-if-cached"], 5, true),
            (["Cache-Control": "only-if-cached, max-stale=5"], 16, false),
        ] as [([String: String], TimeInterval, Bool)])
    func asked(headers: [String: String], seconds: TimeInterval, isHit: Bool) async throws {
        let world = try await World(storing: fresh, age: seconds)
        #expect(try await world.get("/a", HTTPHeaders(headers)).isFromCache == isHit)
    }

    @Test("only-if-cached sends nothing, and a must-revalidate response is not used stale")
    func onlyIfCached() async throws {
        let world = World()
        world.serve(fresh)
        world.serve(["Cache-Control": "max-age=10, must-revalidate"], at: "/strict")
        #expect(try await world.get("/b", ["Cache-Control": "only-if-cached"]).statusCode == 504)
        #expect(try await world.get("/b", [:], .onlyIfCached).statusCode == 504)
        // Nor does it send what the cache never answers.
        #expect(try await world.get("/a", [:], method: .post, .onlyIfCached).statusCode == 504)
        let stream = Endpoint<ServerSentEvents>(.get, "/a").option(\.cachePolicy, .onlyIfCached)
        let error = await #expect(throws: APIError.self) { try await world.provider.request(stream).value }
        #expect(error?.statusCode == 504)
        #expect(world.requests == 0)
        for path in ["/a", "/strict"] as [RequestPath] { _ = try await world.get(path) }
        #expect(try await world.get("/strict", ["Cache-Control": "no-cache"], .onlyIfCached).isFromCache)
        world.pass(1_000)
        let stale = try await world.get("/a", [:], .onlyIfCached)
        #expect(stale.isFromCache && stale.text == "1")
        #expect(stale.value(forHTTPHeaderField: "Cache-Status") == "APIProviderCache; hit; ttl=-990")
        #expect(try await world.get("/strict", [:], .onlyIfCached).statusCode == 504)
        #expect(world.requests == 2)
    }
}

@Suite("The cache: validation and errors", .mockNetwork, tenMinutes)
struct ValidationTests {
    @Test(
        "A stale response is validated by its entity tag, and a 304 makes it fresh with new fields",
        arguments: ["\"a\"", "W/\"a\"", "bare"])
    func tag(tag: String) async throws {
        let world = try await World(storing: ["Cache-Control": "max-age=10", "ETag": tag], age: 20)
        let validated = try await world.get()
        #expect(validated.statusCode == 200 && validated.text == "1" && !validated.isFromCache)
        #expect(validated.value(forHTTPHeaderField: "Cache-Status") == "APIProviderCache; fwd=stale; fwd-status=304; stored")
        #expect(MockURLProtocol.requests.last?.headers["If-None-Match"] == tag)
        world.pass(9)
        #expect(try await world.get().isFromCache)
        let statistics = world.cache.statistics
        #expect(statistics.hits == 1 && statistics.validations == 1 && statistics.misses == 1)
    }

    @Test("A 304 updates the fields, except those that describe the body")
    func update() async throws {
        let world = World()
        let old: HTTPHeaders = [
            "Cache-Control": "max-age=0", "X-A": "1", "X-B": "1", "X-C": "1", "Last-Modified": world.date(-50), "Keep-Alive": "1",
        ]
        let new: HTTPHeaders = [
            "Cache-Control": "max-age=99", "X-A": "2", "x-c": "2", "Content-Encoding": "x", "Connection": "X-D", "X-D": "2",
        ]
        MockURLProtocol.stub(.get, "/a", headers: ["If-Modified-Since": world.date(-50)], respond: .status(304, headers: new))
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .data(Data("1".utf8), headers: old))
        #expect(try await world.get().value(forHTTPHeaderField: "Keep-Alive") == "1")
        for _ in 0..<2 {
            let response = try await world.get()
            #expect(response.text == "1")
            let values = ["X-A", "X-B", "X-C", "X-D", "Content-Encoding", "Keep-Alive"].map { response.value(forHTTPHeaderField: $0) }
            #expect(values == ["2", "1", "2", nil, nil, nil])
        }
        #expect(world.requests == 2)
    }

    @Test(
        "After a 304 that forbids storing, the response is used once more and removed; a 304 without a Date is new",
        arguments: [
            (["Cache-Control": "no-store"], false), (["Vary": "*"], false), (["Vary": "X-A"], true),
            (["Cache-Control": "max-age=10"], true),
        ])
    func validated(headers: [String: String], isStored: Bool) async throws {
        let world = World()
        let old: HTTPHeaders = [
            "Cache-Control": "max-age=10", "ETag": "\"a\"", "Last-Modified": world.date(-1e8), "Date": world.date(),
        ]
        MockURLProtocol.stub(.get, "/a", respond: .status(304, headers: HTTPHeaders(headers)))
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .data(Data("1".utf8), headers: old))
        _ = try await world.get()
        world.pass(20)
        #expect(try await world.get("/a", ["X-A": "1"]).text == "1")
        world.pass(9)
        let again = try await world.get("/a", ["X-A": "1"], .onlyIfCached)
        #expect(again.isFromCache == isStored)
        if isStored { #expect(again.value(forHTTPHeaderField: "Cache-Status") == "APIProviderCache; hit") }
        if headers["Vary"] != nil { #expect(try await world.get("/a", ["X-A": "2"], .onlyIfCached).statusCode == 504) }
    }

    @Test(
        "A 304 to the app's own condition updates only the response that it is about (RFC 9111, section 4.3.4)",
        arguments: [
            (["ETag": "\"a\""], ["ETag": "W/\"a\""], true), (["ETag": "\"a\""], ["ETag": "\"b\""], false), (["ETag": "\"a\""], [:], false),
            (["Last-Modified": "x"], ["Last-Modified": "x"], true), (["Last-Modified": "x"], ["Last-Modified": "y"], false),
            (["Last-Modified": "x"], [:], false), ([:], ["ETag": "\"a\""], false), ([:], ["Last-Modified": "x"], false), ([:], [:], true),
        ])
    func otherCondition(stored: [String: String], answered: [String: String], isUpdated: Bool) {
        let hand = Hand(storing: HTTPHeaders(stored.merging(["Cache-Control": "max-age=10"]) { $1 }), "1", age: 20)
        hand.send("/a", .get, ["If-None-Match": "\"c\""])
        hand.answer(1, 304, HTTPHeaders(answered.merging(["Cache-Control": "max-age=99"]) { $1 }))
        #expect((hand.send().entries.first?.text == "1") == isUpdated)
    }

    @Test("A response that is no 304 replaces the one that was to be validated")
    func replacedByValidation() {
        let hand = Hand(storing: ["Cache-Control": "max-age=10", "ETag": "\"a\""], "1", age: 20)
        hand.send()
        hand.answer(1, 200, fresh, "2")
        #expect(hand.send().entries.first?.text == "2")
    }

    @Test("A response to the app's own conditional request never answers a plain GET")
    func refusedCondition() async throws {
        let world = try await World(storing: ["ETag": "\"a\""])
        MockURLProtocol.stub(.get, "/a", headers: ["If-Match": "\"z\""], respond: .status(412, headers: ["ETag": "\"a\""]))
        #expect(try await world.get("/a", ["If-Match": "\"z\""]).statusCode == 412)
        #expect(try await world.get().statusCode == 200)
    }

    @Test("A refusal does not replace a stored response, which is still used offline", arguments: [401, 403, 407, 408, 429, 500])
    func refused(status: Int) async throws {
        let world = try await World(storing: fresh, age: 20)
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .status(status, headers: fresh))
        #expect(try await world.get("/a", [:], .staleIfOffline).statusCode == status)
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .failure(URLError(.notConnectedToInternet)))
        #expect(try await world.get("/a", [:], .staleIfOffline).text == "1")
    }

    @Test("A failure replaces a stored failure")
    func failedAgain() {
        let hand = Hand(storing: fresh, "1", age: 0)
        for (number, status, text) in [(1, 404, "2"), (2, 500, "2"), (3, 404, "4"), (4, 503, "4")] {
            hand.send("/a", .get, [:], .reload)
            hand.answer(number, status, fresh, "\(number + 1)")
            #expect(hand.stored() == text)
        }
        let failing = Hand()
        for (number, status) in [500, 429].enumerated() {
            failing.send("/a", .get, [:], .reload)
            failing.answer(number, status, fresh, "\(number)")
            #expect(failing.stored() == "\(number)")
        }
    }

    @Test(
        "Each way to be without a network counts as offline",
        arguments: [URLError.Code.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive, .timedOut])
    func offline(code: URLError.Code) async throws {
        let world = try await World(storing: fresh, age: 20)
        MockURLProtocol.stub(.get, "/a", respond: .failure(URLError(code)))
        #expect(try await world.get("/a", [:], .staleIfOffline).text == "1")
    }

    @Test("stale-while-revalidate uses the stale response now and validates it once in the background (RFC 5861)")
    func whileRevalidating() {
        let hand = Hand(
            storing: ["Cache-Control": "max-age=10, stale-while-revalidate=5, stale-if-error=5", "ETag": "\"a\""], "1", age: 14)
        for _ in 0..<2 { #expect(hand.send().entries.first?.isFromCache == true) }
        #expect(hand.requests.count == 2)
        // A failed validation is no hit, and the next request starts another one.
        hand.answer(1, 503)
        #expect(hand.send().entries.first?.isFromCache == true)
        // The app has its response, so no progress follows.
        hand.requests.dropFirst().forEach { $0.reportProgress?(TransferProgress(bytesReceived: 1)) }
        #expect(hand.progress.count == 0)
        #expect(hand.cache.statistics.hits == 3)
        #expect(hand.requests.count == 3)
        hand.answer(2, 304, ["Cache-Control": "max-age=10, stale-while-revalidate=5"])
        hand.pass(9)
        #expect(hand.send().entries.first?.value(forHTTPHeaderField: "Cache-Status") == "APIProviderCache; hit")
        hand.pass(7)
        #expect(hand.send().entries.isEmpty)
        #expect(hand.cache.statistics.staleHits == 3)
    }

    @Test(
        "In the stale-while-revalidate window, a response is not used before a validation if the server or the request asks for one",
        arguments: [
            ("", [:], 14, true), ("", [:], 15, true), ("", [:], 16, false), (", must-revalidate", [:], 14, false),
            (", no-cache", [:], 14, false), ("", ["Cache-Control": "no-cache"], 14, false),
            ("", ["Cache-Control": "max-age=13"], 14, false),
            ("", ["Cache-Control": "max-age=14"], 14, true),
        ] as [(String, [String: String], TimeInterval, Bool)])
    func asksForValidation(control: String, headers: [String: String], age: TimeInterval, isUsed: Bool) {
        let stored: HTTPHeaders = ["Cache-Control": "max-age=10, stale-while-revalidate=5\(control)", "ETag": "\"a\""]
        let hand = Hand(storing: stored, "1", age: age)
        #expect(hand.send("/a", .get, HTTPHeaders(headers)).entries.isEmpty != isUsed)
        #expect(hand.requests.count == 2)
    }

    @Test("A stale response without a validator is requested once in the background, and replaced")
    func replacingInTheBackground() {
        let hand = Hand(storing: ["Cache-Control": "max-age=10, stale-while-revalidate=5"], "1", age: 14)
        for _ in 0..<2 { #expect(hand.send().entries.first?.text == "1") }
        #expect(hand.requests.count == 2)
        hand.answer(1, 200, fresh, "2")
        #expect(hand.stored() == "2")
    }

    @Test("A background validation that has failed is tried again, even while another request for the URL is in flight")
    func validatingAgain() {
        let hand = Hand(storing: ["Cache-Control": "max-age=10, stale-while-revalidate=5", "ETag": "\"a\""], "1", age: 14)
        hand.send("/a", .get, [:], .reload)
        hand.send()
        hand.answer(2, 503)
        hand.send()
        #expect(hand.requests.count == 4)
    }

    @Test(
        "After an error, a stale response is used if the server or the app allows that",
        arguments: [
            ("max-age=10, stale-if-error=5", CachePolicy.standard, 15.0, true, true),
            ("max-age=10, stale-if-error=5", .standard, 16, false, false),
            ("max-age=10", .standard, 14, false, false), ("max-age=10", .staleIfOffline, 1_000, true, false),
            ("max-age=10, must-revalidate", .staleIfOffline, 14, false, false),
            ("max-age=10, no-cache, stale-if-error=99", .staleIfOffline, 5, false, false),
        ] as [(String, CachePolicy, TimeInterval, Bool, Bool)])
    func errors(control: String, policy: CachePolicy, seconds: TimeInterval, hitOffline: Bool, hitAt503: Bool) async throws {
        let world = try await World(storing: ["Cache-Control": control], age: seconds)
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .status(503))
        let refused = try await world.get("/a", [:], policy)
        #expect(refused.statusCode == (hitAt503 ? 200 : 503))
        // It is no hit in Cache-Status (RFC 9211, section 2).
        if hitAt503 { #expect(refused.value(forHTTPHeaderField: "Cache-Status") == "APIProviderCache; fwd=stale; fwd-status=503; ttl=-5") }
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .failure(URLError(.notConnectedToInternet)))
        if hitOffline {
            let response = try await world.get("/a", [:], policy)
            #expect(response.isFromCache && response.text == "1")
            #expect(response.value(forHTTPHeaderField: "Cache-Status")?.hasPrefix("APIProviderCache; fwd=stale; ttl=-") == true)
        } else {
            await #expect(throws: APIError.self) { try await world.get("/a", [:], policy) }
        }
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .failure(URLError(.serverCertificateUntrusted)))
        await #expect(throws: APIError.self) { try await world.get("/a", [:], policy) }
    }

    @Test(
        "stale-if-error covers the statuses that RFC 5861 names, and no others",
        arguments: [(500, true), (502, true), (503, true), (504, true), (501, false), (505, false), (499, false), (404, false)])
    func errorStatuses(status: Int, isCovered: Bool) {
        let hand = Hand(storing: ["Cache-Control": "max-age=10, stale-if-error=5"], "1", age: 12)
        let response = hand.send()
        hand.answer(1, status)
        #expect(response.entries.map(\.statusCode) == [isCovered ? 200 : status])
    }

    @Test("A fresh response answers the app's own conditions; otherwise they are sent to the server")
    func ownConditions() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=10", "ETag": "\"a\"", "Last-Modified": world.date(-50)])
        _ = try await world.get()
        for (name, value, status) in [
            ("If-None-Match", "W/\"a\", \"b\"", 304), ("If-None-Match", "\"b\"", 200), ("If-None-Match", "*", 304),
            ("If-Modified-Since", world.date(-50), 304), ("If-Modified-Since", world.date(-51), 200),
        ] {
            let response = try await world.get("/a", [name: value])
            #expect(response.statusCode == status && response.isFromCache, "\(name): \(value)")
            #expect(response.text == (status == 304 ? "" : "1"))
        }
        #expect(world.requests == 1)
        world.pass(20)
        #expect(try await world.get("/a", ["If-None-Match": "\"a\""]).statusCode == 304)
        #expect(try await world.get("/a", ["If-Match": "\"a\""]).text == "3")
        #expect(world.requests == 3)
    }

    @Test(
        "After a range or a HEAD in the stale-while-revalidate window, the whole response is validated",
        arguments: [(HTTPMethod.get, ["Range": "bytes=0-1"], "01"), (.head, [:], "")] as [(HTTPMethod, HTTPHeaders, String)])
    func partWhileRevalidating(method: HTTPMethod, headers: HTTPHeaders, text: String) {
        let hand = Hand(storing: ["Cache-Control": "max-age=10, stale-while-revalidate=5", "ETag": "\"a\""], "0123", age: 12)
        #expect(hand.send("/a", method, headers).entries.first?.text == text)
        #expect(hand.requests.last?.headers["Range"] == nil && hand.requests.last?.headers["If-None-Match"] == "\"a\"")
        #expect(hand.requests.last?.method == .get)
        hand.answer(1, 304)
        #expect(hand.send("/a", method, headers).entries.first?.text == text)
        #expect(hand.requests.count == 2 && hand.cache.statistics.misses == 1)
    }
}

@Suite("The cache: storing", .mockNetwork, tenMinutes)
struct StoringTests {
    @Test("Variants and entity tags are compared by their bytes: \u{E9} in one scalar is not that in two")
    func bytes() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=10", "Vary": "X-A"])
        for (value, body) in [("\u{E9}", "1"), ("e\u{301}", "2"), ("\u{E9}", "1")] {
            #expect(try await world.get("/a", ["X-A": value]).data == Data(body.utf8))
        }
        world.serve(["Cache-Control": "max-age=10", "ETag": "\"\u{E9}\""], at: "/b")
        _ = try await world.get("/b")
        #expect(try await world.get("/b", ["If-None-Match": "\"e\u{301}\""]).statusCode == 200)
        // A blank and a tab are HTTP's white space, and other spaces are part of a value.
        world.serve(["Cache-Control": "max-age=10", "Vary": "X-A, Accept-Language"], at: "/d")
        var bodies: Set<Data> = []
        for value in ["bob", "bob\u{A0}", "bob\u{3000}", "\u{2028}bob"] { bodies.insert(try await world.get("/d", ["X-A": value]).data) }
        #expect(bodies.count == 4)
        // As characters, the comma and what is before it are one.
        world.serve(["Cache-Control": "max-age=10", "Vary": "X-B\u{600}, X-A"], at: "/c")
        let first = try await world.get("/c", ["X-A": "1"]).data
        #expect(try await world.get("/c", ["X-A": "2"]).data != first)
    }

    @Test("Variants differ in the fields that Vary names (RFC 9110, section 12.5.5)")
    func vary() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=10", "Vary": "Accept-Language, X-A"])
        func text(_ headers: HTTPHeaders) async throws -> String { try await world.get("/a", headers).text }
        #expect(try await text(["Accept-Language": "en, de", "X-A": "1, 2"]) == "1")
        #expect(try await text(["Accept-Language": "de,EN", "X-A": " 1,2 ", "X-B": "b"]) == "1")
        #expect(try await text(["Accept-Language": "en, de", "X-A": "2, 1"]) == "2")
        #expect(try await text(["Accept-Language": "en, de"]) == "3")
        #expect(try await text([:]) == "4")
        #expect(try await text(["Accept-Language": "en, de", "X-A": "1,2"]) == "1")
        #expect(try await text([:]) == "4")
    }

    @Test("The last twenty variants of a URL are stored")
    func variants() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=10", "Vary": "X-A"])
        for number in 0..<100 { _ = try await world.get("/a", ["X-A": "\(number)"]) }
        for (number, isKept) in [(79, false), (80, true), (99, true)] {
            #expect(try await world.get("/a", ["X-A": "\(number)"], .onlyIfCached).isFromCache == isKept, "\(number)")
        }
    }

    @Test("A variant that is not stored takes the place of no other")
    func unstoredVariant() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=10", "Vary": "X-A"])
        for number in 0..<CacheMiddleware.maxVariants { _ = try await world.get("/a", ["X-A": "\(number)"]) }
        world.serve(["Cache-Control": "no-store", "Vary": "X-A"])
        _ = try await world.get("/a", ["X-A": "other"])
        #expect(try await world.get("/a", ["X-A": "0"], .onlyIfCached).isFromCache)
    }

    @Test("A comma in a Cookie is part of its value, and not of a list")
    func commaInCookie() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=10", "Vary": "Cookie"])
        _ = try await world.get("/a", ["Cookie": "s=a,b"])
        for (cookie, isSame) in [("s=a,b", true), ("s=a,,b", false), ("s=a, b", false)] {
            #expect(try await world.get("/a", ["Cookie": cookie], .onlyIfCached).isFromCache == isSame, "\(cookie)")
        }
    }

    @Test("A range of a body that a transport has cut out of a buffer is served")
    func slice() async throws {
        let buffer = Data("abcdef".utf8)
        let world = World(transport: ClosureTransport { .just(APIResponse(to: $0, headers: fresh, data: buffer[2...])) })
        #expect(try await world.get().data.startIndex == 0)
        #expect(try await world.get("/a", ["Range": "bytes=1-2"]).text == "de")
    }

    @Test("If it is unknown which cookies a transport adds, a response that varies by Cookie is used only if the app sets that field")
    func unknownCookies() async throws {
        let mock = MockTransport()
        let world = World(transport: ClosureTransport { mock.send($0) })
        world.serve(["Cache-Control": "max-age=10", "Vary": "Cookie"])
        for number in 1...2 { #expect(try await world.get().text == "\(number)") }
        for _ in 0..<2 { #expect(try await world.get("/a", ["Cookie": "a=1"]).text == "3") }
        let without = Endpoint<String>(.get, "/a").adapting { $0.urlRequest.httpShouldHandleCookies = false }
        for _ in 0..<2 { #expect(try await world.provider.request(without).value == "4") }
        #expect(try await world.get().text == "5")
    }

    @Test("An absent field differs from an empty one")
    func absentField() async throws {
        let world = World()
        world.serve(["Cache-Control": "max-age=10", "Vary": "Authorization, Cookie, Accept-Language, X-A"])
        let names = ["Authorization", "Cookie", "Accept-Language", "X-A"]
        for (index, headers) in ([[:]] + names.map { [$0: ""] }).enumerated() {
            for _ in 0..<2 { #expect(try await world.get("/a", HTTPHeaders(headers)).text == "\(index + 1)") }
        }
    }

    @Test("Without Accept-Language, a response is stored with the languages of the device, which a session may add")
    func languages() {
        let hand = Hand(storing: ["Cache-Control": "max-age=10", "Vary": "Accept-Language"], "deutsch", age: 1)
        #expect(hand.stored() == "deutsch")
        hand.languages.withLock { $0 = ["en"] }
        #expect(hand.stored() == nil)
        hand.send()
        hand.languages.withLock { $0 = ["de"] }
        hand.answer(1, 200, ["Cache-Control": "max-age=10", "Vary": "Accept-Language"], "deutsch or English")
        #expect(hand.stored() == "deutsch")
        hand.languages.withLock { $0 = ["en"] }
        #expect(hand.stored() == nil)
    }

    @Test("Of two variants that fit, the one with the later Date is used, and of these the later one", arguments: [0, 5, -5])
    func newerVariant(seconds: TimeInterval) async throws {
        let world = World()
        func answer(_ text: String, _ vary: String, _ seconds: TimeInterval) {
            let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "Date": world.date(seconds), "Vary": vary]
            MockURLProtocol.stub(.get, "/a", times: 1, respond: .data(Data(text.utf8), headers: headers))
        }
        answer("1", "X-A", 0)
        _ = try await world.get("/a", ["X-A": "1"])
        answer("2", "X-B", seconds)
        _ = try await world.get("/a", ["X-A": "2", "X-B": "1"])
        #expect(try await world.get("/a", ["X-A": "1", "X-B": "1"], .onlyIfCached).text == (seconds < 0 ? "1" : "2"))
    }

    @Test(
        "A response that varies by anything, or by a field of a later middleware, is not used", arguments: ["*", "Foo, *", "X-Later"])
    func unusableVary(vary: String) async throws {
        let world = World(behind: [DefaultHeadersMiddleware(["X-Later": "a"])])
        world.serve(["Cache-Control": "max-age=10", "Vary": vary])
        for number in 1...2 { #expect(try await world.get().text == "\(number)") }
    }

    @Test(
        "A no-store response never reaches the store, and removes the stored one",
        arguments: ["no-store", "nO-StOrE, max-age=10", "private=\"x, no-store, max-age=10"])
    func noStore(control: String) async throws {
        let spy = HookedStore()
        let world = World(spy)
        MockURLProtocol.stub(.get, "/a", respond: .data(Data("secret".utf8), headers: ["Cache-Control": control]))
        _ = try await world.get()
        #expect(spy.log.entries == [])
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .data(Data("open".utf8), headers: ["Cache-Control": "max-age=1"]))
        _ = try await world.get()
        world.pass(5)
        _ = try await world.get()
        #expect(spy.log.entries == ["1 for https://api.example.com/a", "0 for https://api.example.com/a"])
        #expect(try await world.get("/a", [:], .onlyIfCached).statusCode == 504)
    }

    @Test("Nothing is stored for a no-store request or with the option noStore")
    func askedNoStore() async throws {
        let spy = HookedStore()
        let world = World(spy)
        world.serve(fresh)
        _ = try await world.get("/a", ["Cache-Control": "no-store"])
        _ = try await world.get("/a", [:], .noStore)
        #expect(spy.log.entries == [])
        _ = try await world.get()
        #expect(try await world.get("/a", [:], .noStore).text == "4")
        #expect(try await world.get("/a", [:], .reload).text == "5")
        #expect(try await world.get().text == "5")
    }

    @Test("Downloads, streams, GETs with a body, OPTIONS and TRACE are not cached")
    func passingBy() async throws {
        let world = World()
        world.serve(fresh)
        let folder = TemporaryFolder()
        for number in 1...2 {
            _ = try await world.provider.request(Endpoint(.get, "/a", downloadingTo: folder.url("a"))).value
            #expect(try String(contentsOf: folder.url("a"), encoding: .utf8) == "\(number * 5 - 4)")
            _ = try await world.provider.request(Endpoint<ByteStream>(.get, "/a")).value
            let body = Endpoint<String>(.get, "/a", body: .json(1))
            #expect(try await world.provider.request(body).value == "\(number * 5 - 2)")
            for method in [HTTPMethod.options, "TRACE"] { _ = try await world.get("/a", [:], method: method) }
        }
        #expect(world.requests == 10)
    }

    @Test("A download that goes on passes the cache by, and its part is not stored")
    func resuming() async throws {
        let world = try await World(storing: fresh)
        let (file, lost) = (StubResponse.ranges(of: Data("0123456789".utf8), eTag: "\"v1\""), URLError(.networkConnectionLost))
        MockURLProtocol.stub(.get, "/a", respond: .sequence([file.breakingOff(with: lost, after: 6), file]))
        let folder = TemporaryFolder()
        let download = Endpoint(.get, "/a", downloadingTo: folder.url("a")).resuming()
        await #expect(throws: APIError.self) { try await world.provider.request(download).value }
        _ = try await world.provider.request(download).value
        #expect(try String(contentsOf: folder.url("a"), encoding: .utf8) == "0123456789")
        #expect(MockURLProtocol.requests.map { $0.headers["Range"] } == [nil, nil, "bytes=6-"])
        let stored = try await world.get()
        #expect(stored.text == "1" && stored.isFromCache)
    }

    @Test(
        "A successful unsafe request removes the responses for its URL, and for a Location and Content-Location of the same origin",
        arguments: [
            (HTTPMethod.post, 200, .standard, true), (.put, 303, .noStore, true), (.delete, 204, .standard, true),
            ("M-SEARCH", 200, .standard, true), (.post, 500, .standard, false), (.patch, 400, .standard, false),
        ] as [(HTTPMethod, Int, CachePolicy, Bool)])
    func invalidation(method: HTTPMethod, status: Int, policy: CachePolicy, isRemoved: Bool) async throws {
        let world = World()
        for path in ["/a", "/b", "/c"] { world.serve(fresh, at: path) }
        for path in ["/a", "/b", "/c"] as [RequestPath] { _ = try await world.get(path) }
        MockURLProtocol.stub(
            method, "/a", respond: .status(status, headers: ["Location": "https://other.example.com/b", "Content-Location": "/c"]))
        let endpoint = Endpoint<APIResponse>(method, "/a") { $0 }.validating { _ in }
        _ = try await world.provider.request(endpoint.option(\.redirectPolicy, .never).option(\.cachePolicy, policy)).value
        for (path, isGone) in [("/a", isRemoved), ("/b", false), ("/c", isRemoved)] as [(RequestPath, Bool)] {
            #expect(try await world.get(path, [:], .onlyIfCached).statusCode == (isGone ? 504 : 200), "\(path)")
        }
    }

    @Test(
        "A response to a POST answers a GET only if it is fresh and its Content-Location is the POST's URL (RFC 9110, section 9.3.3)",
        arguments: [
            (.post, ["Content-Location": "/a", "Cache-Control": "max-age=1"], true),
            (.post, ["Content-Location": "/a", "Cache-Control": "max-age=0"], false),
            (.put, ["Content-Location": "/a", "Cache-Control": "max-age=1"], false),
            (.post, ["Content-Location": "/b", "Location": "/a", "Cache-Control": "max-age=1"], false),
            // The server must say how long it is fresh.
            (.post, ["Content-Location": "/a", "Last-Modified": "\(httpDate(World().now - 8_640_000))"], false),
            (.post, ["Content-Location": "/a", "Expires": "\(httpDate(World().now + 10))"], true),
        ] as [(HTTPMethod, HTTPHeaders, Bool)])
    func post(method: HTTPMethod, headers: HTTPHeaders, isStored: Bool) async throws {
        let world = World()
        MockURLProtocol.stub(method, "/a", respond: .data(Data("x".utf8), headers: headers))
        _ = try await world.provider.request(Endpoint<Void>(method, "/a", body: .json(1))).value
        #expect(try await world.get("/a", [:], .onlyIfCached).statusCode == (isStored ? 200 : 504))
    }

    @Test("A POST that is redirected to another origin stores nothing, and removes nothing that the other names")
    func postToAnother() async throws {
        let world = World()
        let another = RequestPath.url(try #require(URL(string: "https://other.example.com/c")))
        world.serve(fresh, at: "/c")
        _ = try await world.get(another)
        let other: HTTPHeaders = [
            "Cache-Control": "max-age=10", "Content-Location": "https://api.example.com/a", "Location": "https://other.example.com/c",
        ]
        MockURLProtocol.stub(.post, "/a", respond: .status(303, headers: ["Location": "https://other.example.com/b"]))
        MockURLProtocol.stub(.get, "https://other.example.com/b", respond: .data(Data("x".utf8), headers: other))
        _ = try await world.provider.request(Endpoint<Void>(.post, "/a")).value
        #expect(try await world.get("/a", [:], .onlyIfCached).statusCode == 504)
        #expect(try await world.get(another).isFromCache)
    }

    @Test(
        "Responses to requests before a DELETE or a sign-out are not stored after it",
        arguments: [(nil, .get, nil), (nil, .post, nil), ("/a", .get, nil), ("/b", .get, "old")] as [(String?, HTTPMethod, String?)])
    func inFlight(deleted: String?, method: HTTPMethod, stored: String?) {
        let hand = Hand()
        let first = hand.send("/a", method)
        if let deleted {
            hand.send(deleted, .delete)
            hand.answer(1, 204)
        } else {
            hand.cache.removeAll()
        }
        hand.answer(0, 200, ["Cache-Control": "max-age=10", "Content-Location": "/a"], "old")
        #expect(first.entries.map(\.text) == ["old"])
        #expect(hand.stored() == stored)
    }

    @Test("A request during removeAll does not store again what it has read")
    func whileRemoving() {
        let store = HookedStore()
        let hand = Hand(store, storing: ["Cache-Control": "max-age=10", "ETag": "\"a\""], "old", age: 20)
        store.beforeRemoval.withLock { $0 = Action { hand.send() } }
        hand.cache.removeAll()
        hand.answer(1, 304)
        #expect(hand.stored() == nil)
    }

    @Test("Each hop of a redirect is stored under its own URL, and a redirect policy is asked each time", arguments: [false, true])
    func redirects(isDecided: Bool) async throws {
        let (world, asked) = (World(), Log<Int>())
        MockURLProtocol.stub(.get, "/a", respond: .status(301, headers: ["Location": "/b", "Cache-Control": "max-age=100"]))
        world.serve(fresh, at: "/b")
        let decision = RedirectPolicy.decide { next, redirect in
            asked.append(redirect.statusCode)
            return next
        }
        let endpoint = Endpoint<String>(.get, "/a").option(\.redirectPolicy, isDecided ? decision : .follow)
        for _ in 0..<2 { #expect(try await world.provider.request(endpoint).value == "1") }
        #expect(asked.entries == (isDecided ? [301, 301] : []))
        #expect(try await world.get("/b").isFromCache)
        #expect(world.requests == 2)
        world.pass(20)
        #expect(try await world.provider.request(endpoint).value == "2")
        #expect(MockURLProtocol.requests.map(\.path) == ["/a", "/b", "/b"])
        let first = Endpoint<APIResponse>(.get, "/a") { $0 }.option(\.redirectPolicy, .never)
        #expect(try await world.provider.request(first).value.isFromCache)
    }

    @Test("The redirect policy of a middleware behind the cache is asked each time, also for a redirect that the cache could store")
    func redirectPolicyBehind() async throws {
        struct Setting: Middleware {
            let policy: RedirectPolicy
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                var request = request
                request.options.redirectPolicy = policy
                return next(request)
            }
        }
        let moved = ["Location": "/b", "Cache-Control": "max-age=100"]
        MockURLProtocol.stub(.get, "/a", respond: .status(301, headers: HTTPHeaders(moved)))
        MockURLProtocol.stub(.get, "/b", respond: .data(Data("b".utf8)))
        for (policy, statuses) in [(.never, [301, 301]), (.decide { next, _ in next }, [200, 200])] as [(RedirectPolicy, [Int])] {
            let world = World(behind: [Setting(policy: policy)])
            for status in statuses { #expect(try await world.get().statusCode == status) }
            // It decides nothing about other responses.
            world.serve(fresh, at: "/c")
            for _ in 0..<2 { #expect(try await world.get("/c").text == "1") }
        }
    }

    @Test("A redirect policy may turn a GET into a POST, which the cache does not answer")
    func decidedOnPost() async throws {
        let world = World()
        MockURLProtocol.stub(.get, "/a", respond: .status(302, headers: ["Location": "/b"]))
        world.serve(fresh, at: "/b")
        _ = try await world.get("/b")
        let decision = RedirectPolicy.decide { next, _ in
            var next = next
            next.method = "POST"
            return next
        }
        #expect(try await world.provider.request(Endpoint<String>(.get, "/a").option(\.redirectPolicy, decision)).value == "2")
        #expect(try await world.get("/b").text == "3")
    }

    @Test("A redirect in answer to a validation does not send the cache's conditions to its target")
    func redirectedValidation() async throws {
        let world = try await World(storing: ["Cache-Control": "max-age=10", "ETag": "\"a\""], age: 20)
        MockURLProtocol.stub(.get, "/a", respond: .status(302, headers: ["Location": "/b"]))
        world.serve(["ETag": "\"a\""], at: "/b")
        let moved = try await world.get()
        #expect(moved.statusCode == 200 && moved.text == "1")
    }

    @Test(
        "A whole response answers a range (RFC 9110, section 14.2)",
        arguments: [
            ("bytes=0-1", "01", "bytes 0-1/10"), ("bytes=9-9", "9", "bytes 9-9/10"), ("bytes=8-99", "89", "bytes 8-9/10"),
            ("bytes=7-", "789", "bytes 7-9/10"),
            ("bytes=-2", "89", "bytes 8-9/10"), ("bytes=-99", "0123456789", "bytes 0-9/10"), ("bytes=10-", nil, nil),
            ("bytes=5-4", nil, nil), ("bytes=0-1,3-4", nil, nil), ("bytes=-0", nil, nil), ("lines=1-2", nil, nil),
            ("bytes=x-y", nil, nil), ("bytes=+5-9", nil, nil), ("bytes=-9223372036854775808", nil, nil),
        ] as [(String, String?, String?)])
    func ranges(range: String, body: String?, contentRange: String?) async throws {
        let world = World()
        // The transport asks for a range without a compression.
        let headers: HTTPHeaders = ["Cache-Control": "max-age=10", "Vary": "Accept-Encoding"]
        MockURLProtocol.stub(.get, "/a", headers: ["Range": range], isOptional: true, respond: .status(416))
        MockURLProtocol.stub(.get, "/a", times: 1, respond: .data(Data("0123456789".utf8), headers: headers))
        _ = try await world.get()
        #expect(try await world.get("/a", ["Range": range], .onlyIfCached).statusCode == (body == nil ? 504 : 206))
        #expect(try await world.get("/a", ["Range": range, "If-Range": "\"a\""], .onlyIfCached).statusCode == 504)
        #expect(world.requests == 1)
        let response = try await world.get("/a", ["Range": range])
        #expect(response.statusCode == (body == nil ? 416 : 206))
        #expect(response.value(forHTTPHeaderField: "Content-Range") == contentRange)
        if let body { #expect(response.text == body) }
        #expect(try await world.get().text == "0123456789")
    }

    @Test(
        "No range is cut from an encoded response or an error, and only a success answers the app's condition with a 304",
        arguments: [(200, "gzip"), (404, nil), (300, nil)] as [(Int, String?)])
    func notCut(status: Int, encoding: String?) async throws {
        let world = try await World(storing: [:])
        world.serve(["Cache-Control": "max-age=10", "Content-Encoding": encoding, "ETag": "\"a\""], status: status)
        _ = try await world.get("/a", [:], .reload)
        #expect(try await world.get("/a", ["Range": "bytes=0-0"], .onlyIfCached).statusCode == 504)
        let conditional = try await world.get("/a", ["If-None-Match": "\"a\""], .onlyIfCached)
        #expect(conditional.statusCode == (status == 200 ? 304 : status))
    }

    @Test("A range of a stale response is cut when the server has validated it")
    func staleRange() {
        let hand = Hand(storing: ["Cache-Control": "max-age=10", "ETag": "\"a\""], "0123", age: 20)
        let range = hand.send("/a", .get, ["Range": "bytes=0-1"])
        #expect(hand.requests.last?.headers["If-None-Match"] == "\"a\"")
        hand.answer(1, 304)
        #expect(range.entries.map(\.text) == ["01"] && range.entries.first?.statusCode == 206)
    }

    @Test("A stored response answers a HEAD, and a response to a HEAD changes nothing")
    func head() async throws {
        let world = try await World(storing: ["Cache-Control": "max-age=10", "ETag": "\"a\"", "X-A": "1"])
        let head = try await world.get("/a", [:], method: .head)
        #expect(head.isFromCache && head.data.isEmpty && head.value(forHTTPHeaderField: "X-A") == "1")
        world.pass(20)
        MockURLProtocol.stub(.head, "/a", respond: .status(200, headers: ["Cache-Control": "max-age=50", "ETag": "\"a\"", "X-A": "2"]))
        _ = try await world.get("/a", [:], method: .head)
        let stored = try await world.get("/a", [:], .onlyIfCached)
        #expect(stored.text == "1" && stored.value(forHTTPHeaderField: "X-A") == "1")
    }

    @Test(
        "A response keeps the headers that later middlewares have set, unless it is a redirect",
        arguments: [(200, "a"), (399, nil), (400, "a")])
    func laterHeaders(status: Int, value: String?) async throws {
        let world = World(behind: [DefaultHeadersMiddleware(["X-Later": "a"])])
        MockURLProtocol.stub(.get, "/a", respond: .status(status))
        #expect(try await world.get().request.headers["X-Later"] == value)
    }

    @Test("The query is part of the key, and the fragment is not")
    func keys() async throws {
        let world = World()
        world.serve(fresh)
        func get(_ url: String) async throws -> String { try await world.get(.url(try #require(URL(string: url)))).text }
        #expect(try await get("https://api.example.com/a?x=1") == "1")
        #expect(try await get("https://api.example.com/a?x=2") == "2")
        #expect(try await get("https://api.example.com/a?x=1#part") == "1")
    }

    @Test("Descriptions and dumps of a cache contain no response")
    func dumped() async throws {
        let world = World()
        MockURLProtocol.stub(.get, "/a", respond: .data(Data("hunter2".utf8), headers: fresh))
        _ = try await world.get()
        var text = ""
        dump(world.cache, to: &text)
        dump(world.provider, to: &text)
        text += "\(world.cache) \(world.provider)"
        #expect(!text.contains("hunter2") && !text.contains("api.example.com/a"))
    }

    @Test("A field that a cached response sets replaces the server's, in any case")
    func fieldNames() throws {
        let headers: HTTPHeaders = ["age": "7", "content-length": "4", "cache-status": "other"]
        let time = Date(timeIntervalSince1970: 1_700_000_000)
        let stored = CachedResponse(statusCode: 200, headers: headers, data: Data("0123".utf8), requestTime: time, responseTime: time)
        let request = PreparedRequest(.get, example, headers: ["Range": "bytes=0-1"])
        let response = try #require(stored.response(to: request, at: time + 1, cacheStatus: "hit")).httpResponse
        let names = response.allHeaderFields.keys.map { "\($0)".lowercased() }.sorted()
        #expect(names == ["age", "cache-status", "content-length", "content-range"])
        #expect(response.value(forHTTPHeaderField: "Age") == "8" && response.value(forHTTPHeaderField: "Content-Length") == "2")
    }
}
