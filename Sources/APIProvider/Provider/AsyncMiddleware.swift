public import MiniRx

/// A ``Middleware`` with an `async` method.
///
/// ```swift
/// struct Signature: AsyncMiddleware {
///     let signer: any Signer
///
///     func intercept(
///         _ request: PreparedRequest, next: @escaping AsyncNext
///     ) async throws -> APIResponse {
///         var request = request
///         let body = try request.body?.data() ?? Data()
///         request.headers["X-Signature"] = try await signer.signature(of: body)
///         return try await next(request)
///     }
/// }
/// ```
///
/// Each request runs in a task. Disposing the request cancels the task, and cancelling the task cancels requests sent by `next`.
public protocol AsyncMiddleware: Middleware {
    /// Sends a request to the next middleware or the transport.
    typealias AsyncNext = @Sendable (PreparedRequest) async throws -> APIResponse

    /// Returns the response to `request`.
    ///
    /// - Parameters:
    ///   - request: The request to send.
    ///   - next: Sends a request on. Call it once, several times, or not at all.
    func intercept(_ request: PreparedRequest, next: @escaping AsyncNext) async throws -> APIResponse
}

extension AsyncMiddleware {
    /// Calls the `async` method with `request`, and with `next` as an `async` closure.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        .create {
            let send: AsyncNext = { try await next($0).value }
            return try await intercept(request, next: send)
        }
    }
}
