public import Dispatch
import Foundation
public import MiniRx

extension APIProvider {
    /// Returns the events of `request`. When the stream ends or the connection breaks, the request is sent again.
    ///
    /// ```swift
    /// for try await event in provider.events(Endpoint(.get, "/changes")) { apply(event) }
    /// ```
    ///
    /// ### The next request
    ///
    /// The header `Last-Event-ID` is the endpoint's until the server sends an identifier, and then the server's last one. After an empty
    /// one, the header is left out. The request is sent after the exponential backoff of `policy`, which grows without events, and after at
    /// least half of the `baseDelay`. If the server asks for a wait, with `retry` (capped at `maxDelay`) or `Retry-After`, the wait is at
    /// least that long, plus up to `baseDelay`.
    ///
    /// ### Without a connection
    ///
    /// The `shouldRetry` of `policy` is called after each failed request, but not when a running stream ends or breaks. So the closure can
    /// show that the app is offline, until the next event, and return `nil`.
    ///
    /// ### The end
    ///
    /// The sequence ends at a 204 (WHATWG HTML, section 9.2), and throws at a status that `policy` does not retry, and at errors that
    /// another attempt cannot fix. If `policy` limits the attempts, the sequence also throws after that many attempts in a row without a
    /// stream, and at a `Retry-After` longer than the `maxDelay`. By default, the sequence goes on forever.
    ///
    /// Cancelling the task, or releasing the iterator, ends the stream or the wait.
    ///
    /// ### Sign-out
    ///
    /// Events belong to the user signed in at the first request. After a sign-out, no other request is sent with a credential, and the
    /// sequence throws.
    ///
    /// - Parameters:
    ///   - request: The request, with a method that `policy` retries, such as GET: another fails with
    ///     ``APIError/invalidRequest(reason:underlying:)``.
    ///   - policy: The rules: after which statuses, how often, and after what delay to send again.
    ///   - scheduler: Schedules the waits. In tests, use a `TestScheduler`.
    /// - Returns: The events. Several iterators may read them: each sends separate requests, from the first `next()` on.
    public func events(
        _ request: some APIRequest<ServerSentEvents>, reconnecting policy: RetryPolicy = .reconnecting,
        scheduler: any Scheduler = ConcurrentDispatchQueueScheduler(qos: .utility)
    ) -> ReconnectingEvents {
        ReconnectingEvents(policy: policy, pause: { .timer($0, scheduler) }, endpoint: { request.endpoint }) {
            self.request($0.withResponse())
        }
    }
}

// MARK: - The sequence

/// A request's events. When the stream ends, the request is sent again: see ``APIProvider/events(_:reconnecting:scheduler:)``.
public struct ReconnectingEvents: AsyncSequence, Sendable {
    let policy: RetryPolicy
    let pause: @Sendable (DispatchTimeInterval) -> Single<Void>
    let endpoint: @Sendable () -> Endpoint<ServerSentEvents>
    let send: @Sendable (Endpoint<ServerSentEvents>) -> Single<(value: ServerSentEvents, response: APIResponse)>

    /// Returns an iterator that sends the request and reads the events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self) }

    /// Sends the request again and again, and reads the events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let events: ReconnectingEvents
        private var stream: ServerSentEvents.Reader?
        /// The server's last identifier; `nil` without one.
        private var lastEventID: String?
        /// The server's last `retry:`, in milliseconds.
        private var retry: Int?
        /// The number of reconnects since the last event.
        private var reconnectAttempts = 0
        /// The last request for the events, before middlewares. An error may name another request, such as a refresh.
        private let request = Locked<PreparedRequest?>(nil)
        /// The last redirected request for the events.
        private var redirectedRequest: PreparedRequest?
        /// The number of requests in a row without a stream.
        private var failures = 0
        private var isFinished = false
        /// The last refusal's `Retry-After`, in seconds.
        private var retryAfter: Double?
        /// The number of sign-outs at the first request's subscription.
        private var signOutCount: Int?

        init(events: ReconnectingEvents) { self.events = events }

