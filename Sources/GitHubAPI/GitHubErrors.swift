public import Foundation

/// What the REST API says of a request that it refuses: `try error.response?.decode(GitHubError.self)`.
public struct GitHubError: Error, Decodable, Sendable {
    /// What is wrong.
    public let message: String
    /// Where it is explained.
    public let documentationURL: String?
    /// What is wrong with each field.
    public let errors: [Detail]?

    /// What is wrong with one field.
    public struct Detail: Decodable, Sendable {
        /// The kind of thing that the field is of.
        public let resource: String?
        /// The field.
        public let field: String?
        /// `missing`, `missing_field`, `invalid`, `already_exists`, `unprocessable` or `custom`.
        public let code: String?
        /// What is wrong, in words.
        public let message: String?
    }

    private enum CodingKeys: String, CodingKey {
        case message, errors
        case documentationURL = "documentation_url"
    }
}

/// Why GitHub gives no access token.
public struct GitHubOAuthError: Error, Decodable, Sendable, LocalizedError, CustomStringConvertible {
    /// The kind of error. Others than the known ones may come.
    public struct Code: RawRepresentable, Decodable, Hashable, Sendable {
        /// The code as it comes.
        public let rawValue: String

        /// The code that comes as `rawValue`.
        public init(rawValue: String) { self.rawValue = rawValue }

        /// The code of the sign-in is wrong or used up: sign in again.
        public static let badVerificationCode = Code(rawValue: "bad_verification_code")
        /// The redirect URI is not the one that the app has registered.
        public static let redirectURIMismatch = Code(rawValue: "redirect_uri_mismatch")
        /// The client's identifier or secret is wrong.
        public static let incorrectClientCredentials = Code(rawValue: "incorrect_client_credentials")
    }

    /// The kind of error.
    public let code: Code
    /// What is wrong, in words.
    public let message: String?

    /// The words, or the code where there are none.
    public var description: String { message ?? "GitHub gives no access token: \(code.rawValue)." }
    /// The same.
    public var errorDescription: String? { description }

    private enum CodingKeys: String, CodingKey {
        case code = "error"
        case message = "error_description"
    }
}
