import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Middlewares in async", tenMinutes)
struct AsyncMiddlewareTests {
    private struct Signature: AsyncMiddleware {
        let signature: @Sendable () async throws -> String

        func intercept(_ request: PreparedRequest, next: @escaping AsyncNext) async throws -> APIResponse {
            var request = request
            request.headers["X-Signature"] = "\(try await signature()) \(request.options.name ?? "")"
            return try await next(request)
        }
    }

    private struct Twice: AsyncMiddleware {
        func intercept(_ request: PreparedRequest, next: @escaping AsyncNext) async throws -> APIResponse {
            do { return try await next(request) } catch { return try await next(request) }
        }
    }

    private func provider(_ middlewares: any Middleware..., answers: Answers) -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: ClosureTransport { answers.next($0) }, middlewares: middlewares)
    }

    @Test("It changes the request and sees the options, beside the others")
    func request() async throws {
        let answers = Answers(.status(200, body: "x"))
        let provider = provider(RetryMiddleware(), Signature { "s" }, DefaultHeadersMiddleware(["X-Other": "o"]), answers: answers)
        #expect(try await provider.request(Endpoint<String>(.get, "/a").option(\.name, "name")).value == "x")
        #expect(answers.requests.map { $0.headers["X-Signature"] } == ["s name"])
        #expect(answers.requests.map { $0.headers["X-Other"] } == ["o"])
    }

    @Test("It may send a request again")
    func twice() async throws {
        let answers = Answers(.error(TestError()), .status(200))
        try await provider(Twice(), answers: answers).request(Endpoint<Void>(.get, "/a")).value
        #expect(answers.requests.count == 2)
    }

    @Test("What it throws is the error of the request, and nothing is sent")
    func throwing() async {
        let answers = Answers(.status(200))
        await #expect(throws: TestError("no")) {
            try await provider(Signature { throw TestError("no") }, answers: answers).request(Endpoint<Void>(.get, "/a")).value
        }
        #expect(answers.requests.count == 0)
    }

    @Test("A dispose cancels its task, and what it has sent")
    func dispose() async {
        let (sent, ended) = (Signals<Void>(), Signals<Void>())
        let transport = ClosureTransport { _ in
            .create { _ in
                sent.send(())
                return Disposables.create { ended.send(()) }
            }
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [Signature { "s" }])
        let subscription = provider.request(Endpoint<Void>(.get, "/a")).subscribe { _ in Issue.record("An event came.") }
        await sent.next()
        subscription.dispose()
        await ended.next()
    }

    @Test("A dispose while it waits cancels its task")
    func disposeEarly() async {
        let (waiting, cancelled) = (Signals<Void>(), Signals<Void>())
        let middleware = Signature {
            waiting.send(())
            do { try await Task.sleep(nanoseconds: .max) } catch { cancelled.send(()) }
            throw CancellationError()
        }
        let subscription = provider(middleware, answers: Answers(.status(200))).request(Endpoint<Void>(.get, "/a")).subscribe { _ in
            Issue.record("An event came.")
        }
        await waiting.next()
        subscription.dispose()
        await cancelled.next()
    }
}
