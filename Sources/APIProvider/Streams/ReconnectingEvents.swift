public import Dispatch
import Foundation
public import MiniRx

extension APIProvider {
    /// Returns the events of `request`, which is sent again when the stream ends or its connection breaks.
    ///
    /// ```swift
    /// for try await event in provider.events(Endpoint(.get, "/changes")) { apply(event) }
    /// ```
    ///
    /// ### The next request
    ///
    /// It has the header `Last-Event-ID` if the server has sent an identifier. That of the endpoint is sent until then, and no more after
    /// it, also if the server's is empty. It waits for the backoff of `policy`, which grows while no event comes, and at least for half of
    /// the `baseDelay`. If the server names a time in `retry` or `Retry-After`, it waits at least that long, and up to `baseDelay` more. A
    /// `retry` counts as at most the `maxDelay`.
    ///
    /// ### Without a connection
    ///
    /// The `shouldRetry` of `policy` is asked each time that such a request fails, also if it leaves the decision to the policy. It is not
    /// asked when a stream that has begun ends or breaks. So it can say that the app is offline, until the next event comes.
    ///
    /// ### The end
    ///
    /// The sequence ends at a 204 (WHATWG HTML, section 9.2). It throws at a status that `policy` does not retry, and at errors that
    /// another attempt cannot fix. If `policy` limits the attempts, it also throws after that many attempts in a row without a stream, and
    /// at a `Retry-After` that is longer than the `maxDelay`. By default it goes on for ever.
    ///
    /// Cancelling the task, or releasing the iterator, ends the stream or the wait.
    ///
    /// ### Sign-out
    ///
    /// Events belong to the user who is signed in at their first request. After a sign-out, no other request is sent with a credential, and
    /// the sequence throws.
    ///
    /// - Parameters:
    ///   - request: The request. Its method must be one that `policy` retries, such as GET: another fails with
    ///     ``APIError/invalidRequest(reason:underlying:)``.
    ///   - policy: Says after which statuses, how often and after what delay it is sent again.
    ///   - scheduler: The scheduler on which it waits. In tests, use a `TestScheduler`.
    /// - Returns: The events. Several iterators may read them: each sends its own requests, when it is first asked for an event.
    public func events(
        _ request: some APIRequest<ServerSentEvents>, reconnecting policy: RetryPolicy = .reconnecting,
        scheduler: any Scheduler = ConcurrentDispatchQueueScheduler(qos: .utility)
    ) -> ReconnectingEvents {
        ReconnectingEvents(policy: policy, pause: { .timer($0, scheduler) }, method: { request.endpoint.method }) {
            lastEventID, signOutCount, willSend in
            var endpoint = request.endpoint.adapting { willSend($0) }
            endpoint.configuration.signOutCount = signOutCount
            if let lastEventID {
                endpoint.headers["Last-Event-ID"] = lastEventID.isEmpty || !lastEventID.isFieldValue ? nil : lastEventID
            }
            return self.request(endpoint.withResponse())
        }
    }
}

// MARK: - The sequence

/// The events of a request that is sent again when its stream ends. See ``APIProvider/events(_:reconnecting:scheduler:)``.
public struct ReconnectingEvents: AsyncSequence, Sendable {
    let policy: RetryPolicy
    let pause: @Sendable (DispatchTimeInterval) -> Single<Void>
    let method: @Sendable () -> HTTPMethod
    let connect:
        @Sendable (_ lastEventID: String?, _ signOutCount: Int?, _ willSend: @escaping @Sendable (PreparedRequest) -> Void) -> Single<
            (value: ServerSentEvents, response: APIResponse)
        >

    /// Returns an iterator that sends the request and reads its events.
    public func makeAsyncIterator() -> AsyncIterator { AsyncIterator(events: self) }

