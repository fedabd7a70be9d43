import Foundation
public import MiniRx

/// Sends requests. Write your own transport to replace `URLSession`.
///
/// ```swift
/// let offline = ClosureTransport { request in
///     .error(URLError(.notConnectedToInternet))
/// }
/// let provider = DefaultAPIProvider(baseURL: api, transport: offline)
/// ```
public protocol Transport: Sendable {
    /// Returns a single that sends `request` at each subscription, and succeeds with a response of any status. Disposing stops the
    /// transfer.
    ///
    /// Return redirects as responses: the provider follows them by ``RequestOptions/redirectPolicy``, and calls this method for each next
    /// request. Fail a request with an unknown scheme: nothing else checks the scheme. The URL has no fragment.
    ///
    /// A transport without support for files or streams may return the body in memory. The body then goes to the file, or is the stream's
    /// only chunk.
    func send(_ request: PreparedRequest) -> Single<APIResponse>

    /// Returns the header fields that the transport would add or replace in `request` now: cookies, and the configuration's defaults.
    ///
    /// For a cache, because a response may vary by these fields. The default `nil` means unknown: a response that varies by `Authorization`
    /// or `Cookie` is then stored only if the request itself has that header. Return `[:]` for no fields.
    func addedHeaders(for request: PreparedRequest) -> HTTPHeaders?

    /// The clock for ``Endpoint/timeout(_:)``, by default the system's. A transport for tests may have virtual time.
    var scheduler: any Scheduler { get }
}

private let systemScheduler = ConcurrentDispatchQueueScheduler(qos: .userInitiated)

extension Transport {
    /// The system's time.
    public var scheduler: any Scheduler { systemScheduler }

    /// `nil`: unknown.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? { nil }
}

/// Sends requests with a closure.
public struct ClosureTransport: Transport {
    @HiddenFromReflection private var addedHeaders: HTTPHeaders?
    private let send: @Sendable (PreparedRequest) -> Single<APIResponse>

    /// Creates a transport that calls `send` for each request.
    ///
    /// - Parameters:
    ///   - addedHeaders: The header fields that `send` adds to each request, or `[:]`. `nil` means unknown: see
    ///     ``Transport/addedHeaders(for:)``.
    ///   - send: Returns the response to a request.
    public init(addedHeaders: HTTPHeaders? = nil, _ send: @escaping @Sendable (PreparedRequest) -> Single<APIResponse>) {
        (self.addedHeaders, self.send) = (addedHeaders, send)
    }

    /// The transport's `addedHeaders`.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? { addedHeaders }

    /// Returns the closure's single for `request`.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> { send(request) }
}
