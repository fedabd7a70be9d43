public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension PreparedRequest: CustomStringConvertible, CustomReflectable {
    /// `GET https://api.example.com/search?q=…`. See ``Redaction``.
    public var description: String { description(redacting: .standard) }

    /// A mirror with only the description, so that `dump` shows no secret.
    public var customMirror: Mirror { Mirror(self, children: ["request": description]) }
}

extension APIResponse: CustomStringConvertible {
    /// `GET https://api.example.com/search?q=…: 200 OK, 812 bytes`. Headers and the body may contain secrets, and are left out.
    public var description: String { description(redacting: .standard) }
}

// MARK: - Errors

extension APIError: CustomStringConvertible {
    /// One sentence for the developer: the method, the URL without query values, and what went wrong. Shows nothing from a body, except the
    /// server's own message in a response with a status of 400 or more. For users, see ``errorDescription``.
    public var description: String { description(redacting: .standard) }

    /// ``description``, redacted by `redaction`.
    public func description(redacting redaction: Redaction) -> String {
        // The report of a mock has several lines.
        if case .transport = self { text(redaction) } else { text(redaction).onOneLine }
    }

    private func text(_ redaction: Redaction) -> String {
        switch self {
        case .invalidRequest(let reason, let underlying):
            let redactor = Redactor(redaction)
            let cause = underlying.map { " (\(redactor.explanation(of: $0).withoutFullStop))" } ?? ""
            return "The request was not sent: \(reason)\(cause)."
        case .signedOut:
            return "The request was not completed: its user has signed out."
        case .transport(let request, let underlying):
            let redactor = Redactor(redaction, for: request)
            let reason = urlError.map { $0.description(for: request.url, by: redactor) } ?? redactor.explanation(of: underlying)
            return "\(redactor.line(of: request)) failed\(request.throwingMiddlewareText): \(reason)"
        case .unacceptableStatus(let response):
            let redactor = Redactor(redaction, for: response.request)
            let reason = (response.redirectFailureReason ?? response.credentialLoss ?? response.methodChange).map { ": \($0)" } ?? ""
            let words = response.redirectFailureReason == nil ? response.serverMessage : nil
            let message = reason + (words.map { ": \"\(redactor.message($0))\"" } ?? "")
            let body = response.data.isEmpty ? "" : " \(redactor.size(of: response))"
            let place = response.request.throwingMiddlewareText
            return "\(redactor.line(of: response.request)) failed\(place): \(response.statusDescription)\(message)\(body)."
        case .decoding(let response, let expected, let underlying):
            let redactor = Redactor(redaction, for: response.request)
            let mismatch = response.mismatch(with: expected, underlying, by: redactor)
            let place = response.request.throwingMiddlewareText
            return "\(redactor.line(of: response.request)) returned \(response.statusCode)\(place), but \(mismatch)"
        }
    }
}

extension PreparedRequest {
    /// ` in SignatureMiddleware`, or nothing.
    fileprivate var throwingMiddlewareText: String { throwingMiddleware.map { " in \($0)" } ?? "" }
}

extension APIError: CustomNSError, CustomReflectable {
    /// `APIProvider.APIError`.
    public static var errorDomain: String { "APIProvider.APIError" }

    /// The status code, if a response arrived. Otherwise the `URLError`'s code, or 0.
    public var errorCode: Int { statusCode ?? urlError?.code.rawValue ?? 0 }

    /// ``errorDescription``, ``recoverySuggestion``, ``description`` under `NSDebugDescriptionErrorKey`, and an error with the domain, code
    /// and redacted description of ``underlying``. Shows no more than ``description``, because crash reporters send this dictionary. For
    /// the underlying error itself, see ``underlying``.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: userMessage, NSDebugDescriptionErrorKey: description]
        userInfo[NSLocalizedRecoverySuggestionErrorKey] = recoverySuggestion
        if let error = urlError ?? underlying {
            // A decoder's error text may quote the value.
            let text = if case .decoding = self { error.decodingProblem } else { redactor.explanation(of: error) }
            let underlyingInfo = [NSLocalizedDescriptionKey: text]
            let (domain, code) = ((error as NSError).domain, (error as NSError).code)
            userInfo[NSUnderlyingErrorKey] =
                urlError.map { URLError($0.code, userInfo: underlyingInfo) }
                ?? NSError(domain: domain, code: code, userInfo: underlyingInfo)
        }
        return userInfo
    }

    var redactor: Redactor {
        if case .transport(let request, _) = self { return Redactor(for: request) }
        return Redactor(for: response?.request)
    }

    /// A mirror with only the description, so that `dump` does not show the underlying error.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
