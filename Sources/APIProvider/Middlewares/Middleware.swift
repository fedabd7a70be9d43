public import MiniRx

#if canImport(FoundationNetworking)
public import FoundationNetworking
#else
public import Foundation
#endif

/// Stands between a provider and its transport: changes requests, looks at responses, tries again.
///
/// The first middleware of a provider is the outermost: it sees the request first and the response last.
///
/// ```swift
/// struct Version: Middleware {
///     func intercept(
///         _ request: URLRequest, options: RequestOptions, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>
///     ) -> Single<APIResponse> {
///         var request = request
///         request.setValue("2022-11-28", forHTTPHeaderField: "X-GitHub-Api-Version")
///         return next(request)
///     }
/// }
/// ```
public protocol Middleware: Sendable {
    /// Returns the single of the response to `request`.
    ///
    /// - Parameters:
    ///   - request: What is to be sent.
    ///   - options: What the endpoint says to middlewares.
    ///   - next: Hands a request on. It may be called several times, or not at all.
    func intercept(
        _ request: URLRequest, options: RequestOptions, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>
    ) -> Single<APIResponse>
}
