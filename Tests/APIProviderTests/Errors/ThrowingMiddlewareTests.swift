import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// A middleware as an app has it, which does what the test says.
private struct SignatureMiddleware: Middleware {
    let change: @Sendable (PreparedRequest, @escaping Next) -> Single<APIResponse>

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> { change(request, next) }
}

private struct AsyncSignatureMiddleware: AsyncMiddleware {
    let error: any Error

    func intercept(_ request: PreparedRequest, next: @escaping AsyncNext) async throws -> APIResponse { throw error }
}

@Suite("The middleware that threw an error")
struct ThrowingMiddlewareTests {
    /// An error of the app.
    private struct Expired: Error, Equatable { let day: Int }

    private func error(_ answers: Answers = Answers(.status(200)), _ middlewares: any Middleware...) async throws -> any Error {
        let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport(answers.next), middlewares: middlewares)
        do {
            let value = try await provider.request(Endpoint<[Int]>(.get, "/items")).value
            throw Unexpected(value: value)
        } catch let error as Unexpected {
            throw error
        } catch {
            return error
        }
    }

    private struct Unexpected: Error { let value: [Int] }

    @Test("An error of the package that a middleware of the app throws names the middleware")
    func named() async throws {
        let cases: [(@Sendable (APIResponse) -> APIError, String)] = [
            ({ _ in .invalidRequest(reason: "its key is missing") }, "not sent: its key is missing (in SignatureMiddleware)."),
            (
                { .transport($0.request, underlying: URLError(.timedOut)) },
                "GET https://api.example.com/items failed in SignatureMiddleware: it timed out"
            ),
            ({ .unacceptableStatus($0) }, "GET https://api.example.com/items failed in SignatureMiddleware: 200 OK"),
            (
                { .decoding($0, expected: "Token", underlying: Expired(day: 1)) },
                "GET https://api.example.com/items returned 200 in SignatureMiddleware, but the body is"
            ),
        ]
        for (make, text) in cases {
            let throwing = SignatureMiddleware { request, next in next(request).map { throw make($0) } }
            let error = try await error(Answers(.status(200, body: "[]")), throwing)
            #expect("\(error)".contains(text), "\(error)")
            #expect((error as NSError).userInfo[NSDebugDescriptionErrorKey] as? String == "\(error)")
            #expect(!error.localizedDescription.contains("SignatureMiddleware"))
        }
        let asynchronous = try await error(
            Answers(.status(200)), AsyncSignatureMiddleware(error: APIError.invalidRequest(reason: "it is late")))
        #expect("\(asynchronous)" == "The request was not sent: it is late (in AsyncSignatureMiddleware).")
    }

    @Test("The innermost middleware is named, and not those that pass the error on")
    func innermost() async throws {
        struct Outer: Middleware {
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                next(request).catch { first in next(request).catch { _ in .error(first) } }
            }
        }
        let refusing = SignatureMiddleware { request, next in next(request).flatMap { .error(APIError.unacceptableStatus($0)) } }
        let error = try await error(Answers(.status(401), .status(403)), Outer(), refusing, Outer())
        #expect("\(error)" == "GET https://api.example.com/items failed in SignatureMiddleware: 401 Unauthorized.")
    }

    @Test("What a middleware has caught names it no more: neither the error of another attempt, nor the response that is returned")
    func caught() async throws {
        let refusing = SignatureMiddleware { request, next in next(request).flatMap { .error(APIError.unacceptableStatus($0)) } }
        let returning = SignatureMiddleware { request, next in
            next(request).catch { error in (error as? APIError)?.response.map { .just($0) } ?? .error(error) }
        }
        let returned = try await error(Answers(.status(404)), returning, refusing)
        #expect("\(returned)".hasPrefix("GET https://api.example.com/items failed: 404"), "\(returned)")
        let failing = Locked(true)
        let once = SignatureMiddleware { request, next in
            failing.withLock { exchange(&$0, with: false) }
                ? .error(APIError.transport(request, underlying: URLError(.timedOut))) : next(request)
        }
        let again = SignatureMiddleware { request, next in
            next(request).catch { error in
                guard case APIError.transport(let failed, _) = error else { return .error(error) }
                return next(failed)
            }
        }
        let second = try await error(Answers(.error(URLError(.cannotConnectToHost))), again, once)
        #expect("\(second)".hasPrefix("GET https://api.example.com/items failed: "), "\(second)")
    }

    @Test(
        "An error of the transport, of the provider and of a built-in middleware names none",
        arguments: [URLError(.cannotConnectToHost), APIError.invalidRequest(reason: "its scheme is unknown"), APIError.signedOut]
            as [any Error],
        [nil, "X A"])
    func passedOn(error: any Error, invalidHeader: String?) async throws {
        let passing = SignatureMiddleware { request, next in
            var request = request
            if let invalidHeader { request.headers[invalidHeader] = "a" }
            return next(request).catch { .error($0) }
        }
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 1))
        let ended = try await self.error(Answers(.error(error)), passing, retry)
        #expect(!"\(ended)".contains("Middleware"), "\(ended)")
    }

    @Test("A built-in middleware that throws is not named, also inside one of the app")
    func builtIn() async throws {
        let passing = SignatureMiddleware { request, next in next(request) }
        // Without a base URL, it does not know where a credential may go.
        let provider = DefaultAPIProvider(
            transport: ClosureTransport(Answers(.status(200)).next),
            middlewares: [passing, DefaultHeadersMiddleware(["Authorization": "Bearer a"]), passing])
        let error = try #require(
            await #expect(throws: APIError.self) { try await provider.request(Endpoint<Data>(.get, .url(example))).value })
        #expect("\(error)".hasPrefix("The request was not sent: ") && !"\(error)".contains("(in "), "\(error)")
    }

    @Test("The app's own error, and a sign-out, come as they were thrown")
    func ownError() async throws {
        let expired = try await error(Answers(.status(200)), SignatureMiddleware { _, _ in .error(Expired(day: 3)) })
        #expect(expired as? Expired == Expired(day: 3))
        let signedOut = try await error(Answers(.status(200)), SignatureMiddleware { _, _ in .error(APIError.signedOut) })
        guard case APIError.signedOut = signedOut else { throw signedOut }
    }

    @Test("A named error hides the request's secrets as any other")
    func secrets() async throws {
        let throwing = SignatureMiddleware { request, next in
            var request = request
            request.hide("s3cret-key")
            let words = [NSLocalizedDescriptionKey: "the key s3cret-key is not known"]
            return .error(APIError.transport(request, underlying: NSError(domain: "d", code: 1, userInfo: words)))
        }
        let error = try await error(Answers(.status(200)), throwing)
        #expect("\(error)" == "GET https://api.example.com/items failed in SignatureMiddleware: the key … is not known")
        #expect(!"\((error as NSError).userInfo)".contains("s3cret-key"))
    }
}
