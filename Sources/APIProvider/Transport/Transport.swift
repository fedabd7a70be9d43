public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// How far a transfer has come. A total is `nil` while nobody knows it.
public struct TransferProgress: Sendable, Hashable {
    /// Bytes of the request's body that have been sent.
    public var bytesSent: Int64
    /// Bytes of the request's body in all.
    public var bytesToSend: Int64?
    /// Bytes of the response's body that have come.
    public var bytesReceived: Int64
    /// Bytes of the response's body in all.
    public var bytesToReceive: Int64?

    /// Creates a report, as a ``Transport`` does.
    public init(bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}

/// Sends requests: the place to put something else than the network.
///
/// ```swift
/// let offline = AnyTransport { request in .error(URLError(.notConnectedToInternet)) }
/// let provider = DefaultAPIProvider(transport: offline)
/// ```
public protocol Transport: Sendable {
    /// A single that sends `request` at each subscription, and succeeds with the response whatever its status. Disposing it stops the
    /// transfer.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Called as bytes go and come, on any thread, one call at a time.
    func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse>
}

/// A transport made of a closure.
public struct AnyTransport: Transport {
    private let send: @Sendable (URLRequest) -> Single<APIResponse>

    /// A transport that asks `send` for the single of each request.
    public init(_ send: @escaping @Sendable (URLRequest) -> Single<APIResponse>) { self.send = send }

    /// The closure's single. It reports no progress.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> { send(request) }
}
