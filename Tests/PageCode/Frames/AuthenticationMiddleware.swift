nonisolated private let login = DefaultAPIProvider(baseURL: api)
private enum SignInError: Error { case needed }

nonisolated private final class Keychain: Sendable {
    var accessToken: String { "" }
    var refreshToken: String { "" }
    var session: Session? {
        get { nil }
        set {}
    }
}

nonisolated private let keychain = Keychain()

private struct RefreshRequest: APIRequest {
    let refreshToken: String
    var endpoint: Endpoint<Session> { Endpoint(.post, "/token", body: .form(["refresh_token": refreshToken])) }
}
