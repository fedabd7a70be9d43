public import Dispatch
import Foundation
import MiniRx

// Modifiers: each returns a changed copy.
extension Endpoint {
    // MARK: - Request and response

    /// Changes the built request. Set a header that depends on other headers, or, through ``PreparedRequest/urlRequest``, a property that
    /// only `URLRequest` has.
    ///
    /// `adapt` runs on the subscriber's thread. After a thrown error, nothing is sent, and the error reaches the subscriber unchanged.
    /// Several closures run in the order of their addition.
    public func adapting(_ adapt: @escaping @Sendable (inout PreparedRequest) throws -> Void) -> Endpoint {
        var copy = self
        copy.configuration.adapt = { [first = configuration.adapt] request in
            try first?(&request)
            try adapt(&request)
        }
        return copy
    }

    /// Replaces the check for a status in 200...299.
    ///
    /// `validate` runs before the decoding, on a background queue. A thrown error reaches the subscriber unchanged. After an accepted
    /// status, a body that does not fit the response type still fails to decode.
    public func validating(_ validate: @escaping @Sendable (APIResponse) throws -> Void) -> Endpoint {
        var copy = self
        copy.configuration.validate = validate
        return copy
    }

    /// Reads the response with `decoder` in place of the provider's, and asks for the decoder's media type in `Accept`.
    ///
    /// ```swift
    /// Endpoint<Item>(.get, "/item.plist").decoder(PropertyListDecoder())
    /// ```
    ///
    /// The decoder also reads an error's body: `error.response?.decode(Problem.self)`. Do not change the decoder afterwards.
    public func decoder(_ decoder: any BodyDecoder) -> Endpoint {
        var copy = self
        copy.configuration.decoder = decoder
        return copy
    }

    /// Transforms the value, on the same background queue. If `transform` throws, the request fails with that error.
    public func map<Value: Sendable>(_ transform: @escaping @Sendable (Response) throws -> Value) -> Endpoint<Value> {
        Endpoint<Value>(self) { [decode] in try transform(decode($0)) }
    }

    /// Adds the response to the value, so that you can read the headers: links to pages, entity tags, rate limits.
    public func withResponse() -> Endpoint<(value: Response, response: APIResponse)> {
        Endpoint<(value: Response, response: APIResponse)>(self) { [decode] in (try decode($0), $0) }
    }

    // MARK: - Progress

    /// Calls `report` with the transfer's progress, one call at a time, on a background queue. The value comes after the last call.
    ///
    /// Progress starts again after a redirect, without counting the redirect's body, and with each attempt of a retry.
    public func onProgress(_ report: @escaping @Sendable (TransferProgress) -> Void) -> Endpoint {
        var copy = self
        copy.configuration.progressHandlers.append(ProgressReporter.Handler(report: report))
        return copy
    }

    /// Reports the transfer's progress on the main actor, at most once in each `interval`.
    ///
    /// ```swift
    /// endpoint.onProgress(on: MainActor.shared) {
    ///     bar.progress = $0.fractionSent ?? 0
    /// }
    /// ```
    ///
    /// The last report comes before the value if you observe the single with `observe(on: MainActor.shared)`. Disposing ends the reports.
    ///
    /// - Parameters:
    ///   - actor: The main actor.
    ///   - interval: The shortest time between two reports. By default, there are at most ten in a second.
    ///   - report: Called on the main actor.
    public func onProgress(
        on actor: MainActor, every interval: DispatchTimeInterval = .milliseconds(100),
        _ report: @escaping @MainActor (TransferProgress) -> Void
    ) -> Endpoint {
        var copy = self
        copy.configuration.progressHandlers.append(
            ProgressReporter.Handler(interval: interval) { progress in MainActor.assumeIsolated { report(progress) } })
        return copy
    }

    // MARK: - Time and options

    /// Limits the whole request to `time`. ``timeoutInterval`` limits the server's silence.
    ///
    /// The time runs from the subscription, with redirects, retries, middlewares and waits, to the value, or to the head of a streamed
    /// response. The error is an ``APIError/transport(_:underlying:)`` with `URLError.timedOut`, and names this timeout.
    public func timeout(_ time: DispatchTimeInterval) -> Endpoint {
        var copy = self
        copy.configuration.timeout = time
        return copy
    }

    /// Sets an `option` for middlewares to `value`: `.option(\.retryPolicy, .never)`.
    public func option<Value: Sendable>(_ option: WritableKeyPath<RequestOptions, Value>, _ value: Value) -> Endpoint {
        var copy = self
        copy.options[keyPath: option] = value
        return copy
    }
}

extension Single {
    /// Fails when `request` takes longer than `timeout`, the endpoint's limit for the whole request.
    func failing(after timeout: DispatchTimeInterval, _ request: PreparedRequest, _ scheduler: any Scheduler) throws -> Single {
        guard timeout.seconds > 0 else { throw APIError.invalid("its timeout must be more than 0 seconds") }
        let reason = "it took longer than its endpoint's timeout of \(timeout.seconds) seconds"
        let error = APIError.transport(request, underlying: URLError(.timedOut, reason: reason))
        return self.timeout(timeout, scheduler, error: error)
    }
}

extension RequestOptions {
    /// The request's name in logs and metrics, such as `user(login:)`. Without a name, they show the URL.
    public var name: String? {
        get { self[NameKey.self] }
        set { self[NameKey.self] = newValue }
    }
}

private enum NameKey: BuiltInOptionKey { static var defaultValue: String? { nil } }
