public import Foundation
public import MockNetwork

extension MockURLProtocol {
    /// The answers of GitHub that are bundled here.
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
        /// The error for a code that is wrong or used up, which comes with status 200.
        case oauthBadRequest = "GithubOAuth_BedVerificationCode"
        /// The error for a redirect URI that is not the registered one, which comes with status 200.
        case oauthRedirectURLMismatch = "GithubOAuth_RedirectURIMismatch"
        /// The error for a client that is unknown or has the wrong secret, which comes with status 200.
        case oauthIncorrectClientCredentials = "GithubOAuth_IncorrectClientCredentials"

        /// This target's resources.
        public static var bundle: Bundle { .module }
        /// The folder of the files.
        public static var subdirectory: String? { "GitHub" }
    }

    /// The fixture that is the body of every answer, if it is one of these.
    public static var dtoType: MockDTOType? {
        get { dto as? MockDTOType }
        set { dto = newValue }
    }

    /// From now on the body of every answer is the fixture `type`.
    public static func responseWithDTO(type: MockDTOType) {
        dtoType = type
    }
}
