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
}

/// A transport that knows which header fields it adds to a request.
@_spi(Transports) public protocol HeaderAddingTransport: Transport {
    /// Returns `request` with the header fields that it would be sent with now: those of the configuration, and cookies.
    func addingHeaders(to request: PreparedRequest) -> PreparedRequest
}

/// A middleware that needs to know which header fields the transport of its provider adds.
package protocol TransportAwareMiddleware: Middleware {
    /// Returns the middleware that a provider with `transport` uses in place of this one.
    func adapted(to transport: any HeaderAddingTransport) -> any Middleware
}

/// A transport that calls a closure.
public struct ClosureTransport: Transport {
    private let send: @Sendable (PreparedRequest) -> Single<APIResponse>

    /// Creates a transport that calls `send` for each request.
    public init(_ send: @escaping @Sendable (PreparedRequest) -> Single<APIResponse>) { self.send = send }

    /// Returns the closure's single for `request`.
    public func send(_ request: PreparedRequest) -> Single<APIResponse> { send(request) }
}
