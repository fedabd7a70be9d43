public import APIProvider

/// Exchanges the code of a sign-in for an access token: `POST /login/oauth/access_token`.
///
/// Send it through a provider whose base URL is ``GitHub/oauthURL``. GitHub answers a bad code with status 200 and an error object, and the
/// request fails with ``GitHubOAuthError``.
public struct AccessTokenRequest: APIRequest {
    private let clientID: String
    private let clientSecret: String
    private let code: String
    private let redirectURI: String?

    /// Creates a request that exchanges `code` for a token.
    ///
    /// - Parameters:
    ///   - clientID: The app's public identifier.
    ///   - clientSecret: The app's secret.
    ///   - code: The code that the user's browser brought back from the sign-in.
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
    /// The name of the type, without the secret and the code.
    public var description: String { "AccessTokenRequest" }

    /// An empty mirror, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: []) }
}

/// A token that gives access to the API in a user's name.
public struct AccessToken: Decodable, Sendable {
    /// The token, which is a secret.
    public let value: String
    /// The scopes that the token has, separated by commas.
    public let scope: String
    /// How the token is sent: `bearer`.
    public let type: String

    private enum CodingKeys: String, CodingKey {
        case value = "access_token"
        case scope
        case type = "token_type"
    }
}

extension AccessToken: CustomStringConvertible, CustomReflectable {
    /// The scopes of the token, without the token itself.
    public var description: String { "AccessToken(\(type): \(scope))" }

    /// A mirror without the token, so that `dump` does not show it.
    public var customMirror: Mirror { Mirror(self, children: ["type": type, "scope": scope]) }
}
