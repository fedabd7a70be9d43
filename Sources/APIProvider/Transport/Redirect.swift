package import MiniRx

#if canImport(FoundationNetworking)
package import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension Single<APIResponse> {
    /// The single that `send` makes of `request`, and of each request that a redirect leads to.
    ///
    /// - Parameter decide: Returns the request that follows a redirect, or `nil` if the redirect is the answer. By default, all are
    ///   followed, unless the request asks to get them itself.
    package static func following(
        _ request: URLRequest, redirects: Int = 0,
        where decide: @escaping @Sendable (URLRequest, APIResponse) throws -> URLRequest? = {
            $1.request.has(.returnsRedirects) ? nil : $0
        },
        _ send: @escaping @Sendable (URLRequest) -> Single
    ) -> Single {
        var sent = send(request)
        // The error of a hop says which request has failed, so that no request is sent again that was redirected.
        if redirects > 0 { sent = sent.mapError { $0 is URLError ? APIError.transport(request, underlying: $0) : $0 } }
        return sent.flatMap { response in
            guard let proposed = response.redirectedRequest(), var next = try decide(proposed, response) else { return .just(response) }
            guard redirects < URLError.maximumRedirects else {
                throw APIError.transport(next, underlying: URLError(.httpTooManyRedirects))
            }
            next.add(.isRedirected)
            if request.has(.hasLeftOrigin) || next.url?.origin != response.request.url?.origin { next.add(.hasLeftOrigin) }
            return following(next, redirects: redirects + 1, where: decide, send)
        }
    }
}

extension APIResponse {
    /// The request to follow a redirect with (RFC 9110, section 15.4); `nil` when this response is the answer.
    fileprivate func redirectedRequest() -> URLRequest? {
        guard [301, 302, 303, 307, 308].contains(statusCode), let from = request.url,
            let location = value(forHTTPHeaderField: "Location"), let to = URL(reference: location, from: from),
            to.host?.isEmpty == false, to.impossiblePort == nil, let scheme = to.scheme?.lowercased(),
            scheme == "https" || scheme == "http" && from.scheme?.lowercased() == "http"
        else { return nil }

        let method = request.httpMethod ?? "GET"
        let becomesGet = statusCode == 303 ? method != "HEAD" : method == "POST" && statusCode < 307
        var next = becomesGet ? request.withoutBody : request
        next.url = to.withoutUserInfo
        if becomesGet { next.httpMethod = "GET" }
        let isElsewhere = to.origin != from.origin
        for name in (next.allHTTPHeaderFields ?? [:]).keys.map({ $0.lowercased() }) {
            let isOfOldBody = becomesGet && (name.hasPrefix("content-") || ["transfer-encoding", "trailer", "expect"].contains(name))
            guard isOfOldBody || isElsewhere && !RedirectHeaders.goElsewhere.contains(name) else { continue }
            next.setValue(nil, forHTTPHeaderField: name)
        }
        return next
    }
}

extension URLRequest {
    /// What to send instead of this request, if `last` failed and the server must not get this one twice: the request that redirects have
    /// made of it, because the server has acted on what it has redirected. Middlewares then add what they have added to this one.
    ///
    /// `nil` after a redirect to another origin, because what middlewares add does not belong there.
    func resumed(at last: URLRequest?) -> URLRequest? {
        guard let last, last.has(.isRedirected) else { return self }
        guard !last.has(.hasLeftOrigin) else { return nil }
        var next = last.httpBody == nil && last.httpBodyStream == nil ? withoutBody : self
        (next.url, next.httpMethod) = (last.url, last.httpMethod)
        for name in (allHTTPHeaderFields ?? [:]).keys {
            next.setValue(last.value(forHTTPHeaderField: name), forHTTPHeaderField: name)
        }
        return next
    }
}

extension URL {
    /// The URL that a reference in a header field of the response from `url` leads to, such as a Location (RFC 3986, section 5).
    package init?(reference: String, from url: URL?) {
        guard let target = URL(string: reference.escapedAsURL, relativeTo: url) else { return nil }
        self = target.absoluteURL
    }

    /// The URL without the name and the password that Linux would send, and Apple's systems would not.
    fileprivate var withoutUserInfo: URL {
        guard user != nil || password != nil, var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return self }
        (components.user, components.password) = (nil, nil)
        return components.url ?? self
    }

    /// Scheme, host and port (RFC 6454, section 4).
    package var origin: String {
        let scheme = scheme?.lowercased() ?? ""
        return "\(scheme)://\(host?.lowercased() ?? ""):\(port ?? (scheme == "https" ? 443 : 80))"
    }
}
