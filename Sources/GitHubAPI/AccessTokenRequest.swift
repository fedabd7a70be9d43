public import APIProvider

/// Exchanges the code of a sign-in for an access token: `POST /login/oauth/access_token`.
///
/// Send it by a provider whose base URL is ``GitHub/oauthURL``. GitHub answers a bad code with status 200 and an error object: that fails
/// with ``GitHubOAuthError``.
public struct AccessTokenRequest: APIRequest {
    private let clientID: String
    private let clientSecret: String
    private let code: String
    private let redirectURI: String?

    /// Creates a request for the token that `code` stands for.
    ///
    /// - Parameters:
    ///   - clientID: The app's public identifier.
    ///   - clientSecret: The app's secret.
    ///   - code: What the user's browser brought back from signing in.
    ///   - redirectURI: The callback URL that the sign-in was started with.
    public init(clientID: String, clientSecret: String, code: String, redirectURI: String? = nil) {
        self.clientID = clientID
        self.clientSecret = clientSecret
        self.code = code
        self.redirectURI = redirectURI
    }

    /// `POST /login/oauth/access_token`, with the client and the code as a form.
    public var endpoint: Endpoint<AccessToken> {
        Endpoint(
            .post, "/login/oauth/access_token",
            body: .form(["client_id": clientID, "client_secret": clientSecret, "code": code, "redirect_uri": redirectURI])
        ).validating { response in
            guard 200...299 ~= response.statusCode else { throw APIError.unacceptableStatus(response) }
            if let error = try? response.decode(GitHubOAuthError.self) { throw error }
        }
    }
}

extension AccessTokenRequest: CustomStringConvertible, CustomReflectable {
    /// The type alone: the secret and the code are left out.
    public var description: String { "AccessTokenRequest" }

    /// Shows nothing, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// What opens the API for a user.
public struct AccessToken: Decodable, Sendable {
    /// The token itself: a secret.
    public let value: String
    /// What it allows, separated by commas.
    public let scope: String
    /// How it is sent: `bearer`.
    public let type: String

    private enum CodingKeys: String, CodingKey {
        case value = "access_token"
        case scope
        case type = "token_type"
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// What the token allows. The token itself is left out.
    public var description: String { "AccessToken(\(type): \(scope))" }

    /// Shows all but the token, also in a `dump`.
    public var customMirror: Mirror { Mirror(self, children: ["type": type, "scope": scope]) }
}
