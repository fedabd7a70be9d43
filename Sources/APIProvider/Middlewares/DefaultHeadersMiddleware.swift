import Foundation
public import MiniRx

/// Sets headers that a request does not have. Names are case-insensitive.
///
/// It also sets a `User-Agent` such as `Stars/1.2 (iOS 17.5.1) APIProvider` (RFC 9110, section 10.1.5). It has the name and version of the
/// app's bundle, or the name of the process if there is no bundle. To send another, pass your own `User-Agent`.
///
/// If a name is not a token, or a value has a control character other than a tab, every request fails with
/// ``APIError/invalidRequest(reason:underlying:)``.
public struct DefaultHeadersMiddleware: Middleware {
    private let headers: HTTPHeaders

    /// Creates a middleware that sets `headers`.
    public init(_ headers: HTTPHeaders) {
        self.headers = (["User-Agent": UserAgent.ofThisProcess] as HTTPHeaders).merging(headers)
    }

    /// Sends `request` with the headers that it does not have.
    public func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        var request = request
        request.addMissing(headers)
        do { try request.check() } catch { return .error(error) }
        return next(request)
    }
}
