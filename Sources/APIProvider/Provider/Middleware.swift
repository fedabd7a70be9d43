public import MiniRx

/// Changes requests, inspects responses, or sends a request again, between a provider and its transport.
///
/// The first middleware of a provider is the outermost: it sees the request first and the response last.
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

    /// Returns the single of the response to `request`.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - next: Sends a request on. Call it once, several times, or not at all.
    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse>
}
