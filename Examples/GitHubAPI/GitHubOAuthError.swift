public import Foundation

/// The error with which GitHub refuses an access token.
public struct GitHubOAuthError: Error, Decodable, Sendable, LocalizedError, CustomStringConvertible {
    /// A kind of error. GitHub may send others than the ones that are listed here.
    public struct Code: RawRepresentable, Decodable, Hashable, Sendable {
        /// The code that GitHub sends.
        public let rawValue: String

        /// Creates the code that GitHub sends as `rawValue`.
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
    /// A sentence about what is wrong.
    public let message: String?

    /// What the developer reads: the message, or a sentence with the code if there is no message.
    public var description: String { message ?? "GitHub gives no access token: \(code.rawValue)." }
    /// What people read: the message, if there is one.
    public var errorDescription: String? { message ?? "GitHub has not signed you in." }

    private enum CodingKeys: String, CodingKey {
        case code = "error"
        case message = "error_description"
    }
}
