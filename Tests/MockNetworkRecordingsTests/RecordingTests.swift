import APIProvider
import APIProviderMocks
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import MockNetworkRecordings

@Suite("Recordings", tenMinutes)
struct RecordingTests {
    private let test = RecordedTest()

    @Test("What a server has answered is replayed without it", arguments: [true, false])
    func replayed(bySession: Bool) async throws {
        let server = try LoopbackServer { request, connection in
            connection.respond(headers: ["Content-Type": "application/json"], body: "[\"\(request.target)\"]")
        }
        let request = Endpoint<[String]>(.get, .url(server.url, "/items"), query: ["page": 1])
        for mode in [Recording.Mode.record, .replay, .replay] {
            let value = try await test.run(mode, bySession: bySession) { try await $0.request(request).value }
            #expect(value == ["/items?page=1"])
        }
        #expect(server.requests.count == 1)
    }

    @Test("A POST of code that uses URLSession itself is recorded with its body", arguments: [true, false])
    func plainSession(isStream: Bool) async throws {
        let bodies = Log<String>()
        let server = ClosureTransport { request in
            bodies.append(String(decoding: (try? request.body?.data()) ?? Data(), as: UTF8.self))
            return .just(APIResponse(to: request, statusCode: 201))
        }
        for mode in [Recording.Mode.record, .replay] {
            try await test.run(mode, from: server) { _ in
                let session = URLSession(configuration: MockURLProtocol.configuration)
                var request = URLRequest(url: example)
                request.httpMethod = "POST"
                if isStream { request.httpBodyStream = InputStream(data: Data("sent".utf8)) } else { request.httpBody = Data("sent".utf8) }
                let response = try await session.data(for: request).1
                #expect((response as? HTTPURLResponse)?.statusCode == 201)
            }
        }
        #expect(bodies.entries == ["sent"])
    }

