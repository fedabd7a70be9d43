public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
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
/// let provider = DefaultAPIProvider(baseURL: api, transport: offline)
/// ```
public protocol Transport: Sendable {
    /// A single that sends `request` at each subscription, and succeeds with the response whatever its status. Disposing it stops the
    /// transfer.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - progress: Called as bytes go and come, on any thread, one call at a time.
    func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse>

    /// A single that sends `request` at each subscription, and writes the body of an accepted response, with a status in 200...299, to
    /// `destination`: then the response's data is empty. That of a refused one is in its data, and the destination untouched.
    ///
    /// The destination is whole or untouched at every moment. On failure, and when the single is disposed, nothing is left behind.
    ///
    /// - Parameters:
    ///   - request: What to send.
    ///   - destination: The file to write. Its folder must exist. An old file is replaced and its mode kept, and a link to a file is followed.
    ///   - progress: Called as bytes go and come, on any thread, one call at a time.
    func download(_ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse>
}

extension Transport {
    /// Sends `request`, and writes the body to `destination` once the whole of it is in memory.
    public func download(
        _ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        send(request, progress: progress).map { response in
            guard response.response.isAccepted else { return response }
            do { try PartialFile.replace(destination, with: response.data) } catch { throw APIError.transport(request, underlying: error) }
            return APIResponse(request: response.request, response: response.response, data: Data())
        }
    }
}

/// A transport made of a closure.
public struct AnyTransport: Transport {
    private let send: @Sendable (URLRequest) -> Single<APIResponse>

    /// A transport that asks `send` for the single of each request.
    public init(_ send: @escaping @Sendable (URLRequest) -> Single<APIResponse>) { self.send = send }

    /// The closure's single. It reports no progress.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> { send(request) }
}
