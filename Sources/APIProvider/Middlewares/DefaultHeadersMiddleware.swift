public import MiniRx

#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

/// Sets headers that a request does not have, whatever the case of their names.
///
/// It also sets a `User-Agent` such as `Stars/1.2 (iOS 17.5.1) APIProvider` (RFC 9110, section 10.1.5), with the name and the version of the
/// app's bundle, or the name of the process where there is none. Give a `User-Agent` of your own to send that.
///
/// A name that is no token and a value with CR, LF or NUL make every request an ``APIError/invalidRequest(reason:underlying:)``.
public struct DefaultHeadersMiddleware: Middleware {
    private let headers: HTTPHeaders

    /// A middleware that sets `headers`.
    public init(_ headers: HTTPHeaders) {
        var headers = headers
        headers["User-Agent"] = headers["User-Agent"] ?? UserAgent.ofThisProcess
        self.headers = headers
    }

    /// Hands on `request` with the headers that it lacks.
    public func intercept(
        _ request: URLRequest, options: RequestOptions, next: @escaping @Sendable (URLRequest) -> Single<APIResponse>
    ) -> Single<APIResponse> {
        var request = request
        do {
            for (name, value) in headers where request.value(forHTTPHeaderField: name) == nil {
                try HTTPHeaders.check(name, value)
                request.setValue(value, forHTTPHeaderField: name)
            }
        } catch {
            return .error(error)
        }
        return next(request)
    }
}