    @Test("What the program marks as secret, or adds as a credential, has a name, and matches another value in a replay")
    func programSecrets() async throws {
        let server = server { "{\"path\":\"\($0.url.path)\"}" }
        func visit(_ mode: Recording.Mode, user: String, token: String) async throws -> String {
            try await test.run(mode, from: server) { _ in
                let authentication = AuthenticationMiddleware(token: token, apply: { $1.headers["X-Customer"] = $0 }) { _ in .never() }
                let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport(), middlewares: [authentication])
                return try await provider.request(Endpoint<String>(.get, "/users/\(secret: user)")).value
            }
        }
        _ = try await visit(.record, user: "jane of letters", token: "customer of letters")
        let text = try test.text
        #expect(text.contains("/users/secret-00") && !text.contains("of letters") && !text.contains("of%20letters"), "\(text)")
        #expect(try await visit(.replay, user: "joe", token: "any") == #"{"path":"/users/joe"}"#)
    }

    @Test("A secret has one name everywhere, and two secrets have two")
    func names() async throws {
        let token = "s3cr3t-tok3n-9999"
        let server = server { request in
            request.url.path == "/login"
                ? #"{"accessToken":"\#(token)","user":"me"}"# : "{\"path\":\"\(request.url.path)\",\"q\":\"\(request.url.query ?? "")\"}"
        }
        let program: @Sendable (String) -> @Sendable (DefaultAPIProvider) async throws -> [String] = { password in
            { provider in
                let body = try await provider.text(.post, "/login", json: #"{"password":"\#(password)","otp":"\#(password.count)00"}"#)
                let token = try #require((try JSONSerialization.jsonObject(with: Data(body.utf8)) as? [String: String])?["accessToken"])
                return [
                    token, try await provider.text(.get, "/items/\(token)/x?after=\(token)", headers: ["Authorization": "Bearer \(token)"]),
                ]
            }
        }
        _ = try await test.run(.record, from: server, program("correct horse 1"))
        let text = try test.text
        #expect(!text.contains(token) && !text.contains("correct horse"))
        #expect(text.contains("items/token-001/x?after=token-001") && text.contains("Bearer token-001"))
        #expect(try await test.run(.replay, program("another")) == ["token-001", #"{"path":"/items/token-001/x","q":"after=token-001"}"#])
        #expect(await test.failure(program("")).contains("got nothing, where a secret is expected"))
    }

    @Test("Verifying names the requests that it does not send")
    func verifyingPosts() async throws {
        let server = server { _ in "[1]" }
        try await test.run(.record, from: server) { _ = try await $0.text(.post, "/orders", json: "{}") }
        try await test.run(.verify, from: server) { _ = try await $0.text(.post, "/orders", json: "{}") }
        let warnings = test.warnings.entries.joined(separator: "\n")
        #expect(warnings.contains("Only GET and HEAD are sent again") && warnings.contains("POST https://a.example/orders"), "\(warnings)")
    }

    @Test("A recording that is not there is told beside those that are, the most similar first")
    func misspelled() async throws {
        let folder = TemporaryFolder()
        try FileManager.default.createDirectory(at: folder.url("Recordings"), withIntermediateDirectories: true)
        for name in ["a.har", "search-page.har", "b.har", "c.har", "searches.har", "d.har", "notes.txt"] {
            try Data().write(to: folder.url("Recordings/\(name)"))
        }
        let recording = Recording("serch", filePath: folder.url("Tests.swift").path)
        let error = await #expect(throws: MockFailure.self) {
            try await recording.run(.replay, test: "session()", at: "Tests.swift:1", warn: { _ in }) {}
        }
        #expect("\(error as Any)".contains(#"Its folder has "search-page", "searches", "a", "b", "c" and 1 more."#), "\(error as Any)")
    }

    @Test("A value that is no secret tells requests apart, in any order")
    func noSecrets() async throws {
        let server = server { "{\"query\":\"\($0.url.query ?? "")\"}" }
        let queries = ["sha=main", "sha=6dcb09b5b57875f334f61aebed695e2e4193db5e", "sha=open"]
        try await test.run(.record, from: server) { for query in queries { _ = try await $0.text(.get, "/c?\(query)") } }
        for query in queries.reversed() {
            let answer = try await test.run(.replay) { try await $0.text(.get, "/c?\(query)") }
            #expect(answer == "{\"query\":\"\(query)\"}")
        }
        #expect(try test.text.contains("6dcb09b5b57875f334f61aebed695e2e4193db5e"))
    }

    @Test("A second POST fails, and says how often it was recorded; a GET gets the last response again")
    func usedUp() async throws {
        try await test.run(.record, from: server { _ in "[1]" }) {
            _ = try await $0.text(.post, "/orders", json: "{}")
            _ = try await $0.text(.get, "/orders")
        }
        let failure = await test.failure { for _ in 0..<2 { _ = try await $0.text(.post, "/orders", json: "{}") } }
        #expect(
            failure.contains("/orders was recorded once (session.har: log.entries[0]), and was sent once more."), "\(failure)")
        _ = try await test.run(.replay) { for _ in 0..<3 { _ = try await $0.text(.get, "/orders") } }
    }

    @Test("Two secrets of the environment in flight together, which nothing else tells apart, are not written")
    func twoKeys() async throws {
        // Answers when both have come, so that they are in flight together.
        let waiting = Locked<[(request: PreparedRequest, observer: Single<APIResponse>.SingleObserver)]>([])
        let server = ClosureTransport { request in
            .create { observer in
                let both = waiting.withLock { waiting in
                    waiting.append((request, observer))
                    return waiting.count == 2 ? waiting : []
                }
                for (request, observer) in both {
                    let body = Data("[\"\(request.headers["Authorization"] ?? "")\"]".utf8)
                    observer(.success(APIResponse(to: request, headers: ["Content-Type": "application/json"], data: body)))
                }
                return Disposables.create()
            }
        }
        let error = await #expect(throws: (any Error).self) {
            try await test.run(.record, from: server) { provider in
                try await withThrowingTaskGroup(of: Void.self) { group in
                    for key in ["k3y-of-the-first", "k3y-of-the-second"] {
                        group.addTask { _ = try await provider.text(.get, "/me", headers: ["Authorization": "Bearer \(key)"]) }
                    }
                    try await group.waitForAll()
                }
            }
        }
        #expect("\(error as Any)".contains("They were in flight together") && !"\(error as Any)".contains("k3y"), "\(error as Any)")
    }

    @Test("What changes with each run is ignored by its name, and comes back as it was sent")
    func ignored() async throws {
        var test = test
        let send: @Sendable (String) -> @Sendable (DefaultAPIProvider) async throws -> String = { state in
            { try await $0.text(.post, "/a?state=\(state)", json: #"{"clientMutationId":"\#(state)","n":1}"#) }
        }
        let server = server { "{\"state\":\"\($0.url.query?.dropFirst(6) ?? "")\",\"next\":{\"state\":\"r3ady-now\"}}" }
        try await test.run(.record, from: server) { _ = try await send("abcdef01")($0) }
        let failure = await test.failure(send("abcdef99"))
        #expect(failure.contains(#"record again with ignoring: ["clientMutationId", "state"]"#), "\(failure)")
        test.ignored = ["state", "clientMutationId"]
        try await test.run(.record, from: server) { _ = try await send("abcdef01")($0) }
        #expect(try await test.run(.replay, send("zz")) == #"{"state":"zz","next":{"state":"r3ady-now"}}"#)
    }

    @Test("A value that is ignored may differ in each request, even if it was the same in each when it was recorded")
    func ignoredEachTime() async throws {
        var test = test
        test.ignored = ["state"]
        @Sendable func send(_ states: [String]) -> @Sendable (DefaultAPIProvider) async throws -> [String] {
            { provider in
                var texts: [String] = []
                for state in states { texts.append(try await provider.text(.post, "/a?state=\(state)")) }
                return texts
            }
        }
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await send(["abcdef01", "abcdef01"])($0) }
        #expect(try await test.run(.replay, send(["abcdef02", "abcdef03"])) == ["[1]", "[1]"])
    }

    @Test(
        "A number of any notation is ignored", arguments: [("789012345.678", "789012399.25"), ("-1", "7"), ("1e5", "12345678901234567890")])
    func ignoredNumber(recorded: String, sent: String) async throws {
        var test = test
        test.ignored = ["sent_at"]
        @Sendable func send(_ time: String) -> @Sendable (DefaultAPIProvider) async throws -> String {
            { try await $0.text(.post, "/a", json: "{\"sent_at\":\(time),\"n\":1}") }
        }
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await send(recorded)($0) }
        #expect(try await test.run(.replay, send(sent)) == "[1]")
    }

    @Test("A recording over an old one names the values that each run generates, and says what to do")
    func madeAnew() async throws {
        let run = Locked(0)
        let server = server { _ in #"{"id":1,"request_id":"req-0000000\#(run.withLock { $0 })","at":170000000\#(run.withLock { $0 })}"# }
        for number in 1...2 {
            run.withLock { $0 = number }
            try await test.run(.record, from: server) { provider in
                _ = try await provider.text(.get, "/items?page=1")
                _ = try await provider.text(.get, "/items?page=2&state=abcdef0\(number)")
            }
        }
        let warnings = test.warnings.entries
        #expect(warnings.count == 1 && warnings[0].hasPrefix("session.har was written. "), "\(warnings)")
        #expect(warnings.last?.contains(#"Requests differ from the old file only in "state"."#) == true)
        #expect(warnings.last?.contains(#"If the app generates these values in each run, record again with ignoring: ["state"]."#) == true)
        #expect(warnings.last?.contains(#"The server generated new values for "at", "request_id" in GET https://a.example/items."#) == true)
    }

    @Test("Nothing is written after a failure, without a request, after a reset, and over the file of another test")
    func notWritten() async throws {
        try await test.run(.record, from: server { _ in "[1]" }) { _ = try await $0.text(.get, "/a") }
        let old = try test.text
        try await test.run(.record, from: server { _ in "[2]" }, hasFailed: true) { _ = try await $0.text(.get, "/a") }
        #expect(test.warnings.entries.last == "session.har was not written, because the test has failed.")
        let sentences = [
            await error { _ in },
            await error {
                MockURLProtocol.reset(); MockURLProtocol.stub(.get, "/a", respond: .status(200)); _ = try await $0.text(.get, "/a")
            },
            await error(test: "other()") { _ = try await $0.text(.get, "/a") },
        ]
        #expect(sentences[0].contains("no request has reached this mock"), "\(sentences[0])")
        #expect(sentences[1].contains("MockURLProtocol.reset() has removed what was recorded"), "\(sentences[1])")
        #expect(sentences[2].contains("is the recording of another test, Tests.swift session,"), "\(sentences[2])")
        #expect(try test.text == old)
    }

    private func error(
        test function: String = "session()", _ body: @Sendable (DefaultAPIProvider) async throws -> Void
    ) async -> String {
        do {
            try await test.run(.record, from: server { _ in "[2]" }, test: function, body)
            return "written"
        } catch { return "\(error)" }
    }

    @Test("A server that has not changed does not change the file, and one that has does")
    func stable() async throws {
        let answers = Locked(["/a": "1", "/b": "1"])
        let count = Locked(0)
        let transport = ClosureTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            let body =
                #"{"n":\#(answers.withLock { $0[request.url.path] } ?? ""),"token":"t0ken-of-run-\#(number)","expires_at":\#(1_900_000_000 + number)}"#
            return .just(
                APIResponse(
                    to: request, headers: ["Content-Type": "application/json", "Date": "\(Date().timeIntervalSince1970)"],
                    data: Data(body.utf8)))
        }
        func record() async throws -> String {
            try await test.run(.record, from: transport) { for path in ["/a", "/b"] { _ = try await $0.text(.get, path) } }
            return try test.text
        }
        let first = try await record()
        #expect(try await record() == first)
        answers.withLock { $0["/b"] = "2" }
        #expect(try await record() != first)
    }

    @Test("Attempts that were retried are entries, a failure is replayed, and nothing waits for Retry-After")
    func retried() async throws {
        let count = Locked(0)
        let transport = ClosureTransport { request in
            let number = count.withLock { count in
                count += 1
                return count
            }
            if number == 1 { return .error(URLError(.timedOut)) }
            return .just(APIResponse(to: request, statusCode: number == 2 ? 503 : 201, headers: ["Retry-After": "100"]))
        }
        let program: @Sendable (DefaultAPIProvider) async throws -> [String] = { provider in
            var seen: [String] = []
            for _ in 0..<3 {
                do {
                    let response = try await provider.request(anyRequest("https://a.example/")).value
                    seen.append("\(response.statusCode) \(response.headers["Retry-After"] ?? "")")
                } catch { seen.append("\((error as? APIError)?.urlError?.code.rawValue ?? 0)") }
            }
            return seen
        }
        #expect(try await test.run(.record, from: transport, program) == ["-1001", "503 100", "201 100"])
        #expect(try await test.run(.replay, program) == ["-1001", "503 0", "201 0"])
    }
}
