public import Foundation

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
