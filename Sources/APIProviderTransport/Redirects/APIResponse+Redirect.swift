import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension APIResponse {
    /// The target of this redirect (RFC 9110, section 10.2.2), or the problem with it; `nil` if this is no redirect.
    private var redirectTarget: (url: URL?, problem: String?)? {
        guard httpResponse.isRedirect else { return nil }
        guard let location = value(forHTTPHeaderField: "Location") else { return (nil, "it has no Location") }
        guard let url = URL(reference: location, from: request.url), let scheme = url.scheme?.lowercased() else {
            return (nil, "its Location is not a URL")
        }
        // From a transport's own scheme, a redirect may lead to the same scheme.
        guard scheme.isHTTP && request.url.scheme?.isHTTP == true || ["https", request.url.scheme?.lowercased()].contains(scheme) else {
            return (nil, "its Location is \(scheme)\(location.contains("://") ? "://" : ":")…, which is not followed")
        }
        if scheme == "http", request.url.scheme?.lowercased() == "https" {
            return (nil, "its Location is http://…, which is not followed from https")
        }
        guard url.host?.isEmpty == false else { return (nil, "its Location has no host") }
        if let port = url.impossiblePort { return (nil, "its Location has the port \(port); the highest is 65535") }
        return (url, nil)
    }

    /// Why this redirect was not followed; `nil` if this is no redirect.
    var redirectFailureReason: String? {
        guard let target = redirectTarget else { return nil }
        if target.url == nil { return target.problem }
        if case .follow = request.options.redirectPolicy.kind { return nil }
        return "its request's redirectPolicy did not follow it"
    }

    /// The reason for a 401 after a redirect to another origin dropped the credential; `nil` for other responses.
    var credentialLoss: String? {
        guard statusCode == 401, request.hasLeftOrigin, !request.headers.contains(where: { $0.name.namesCredential }),
            let last = request.redirectChain.last(where: { $0.headerNames.contains(where: \.namesCredential) })
        else { return nil }
        return "the redirect from \(last.url.origin) to another origin has dropped the credential"
    }

    /// The redirect after which another method than the app's was sent (RFC 9110, section 15.4); `nil` without one.
    var methodChange: String? {
        guard let redirected = request.redirectChain.last(where: { $0.method != request.method }) else { return nil }
        return "the redirect from \(redirected.url.origin) made the \(redirected.method) a \(request.method)"
    }

    /// The request that follows this redirect (RFC 9110, section 15.4); `nil` if this is no redirect, or cannot be followed.
    func nextRequest(for sent: PreparedRequest) -> PreparedRequest? {
        guard let to = redirectTarget?.url else { return nil }
        let from = request.url

        var next = sent
        (next.url, next.headers, next.secrets) = (to.withoutUserInfo, request.headers, request.secrets)
        let becomesGet = statusCode == 303 ? sent.method != .head : sent.method == .post && statusCode < 307
        if becomesGet {
            (next.method, next.body) = (.get, nil)
            for name in request.headers.map({ $0.name.lowercased() })
            where name.hasPrefix("content-") || ["transfer-encoding", "trailer", "expect"].contains(name) { next.headers[name] = nil }
        }
        if to.origin != from.origin { next.headers = next.headers.withoutCredentials }
        return next
    }
}
