import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("A credential that is not a string", tenMinutes)
struct CustomCredentialTests {
    private struct Session: Sendable, Equatable {
        var access: String
        var refresh: String
        var expires = Date.distantFuture
    }

    /// A server that accepts the access tokens a2, a3, … and knows each refresh token once.
    private final class Server: Sendable {
        let seen = Log<String>()
        let refreshes = Log<String>()

        var next: Middleware.Next {
            { request in
                let token = request.headers["Authorization"] ?? "none"
                self.seen.append(token)
                return .just(APIResponse(to: request, status: token == "Bearer a1" ? 403 : 200, data: Data(#"{"code":"expired"}"#.utf8)))
            }
        }

        func refresh(_ session: Session?) throws -> Session {
            let old = session?.refresh ?? "none"
            refreshes.append(old)
            let number = refreshes.count + 1
            return Session(access: "a\(number)", refresh: "r\(number)")
        }
    }

    private let server = Server()

    private func middleware(
        _ session: Session?, expiry: @escaping @Sendable (Session) -> Date? = { $0.expires }, now: Date = Date(),
        isRejected: @escaping @Sendable (APIResponse) throws -> Bool = { $0.statusCode == 403 }
    ) -> AuthenticationMiddleware<Session> {
        AuthenticationMiddleware(
            session, scheduler: TestScheduler(), now: { now },
            apply: { $1.headers["Authorization"] = "Bearer \($0.access)" }, expiry: expiry, isRejected: isRejected,
            refresh: { [server] session in .deferred { .just(try server.refresh(session)) } })
    }

    @Test("A predicate says which answer means that the credential has expired, and the refresh gets the whole of it")
    func predicate() async throws {
        let middleware = middleware(Session(access: "a1", refresh: "r1"))
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 200)
        #expect(server.seen.entries == ["Bearer a1", "Bearer a2"])
        #expect(server.refreshes.entries == ["r1"])
        #expect(middleware.credential == Session(access: "a2", refresh: "r2"))
    }

    @Test("The predicate may read the body, also of a 200")
    func body() async throws {
        let middleware = middleware(
            Session(access: "a2", refresh: "r1"),
            isRejected: { response in
                struct Problem: Decodable { let code: String }
                return try response.decode(Problem.self).code == "expired"
                    && response.request.headers["Authorization"] == "Bearer a2"
            })
        let server = server
        server.refreshes.append("r0")
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 200)
        #expect(server.seen.entries == ["Bearer a2", "Bearer a3"])
    }

    @Test("A predicate that throws is the error of the request")
    func throwing() async {
        let middleware = middleware(Session(access: "a1", refresh: "r1"), isRejected: { _ in throw TestError("predicate") })
        await #expect(throws: TestError("predicate")) { try await middleware.intercept(PreparedRequest("GET"), next: server.next).value }
        #expect(server.refreshes.count == 0)
    }

    @Test("A credential that knows its expiry is refreshed before it is sent, once for all that ask", arguments: [0, 1])
    func expiry(seconds: Double) async throws {
        let now = Date()
        let middleware = middleware(Session(access: "a9", refresh: "r1", expires: now + seconds), now: now)
        for _ in 0..<3 { _ = try await middleware.intercept(PreparedRequest("GET"), next: server.next).value }
        #expect(server.refreshes.entries == (seconds == 0 ? ["r1"] : []))
        #expect(server.seen.entries == Array(repeating: seconds == 0 ? "Bearer a2" : "Bearer a9", count: 3))
    }

    @Test("A new credential that has already expired is sent, and not refreshed again for the same request")
    func clocks() async throws {
        let middleware = middleware(Session(access: "a1", refresh: "r1"), expiry: { _ in .distantPast })
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 200)
        #expect(server.refreshes.count == 1)
        #expect(server.seen.entries == ["Bearer a2"])
    }

    @Test("A refresh that has begun ends, though no request waits any more")
    func async() async throws {
        let (waiting, ended) = (Signals<Void>(), Signals<Bool>())
        let goOn = Signals<Void>()
        let server = server
        let middleware = AuthenticationMiddleware<Session>(
            Session(access: "a1", refresh: "r1"), apply: { $1.headers["Authorization"] = "Bearer \($0.access)" },
            isRejected: { $0.statusCode == 403 }
        ) { expired in
            .create {
                await Task.yield()
                return try server.refresh(expired)
            }
        }
        #expect(try await middleware.intercept(PreparedRequest("GET"), next: server.next).value.statusCode == 200)
        let slow = AuthenticationMiddleware { _ in
            .create {
                waiting.send(())
                await goOn.next()
                ended.send(Task.isCancelled)
                return "slow"
            }
        }
        let subscription = slow.intercept(PreparedRequest("GET"), next: server.next).subscribe { _ in Issue.record("An event came.") }
        await waiting.next()
        subscription.dispose()
        goOn.send(())
        #expect(await ended.next() == false)
        _ = try await slow.intercept(PreparedRequest("GET"), next: server.next).value
        #expect(server.seen.entries.last == "Bearer slow")
    }

    @Test("A credential that adds nothing sends nothing, and says why", arguments: accessTokensThatAddNothing)
    func nothingAdded(access: String?) async {
        let middleware = AuthenticationMiddleware(
            Session(access: access ?? "", refresh: "r1"),
            apply: { if access != nil { $1.headers["Authorization"] = "Bearer \($0.access)" } }
        ) { _ in .error(TestError("refresh")) }
        let error = await #expect(throws: APIError.self) { try await middleware.intercept(PreparedRequest("GET"), next: server.next).value }
        #expect(server.seen.count == 0)
        let reason =
            access == nil
            ? "has added nothing to it; set a header in apply" : "contains a control character; if you read it from a file, trim it"
        #expect(error?.description == "The request was not sent: its credential \(reason).")
    }

    @Test("A request that has the credential already, as behind a redirect, is sent")
    func addedBefore() async throws {
        let middleware = middleware(Session(access: "a9", refresh: "r1"))
        _ = try await middleware.intercept(PreparedRequest("GET", headers: ["Authorization": "Bearer a9"]), next: server.next).value
        #expect(server.seen.entries == ["Bearer a9"])
    }

    @Test("Apply may throw, and nothing is sent")
    func apply() async {
        let middleware = AuthenticationMiddleware<Int>(1, apply: { _, _ in throw TestError("apply") }) { _ in .just(2) }
        await #expect(throws: TestError("apply")) { try await middleware.intercept(PreparedRequest("GET"), next: server.next).value }
        #expect(server.seen.count == 0)
    }
}

/// With `nil`, the closure adds nothing. Linux drops a header with a line break or a NUL; elsewhere the transport refuses it.
private let accessTokensThatAddNothing: [String?] = {
    #if canImport(FoundationNetworking)
    return [nil, "a\n", "a\r\nX-Admin: 1", "a\0"]
    #else
    return [nil]
    #endif
}()
