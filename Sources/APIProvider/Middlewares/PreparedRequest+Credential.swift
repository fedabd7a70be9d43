import Foundation

extension APIResponse {
    /// Whether a redirect to another origin dropped the credential. A 401 then says nothing about the token.
    func hasDroppedCredential(of authorized: PreparedRequest, addedTo plain: PreparedRequest) -> Bool {
        authorized.url.origin != request.url.origin
            || authorized.headers(notIn: plain).contains { request.headers[$0] == nil }
    }
}

extension PreparedRequest {
    /// Whether this request equals `other` in URL and body, and has no other headers or values.
    func addsNothing(to other: PreparedRequest) -> Bool {
        headers(notIn: other).isEmpty && url == other.url && body == other.body
    }

    /// The names of headers missing in `other`, or with another value there.
    func headers(notIn other: PreparedRequest) -> [String] {
        headers.filter { other.headers[$0.name]?.hasSameBytes(as: $0.value) != true }.map(\.name)
    }
}

extension RequestOptions {
    /// Whether ``AuthenticationMiddleware`` adds a credential. With `false`, the request has none, and a 401 starts no refresh.
    public var isAuthenticated: Bool {
        get { self[AuthenticationKey.self] }
        set { self[AuthenticationKey.self] = newValue }
    }
}

private enum AuthenticationKey: BuiltInOptionKey { static var defaultValue: Bool { true } }
