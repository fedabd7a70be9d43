import Foundation
public import MiniRx

/// Sends requests. Write your own to use something other than `URLSession`.
///
/// ```swift
/// let offline = ClosureTransport { request in
///     .error(URLError(.notConnectedToInternet))
/// }
/// let provider = DefaultAPIProvider(baseURL: api, transport: offline)
/// ```
public protocol Transport: Sendable {
    /// Returns a single that sends `request` at each subscription, and succeeds with the response, whatever its status. Disposing stops the
    /// transfer.
    ///
    /// Return redirects as responses: the provider follows them as ``RequestOptions/redirectPolicy`` says, and calls this method for each
    /// request that they lead to. Fail a request whose URL has a scheme that the transport does not know: nothing else looks at it. The URL
    /// has no fragment.
    ///
    /// A transport that does not support files or streams may return the body in memory. The body is then written to the file, or becomes
    /// the only chunk of the stream.
    func send(_ request: PreparedRequest) -> Single<APIResponse>

    /// Returns the header fields that the transport would add to `request` now, or set in place of its own: cookies, and defaults of its
    /// configuration.
    ///
    /// A cache asks, because a response may vary by them. The default is `nil`, which means that they are unknown. Then a response that
    /// varies by `Authorization` or `Cookie` is stored only if the request itself has that header. Return `[:]` if the transport adds none.
    func addedHeaders(for request: PreparedRequest) -> HTTPHeaders?
}

extension Transport {
    /// `nil`: they are unknown.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? { nil }
}

/// A transport that calls a closure.
public struct ClosureTransport: Transport {
    @HiddenFromReflection private var addedHeaders: HTTPHeaders?
    private let send: @Sendable (PreparedRequest) -> Single<APIResponse>

    /// Creates a transport that calls `send` for each request.
    ///
    /// - Parameters:
    ///   - addedHeaders: The header fields that `send` adds to each request: `[:]` if it adds none. `nil` means that they are unknown: see
    ///     ``Transport/addedHeaders(for:)``.
    ///   - send: Returns the response to a request.
    public init(addedHeaders: HTTPHeaders? = nil, _ send: @escaping @Sendable (PreparedRequest) -> Single<APIResponse>) {
        (self.addedHeaders, self.send) = (addedHeaders, send)
    }

    /// The headers that the transport was created with.
    public func addedHeaders(for request: PreparedRequest) -> HTTPHeaders? { addedHeaders }

    /// Returns the closure's single for `request`.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> { send(request) }
}
