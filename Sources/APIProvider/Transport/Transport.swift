public import Foundation
public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

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
    /// - Parameters:
    ///   - request: The request to send.
    ///   - progress: Called as bytes are sent and received, on any thread, one call at a time.
    func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse>

    /// Returns a single that sends `request` at each subscription, and writes the body to `destination` if the status is in 200...299. The
    /// data of that response is empty. With any other status, the body is in the response's data, and the destination does not change.
    ///
    /// At every moment, the destination is either complete or as it was before. After a failure or a dispose, nothing is left behind.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - destination: The file to write. Its folder must exist. An old file is replaced and its mode kept, and a link to a file is
    ///     followed.
    ///   - progress: Called as bytes are sent and received, on any thread, one call at a time.
    func download(_ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse>

    /// Returns a single that sends `request` at each subscription, and succeeds when the head of a response with a status in 200...299 has come.
    /// The body of that response is read while it comes. With any other status, the single waits for the body, which is in the response's data.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - progress: Called as bytes are sent and received, on any thread, one call at a time.
    func stream(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse>
}

extension Transport {
    /// Sends `request`. The whole body is the one chunk of the stream.
    public func stream(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> {
        send(request, progress: progress)
    }

    /// Sends `request`, and writes the body to `destination` when all of it is in memory.
    public func download(
        _ request: URLRequest, to destination: URL, progress: (@Sendable (TransferProgress) -> Void)?
    ) -> Single<APIResponse> {
        send(request, progress: progress).map { response in
            guard response.response.isAccepted else { return response }
            try response.write(to: destination)
            return APIResponse(request: response.request, response: response.response, data: Data())
        }
    }
}

extension APIResponse {
    func write(to destination: URL) throws {
        do { try PartialFile.replace(destination, with: data) } catch { throw APIError.transport(request, underlying: error) }
    }
}

/// A transport that calls a closure.
public struct ClosureTransport: Transport {
    private let send: @Sendable (URLRequest) -> Single<APIResponse>

    /// Creates a transport that calls `send` for each request.
    public init(_ send: @escaping @Sendable (URLRequest) -> Single<APIResponse>) { self.send = send }

    /// Returns the closure's single. It reports no progress.
    public func send(_ request: URLRequest, progress: (@Sendable (TransferProgress) -> Void)?) -> Single<APIResponse> { send(request) }
}