        /// Waits for an event and returns it; `nil` at the end.
        ///
        /// - Throws: The error of an unrepeated request, or `CancellationError`.
        public mutating func next() async throws -> ServerSentEvent? {
            do {
                while !isFinished {
                    if let event = try await readUnlessDisconnected() {
                        reconnectAttempts = 0
                        return event
                    }
                    stream = nil
                    guard !isFinished else { break }
                    reconnectAttempts += 1
                    try await waitBeforeReconnecting()
                }
                return nil
            } catch {
                (stream, isFinished) = (nil, true)
                throw error
            }
        }

        /// Returns the next event, or `nil` if the stream ended or failed, and another request may succeed.
        private mutating func readUnlessDisconnected() async throws -> ServerSentEvent? {
            do { return try await read() } catch {
                guard try recordFailure(error) else { throw error }
                return nil
            }
        }

        private mutating func read() async throws -> ServerSentEvent? {
            if stream == nil {
                let endpoint = try nextEndpoint()
                retryAfter = nil
                let (value, response) = try await events.send(endpoint).value
                redirectedRequest = Result.success(response).redirectedRequest
                failures = 0
                isFinished = response.statusCode == 204
                stream = value.makeReader(resumingFrom: lastEventID)
            }
            defer {
                let new = stream?.settings()
                (lastEventID, retry) = (new?.lastEventID ?? lastEventID, new?.retry ?? retry)
            }
            return try await stream?.events.next()
        }

        /// Throws if the server may have acted on a request unsafe to repeat.
        private mutating func nextEndpoint() throws -> Endpoint<ServerSentEvents> {
            var endpoint = events.endpoint().adapting { [request] sent in _ = request.withLock { exchange(&$0, with: sent) } }
            let methods = events.policy.methods
            let isRepeatable = redirectedRequest?.isIdempotent(methods) ?? true
            guard methods.contains(endpoint.method), isRepeatable else {
                let subject = isRepeatable ? endpoint.method.rawValue : "the request that a redirect has led to"
                throw APIError.invalid("\(subject) may not be sent again when its events end; use GET, or read the events of one request")
            }
            signOutCount = signOutCount ?? SignOutCounter.current
            endpoint.configuration.signOutCount = signOutCount
            if let lastEventID {
                endpoint.headers["Last-Event-ID"] = lastEventID.isEmpty || !lastEventID.isFieldValue ? nil : lastEventID
            }
            return endpoint
        }

        // MARK: - Failures and waits

        /// Counts a failed request and notes the `Retry-After`. Returns whether another request may succeed: after `maxAttempts` requests
        /// in a row without a stream, none may.
        private mutating func recordFailure(_ error: any Error) throws -> Bool {
            let isTransient = ((error as? APIError)?.urlError ?? error as? URLError)?.isTransient == true
            guard stream == nil else { return isTransient }
            failures += 1
            redirectedRequest = Result.failure(error).redirectedRequest
            guard failures < events.policy.maxAttempts else { return false }
            // The error may be a refresh's, with a non-idempotent request. But the events are requested again.
            let (policy, request) = (events.policy, request.withLock { $0 })
            switch error as? APIError {
            case .transport(let failed, _): return try policy.shouldRetry?(request ?? failed, .failure(error)) ?? isTransient
            case .unacceptableStatus(let response):
                retryAfter = response.retryAfter(now: Date())
                let isRetried = try policy.shouldRetry?(request ?? response.request, .success(response))
                guard isRetried ?? policy.statuses.contains(response.statusCode) else { return false }
                return policy.maxAttempts == .max || retryAfter ?? 0 <= policy.maxDelay.seconds
            default: return isTransient
            }
        }

        private func waitBeforeReconnecting() async throws {
            let (policy, random) = (events.policy, Double.random(in: 0...1))
            // A server without events is asked less and less often, whatever the `retry`. A `retry` of a day is cut to `maxDelay`, but a
            // `Retry-After` is not.
            let asked = Swift.max(Swift.min(Double(retry ?? 0) / 1000, policy.maxDelay.seconds), retryAfter ?? 0, 0)
            let wait = policy.delay(after: reconnectAttempts, atLeast: asked, random: random).seconds
            let least = policy.delay(after: 1, random: (1 + random) / 2).seconds
            try await events.pause(DispatchTimeInterval(seconds: Swift.max(wait, least))).value
        }
    }
}
