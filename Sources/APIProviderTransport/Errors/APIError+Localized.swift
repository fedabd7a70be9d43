public import Foundation

extension APIError: LocalizedError {
    /// One sentence for the app's users, also the `localizedDescription`. Contains no method, URL, number, status or type name, except in
    /// words from elsewhere:
    ///
    /// - On Apple's systems, a `URLError` has the system's localized words. The other sentences are in English.
    /// - A server's words are used if vouched for: by the app, with the provider's or endpoint's `errorMessage`, or, for a 4xx, by the type
    ///   `application/problem+json` (RFC 9457).
    /// - Another underlying error of ``transport(_:underlying:)`` keeps its own words, if any.
    ///
    /// For the developer, see ``description``. The guide's page "What an error says" shows both.
    public var errorDescription: String? { userMessage }

    /// A sentence that tells users what to do: check the connection, sign in again, or try again later. `nil` if there is nothing to do. For
    /// the time in a `Retry-After`, see ``APIResponse/retryAfter(now:)``.
    public var recoverySuggestion: String? {
        switch self {
        case .invalidRequest, .decoding: nil
        case .signedOut: "Sign in again."
        case .transport: urlError?.suggestion
        case .unacceptableStatus(let response): response.suggestion
        }
    }

    var userMessage: String {
        switch self {
        case .invalidRequest: "The request could not be made."
        case .signedOut: "You are signed out."
        case .transport(_, let underlying): urlError?.userMessage ?? underlying.userMessage(by: redactor)
        case .unacceptableStatus(let response): response.serverUserMessage.map(redactor.message) ?? response.userMessage
        case .decoding(let response, _, _): response.errorMessage.map(redactor.message) ?? "The server's answer could not be read."
        }
    }
}

// MARK: - Sentences about other errors

extension Error {
    /// A sentence for users about the app's, a transport's or the file system's error.
    fileprivate func userMessage(by redactor: Redactor) -> String {
        if let error = self as? CocoaError, (self as NSError).domain == NSCocoaErrorDomain {
            switch error.code {
            case .fileWriteOutOfSpace: return "There is no space left on the device."
            case _ where error.isFileError: return "A file could not be read or written."
            default: break
            }
        }
        let message = (self as? any LocalizedError)?.errorDescription ?? (self as NSError).userInfo[NSLocalizedDescriptionKey] as? String
        guard let message, !message.isEmpty else { return "The request could not be completed." }
        return redactor.redactedURLs(in: message)
    }
}

// MARK: - Sentences about a status

extension APIResponse {
    fileprivate var userMessage: String {
        switch statusCode {
        case 401: "Your sign-in was not accepted."
        case 403: "You are not allowed to do this."
        case 404, 410: "This was not found."
        case 408, 504: "The server took too long to answer."
        case 409, 412: "This was changed in the meantime."
        case 413: "This is too large for the server."
        case 429: "Too many requests were sent."
        case 503: "The server is not available."
        case 500...599: "The server has a problem."
        default: "The server could not do this."
        }
    }

    fileprivate var suggestion: String? {
        switch statusCode {
        case 401: credentialLoss == nil ? "Sign in again." : nil
        case 408, 429, 500...599: "Try again later."
        default: nil
        }
    }
}
