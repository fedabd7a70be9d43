import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Middlewares in async", tenMinutes)
struct AsyncMiddlewareTests {
    /// Sends a request with a header, and once more after an error.
    private struct Signature: AsyncMiddleware {
        let signature: @Sendable () async throws -> String

        func intercept(_ request: PreparedRequest, next: @escaping AsyncNext) async throws -> APIResponse {
            var request = request
            request.headers["X-Signature"] = "\(try await signature()) \(request.options.name ?? "")"
            do { return try await next(request) } catch { return try await next(request) }
        }
    }

    private let get = Endpoint<String>(.get, "/a").option(\.name, "name")

    @Test("An async middleware changes the request, reads its options, and may send it again")
    func request() async throws {
        let answers = Answers(.error(TestError()), .status(200, body: "x"))
        let provider = answers.provider(RetryMiddleware(), Signature { "s" }, DefaultHeadersMiddleware(["X-Other": "o"]))
        #expect(try await provider.request(get).value == "x")
        #expect(answers.requests.map { $0.headers["X-Signature"] } == ["s name", "s name"])
        #expect(answers.requests.map { $0.headers["X-Other"] } == ["o", "o"])
    }

    @Test("Disposing cancels the task of an async middleware and the request that it has sent", arguments: [true, false])
    func dispose(isSent: Bool) async {
        let (waiting, ended) = (Signals<Void>(), Signals<Void>())
        let transport = ClosureTransport { _ in
            .create { _ in
                waiting.send(())
                return Disposables.create { ended.send(()) }
            }
        }
        let middleware = Signature {
            guard !isSent else { return "s" }
            waiting.send(())
            do { try await Task.sleep(nanoseconds: .max) } catch { ended.send(()) }
            throw CancellationError()
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: [middleware])
        let subscription = provider.request(get).subscribe { _ in Issue.record("An event came.") }
        await waiting.next()
        subscription.dispose()
        await ended.next()
    }
}
