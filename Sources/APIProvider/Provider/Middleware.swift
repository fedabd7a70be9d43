public import MiniRx

/// Changes requests, inspects responses, or sends a request again, between a provider and the transport.
///
/// A provider's first middleware is the outermost: the first to see the request, and the last to see the response.
///
/// ```swift
/// struct Version: Middleware {
///     func intercept(
///         _ request: PreparedRequest, next: @escaping Next
///     ) -> Single<APIResponse> {
///         var request = request
///         request.headers["X-GitHub-Api-Version"] = "2022-11-28"
///         return next(request)
///     }
/// }
/// ```
public protocol Middleware: Sendable {
    /// Sends a request to the next middleware or the transport.
    typealias Next = @Sendable (PreparedRequest) -> Single<APIResponse>

    /// Returns a single with the response to `request`.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - next: Sends a request on. Call it once, several times, or not at all.
    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse>
}
