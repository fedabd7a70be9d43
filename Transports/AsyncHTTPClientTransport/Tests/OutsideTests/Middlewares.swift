import APIProvider
import Dispatch
import Foundation
import MiniRx

// Middlewares of somebody else, in a package of their own: they have only what is public.

/// Sends a request again after a failure that may pass.
struct Retry: Middleware {
    let maxAttempts: Int
    let scheduler: any Scheduler

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> { attempt(1, request, next) }

    private func attempt(_ number: Int, _ request: PreparedRequest, _ next: @escaping Next) -> Single<APIResponse> {
        Single.deferred { next(request) }
            .map { Result<APIResponse, any Error>.success($0) }
            .catch { .just(.failure($0)) }
            .flatMap { result in
                guard number < maxAttempts, let delay = delay(after: number, request, result) else { return .just(try result.get()) }
                return Single.just(()).delay(.milliseconds(Int(delay * 1000)), scheduler: scheduler).flatMap {
                    attempt(number + 1, request, next)
                }
            }
    }

    /// The time to wait in seconds; `nil` if the result is final.
    private func delay(after number: Int, _ request: PreparedRequest, _ result: Result<APIResponse, any Error>) -> TimeInterval? {
        switch result {
        case .success(let response):
            guard response.statusCode == 503, response.request.isIdempotent, request.isIdempotent else { return nil }
            return response.retryAfter() ?? Double(number)
        case .failure(let error):
            guard let error = error as? APIError else { return nil }
            // The request that failed may be that of a redirect.
            guard case .transport(let last, _) = error, error.isTransient else { return nil }
            let mayBeRepeated = last.isIdempotent && request.isIdempotent || error.requestWasNotSent && last.redirects.isEmpty
            return mayBeRepeated ? Double(number) : nil
        }
    }
}

/// Adds a token for the host of the provider, and refreshes it once for all requests that are rejected meanwhile.
final class Authentication: Middleware {
    private struct State {
        var token: String
        var refresh: Single<String>?
    }

    private let lock = NSLock()
    private nonisolated(unsafe) var state: State
    private let refresh: @Sendable () -> Single<String>

    init(token: String, refresh: @escaping @Sendable () -> Single<String>) {
        (state, self.refresh) = (State(token: token), refresh)
    }

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard request.options.isAuthenticated, request.url.host == request.baseURL?.host, !request.hasLeftOrigin else {
            return next(request)
        }
        return .deferred { [self] in
            let token = lock.withLock { state.token }
            return next(authorized(request, token)).flatMap { [self] response in
                guard response.statusCode == 401, response.request.redirects.isEmpty else { return .just(response) }
                return newToken(after: token).flatMap { [self] in next(authorized(request, $0)) }
            }
        }
    }

    private func authorized(_ request: PreparedRequest, _ token: String) -> PreparedRequest {
        var request = request
        request.headers["Authorization"] = "Bearer \(token)"
        request.hide(token)
        return request
    }

    private func newToken(after rejected: String) -> Single<String> {
        lock.withLock {
            if state.token != rejected { return .just(state.token) }
            if let running = state.refresh { return running }
            let new = refresh().do(
                onSuccess: { [self] token in lock.withLock { state = State(token: token) } },
                onError: { [self] _ in lock.withLock { state.refresh = nil } }
            ).share()
            state.refresh = new
            return new
        }
    }
}

/// Logs each request with its headers and bodies.
struct BodyLog: Middleware {
    let redaction: Redaction
    let write: @Sendable (String) -> Void

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        next(request).do(
            onSuccess: { response in
                let lines =
                    request.details(redacting: redaction).map { "> \($0)" } + response.details(redacting: redaction).map { "< \($0)" }
                write(([response.description(redacting: redaction)] + lines).joined(separator: "\n"))
            },
            onError: { error in
                write((error as? APIError)?.description(redacting: redaction) ?? request.description(redacting: redaction))
            })
    }
}

/// Answers a GET from memory while its `max-age` lasts. It leaves files and streams alone, and keeps users apart.
final class SmallCache: Middleware {
    private struct Key: Hashable {
        let url: URL
        let user: [String?]
    }

    private let lock = NSLock()
    private nonisolated(unsafe) var stored: [Key: (response: APIResponse, end: DispatchTime)] = [:]
    private let scheduler: any Scheduler

    init(scheduler: any Scheduler) { self.scheduler = scheduler }

    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        guard request.method == .get, request.body == nil, request.destination == .memory else { return next(request) }
        return .deferred { [self] in
            // What the transport adds in silence may be a credential.
            guard let key = key(of: request) else { return next(request) }
            if var hit = lock.withLock({ stored[key] }), hit.end > scheduler.now {
                hit.response.isFromCache = true
                return .just(hit.response)
            }
            return next(request).do(onSuccess: { [self] response in
                guard response.statusCode == 200, response.request.redirects.isEmpty, !response.wasRedirectedByTransport,
                    let age = response.maxAge, response.headers["Vary"] == nil
                else { return }
                lock.withLock { stored[key] = (response, scheduler.now + .seconds(age)) }
            })
        }
    }

    private func key(of request: PreparedRequest) -> Key? {
        let names = ["Authorization", "Cookie"]
        guard let added = request.addedHeaders else { return nil }
        return Key(url: request.url, user: names.map { request.headers[$0] ?? added[$0] })
    }
}

extension APIResponse {
    fileprivate var maxAge: Int? {
        guard let control = value(forHTTPHeaderField: "Cache-Control"), control.hasPrefix("max-age=") else { return nil }
        return Int(control.dropFirst(8))
    }
}
