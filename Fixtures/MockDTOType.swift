public import APIProviderMocks
public import Foundation

extension MockURLProtocol {
    /// The bundled answers of GitHub.
    public enum MockDTOType: String, CaseIterable, MockDTO {
        /// Eight repositories (`GET /search/repositories`).
        case search = "GithubAPI_Response_Search"
        /// Three repositories (`GET /users/{login}/starred`).
        case starred = "GithubAPI_Response_Starred"
        /// A user (`GET /users/{login}`, `GET /user`).
        case user = "GithubAPI_Response_User"
        /// An empty body.
        case empty = ""
        /// An access token (`POST /login/oauth/access_token`).
        case oauth = "GithubOAuth_Response"
        /// The error for a code that is wrong or was used before. It comes with status 200.
        case oauthBadRequest = "GithubOAuth_BedVerificationCode"
        /// The error for a redirect URI that is not the registered one. It comes with status 200.
        case oauthRedirectURLMismatch = "GithubOAuth_RedirectURIMismatch"
        /// The error for an unknown client or a wrong secret. It comes with status 200.
        case oauthIncorrectClientCredentials = "GithubOAuth_IncorrectClientCredentials"

        /// The resources of this target.
        public static var bundle: Bundle { .module }
        /// The folder of the files.
        public static var subdirectory: String? { "GitHub" }
    }

    /// The fixture that is the body of every answer, if it is one of these cases.
    public static var dtoType: MockDTOType? {
        get { dto as? MockDTOType }
        set { dto = newValue }
    }

    /// Answers every request with the fixture `type`.
    public static func responseWithDTO(type: MockDTOType) {
        dtoType = type
    }
}
