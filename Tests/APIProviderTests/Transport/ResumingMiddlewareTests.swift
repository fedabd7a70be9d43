import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Downloads that go on where they stopped, with middlewares", tenMinutes)
struct ResumingMiddlewareTests: DownloadSuite {
    let folder = TemporaryFolder()

    private static let broken = FileAnswer(breaksOffAfter: 12_000)

    private func download(_ server: LoopbackServer, _ middlewares: any Middleware...) async throws {
        let transport = TestedTransport(configuration: .patient)
        let provider = DefaultAPIProvider(baseURL: server.url, transport: transport, middlewares: middlewares)
        _ = try await provider.request(Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()).value
    }

    @Test("The next attempt of a RetryMiddleware goes on")
    func retries() async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(partCount: 3_000), FileAnswer())
        try await download(server, RetryMiddleware(RetryPolicy(baseDelay: .nanoseconds(0))))
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=15000-"])
    }

    @Test("The attempt with a refreshed credential goes on")
    func refreshedCredential() async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer(status: "401 Unauthorized"), FileAnswer())
        await #expect(throws: APIError.self) { try await download(server) }
        let authentication = AuthenticationMiddleware(
            "old", apply: { $1.headers["Authorization"] = "Bearer \($0)" }, refresh: { _ in .just("new") })
        try await download(server, authentication)
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=12000-"])
        #expect(server.requests.map { $0.headers["authorization"] } == [nil, "Bearer old", "Bearer new"])
    }

    @Test(
        "A middleware that makes the response anew without the file gets an error, and one with a body of its own replaces the file",
        arguments: [
            { APIResponse(request: $0, httpResponse: $1.httpResponse, data: $1.data) },
            { APIResponse(request: PreparedRequest(.get, $0.url), httpResponse: $1.httpResponse, data: $1.data) },
            { APIResponse(to: $0, data: $1.data) },
            { APIResponse(to: $0, data: $1.data + Data("its own".utf8)) },
        ] as [@Sendable (PreparedRequest, APIResponse) -> APIResponse])
    func madeAnew(change: @escaping @Sendable (PreparedRequest, APIResponse) -> APIResponse) async throws {
        let server = try LoopbackServer(Self.broken, FileAnswer())
        await #expect(throws: APIError.self) { try await download(server) }
        var error: (any Error)?
        do { try await download(server, ClosureMiddleware { request, next in next(request).map { change(request, $0) } }) } catch let thrown
        {
            error = thrown
        }
        #expect(server.ranges == [nil, "bytes=12000-"])
        guard let error else { return try expectOnlyFile("its own") }
        #expect("\(error)".contains("a middleware made its response anew, without the downloaded file"), "\(error)")
        try expectKept(FileAnswer.body[...])
    }
}
