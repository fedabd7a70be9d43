public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sits between a provider and its transport. It may change requests, look at responses, or send a request again.
///
/// The first middleware of a provider is the outermost: it sees the request first and the response last.
///
/// ```swift
/// struct Version: Middleware {
///     func intercept(
///         _ request: URLRequest, options: RequestOptions, next: @escaping Next
///     ) -> Single<APIResponse> {
///         var request = request
///         request.setValue("2022-11-28", forHTTPHeaderField: "X-GitHub-Api-Version")
///         return next(request)
///     }
/// }
/// ```
public protocol Middleware: Sendable {
    /// Sends a request to the next middleware or the transport.
    typealias Next = @Sendable (URLRequest) -> Single<APIResponse>

    /// Returns the single of the response to `request`.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - options: The options of the endpoint.
    ///   - next: Sends a request on. Call it once, several times, or not at all.
    func intercept(_ request: URLRequest, options: RequestOptions, next: @escaping Next) -> Single<APIResponse>
}
