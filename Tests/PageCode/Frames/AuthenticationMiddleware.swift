private let login = DefaultAPIProvider(baseURL: api)
private enum SignInError: Error { case needed }

private final class Keychain: Sendable {
    var accessToken: String { "" }
    var refreshToken: String { "" }
    var session: Session? {
        get { nil }
        set {}
    }
}

private let keychain = Keychain()

private struct RefreshRequest: APIRequest {
    let refreshToken: String
    var endpoint: Endpoint<Session> { Endpoint(.post, "/token", body: .form(["refresh_token": refreshToken])) }
}
