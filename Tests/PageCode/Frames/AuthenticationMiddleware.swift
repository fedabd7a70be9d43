nonisolated private let login = DefaultAPIProvider(baseURL: api)

nonisolated private final class Keychain: Sendable {
    var accessToken: String { "" }
    var refreshToken: String { "" }
}

nonisolated private let keychain = Keychain()

private struct RefreshRequest: APIRequest {
    let refreshToken: String
    var endpoint: Endpoint<Session> { Endpoint(.post, "/token", body: .form(["refresh_token": refreshToken])) }
}

nonisolated private struct Session: Decodable { let accessToken: String }