    /// Sends the request, again and again, and reads its events.
    public struct AsyncIterator: AsyncIteratorProtocol {
        private let events: ReconnectingEvents
        private var stream: ServerSentEvents.AsyncIterator?
        /// The last identifier that the server has sent; `nil` if it has sent none.
        private var lastEventID: String?
        /// The time to wait that the last `retry:` of the server has set, in milliseconds.
        private var retry: Int?
        /// The number of reconnects since the last event.
        private var reconnectAttempts = 0
        /// The last request for the events, before middlewares. That of an error may be another one, such as that of a refresh.
        private let request = Locked<PreparedRequest?>(nil)
        /// The last request for the events that a redirect led to.
        private var redirectedRequest: PreparedRequest?
        /// The number of requests in a row that have got no stream.
        private var failures = 0
        private var isFinished = false
        /// The `Retry-After` of the last refusal, in seconds.
        private var retryAfter: Double?
        /// The number of sign-outs when the first request was subscribed to.
        private var signOutCount: Int?

        init(events: ReconnectingEvents) { self.events = events }

        /// Waits for an event and returns it; `nil` is the end.
        ///
        /// - Throws: The error of a request that is not repeated, or `CancellationError`.
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

        /// Returns the next event, or `nil` if the stream has ended or has failed, and another request may succeed.
        private mutating func readUnlessDisconnected() async throws -> ServerSentEvent? {
            do { return try await read() } catch {
                guard try recordFailure(error) else { throw error }
                return nil
            }
        }

        private mutating func read() async throws -> ServerSentEvent? {
            if stream == nil {
                try requireRepeatable()
                signOutCount = signOutCount ?? SignOutCounter.current
                retryAfter = nil
                let (value, response) = try await events.connect(lastEventID, signOutCount) { [request] sent in
                    _ = request.withLock { exchange(&$0, with: sent) }
                }.value
                redirectedRequest = Result.success(response).redirectedRequest
                failures = 0
                isFinished = response.statusCode == 204
                stream = value.makeAsyncIterator()
                stream?.events.parser.resume(from: lastEventID)
            }
            defer {
                lastEventID = stream?.events.parser.lastEventID ?? lastEventID
                retry = stream?.events.parser.retry ?? retry
            }
            return try await stream?.next()
        }

        /// Throws if the server may have acted on a request that is not to be sent again.
        private func requireRepeatable() throws {
            let (methods, method) = (events.policy.methods, events.method())
            let isRepeatable = redirectedRequest?.isIdempotent(methods) ?? true
            guard methods.contains(method), isRepeatable else {
                let subject = isRepeatable ? method.rawValue : "the request that a redirect has led to"
                throw APIError.invalid("\(subject) may not be sent again when its events end; use GET, or read the events of one request")
            }
        }

        // MARK: - Failures and waits

        /// Counts a failed request and notes its `Retry-After`. Returns whether another request may succeed: after `maxAttempts` requests
        /// in a row without a stream, none may.
        private mutating func recordFailure(_ error: any Error) throws -> Bool {
            let isTransient = ((error as? APIError)?.urlError ?? error as? URLError)?.isTransient == true
            guard stream == nil else { return isTransient }
            failures += 1
            redirectedRequest = Result.failure(error).redirectedRequest
            guard failures < events.policy.maxAttempts else { return false }
            // The error may be that of a refresh, whose request is not idempotent. It is the events that are requested again.
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
            // A server that sends no events is asked less and less often, whatever its `retry` is. A `retry` of a day is cut to `maxDelay`,
            // but a `Retry-After` is not.
            let asked = Swift.max(Swift.min(Double(retry ?? 0) / 1000, policy.maxDelay.seconds), retryAfter ?? 0, 0)
            let wait = policy.delay(after: reconnectAttempts, atLeast: asked, random: random).seconds
            let least = policy.delay(after: 1, random: (1 + random) / 2).seconds
            try await events.pause(DispatchTimeInterval(seconds: Swift.max(wait, least))).value
        }
    }
}
