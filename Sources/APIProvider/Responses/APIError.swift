public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// Why a request gave no value. Its ``description`` is one sentence for people, without headers, query values or secrets.
///
/// There is no case for a cancelled request: disposing is silent.
public enum APIError: Error, Sendable {
    /// The request cannot be built, and nothing was sent.
    case invalidRequest(reason: String, underlying: (any Error)? = nil)
    /// No whole response came. The underlying error is usually a `URLError`: see ``urlError``.
    case transport(URLRequest, underlying: any Error)
    /// The status is outside of 200...299. The response's body is often worth decoding.
    case unacceptableStatus(APIResponse)
    /// The body is not what the request expected; `expected` names that type.
    case decoding(APIResponse, expected: String, underlying: any Error)

    /// The response, where one came.
    public var response: APIResponse? {
        switch self {
        case .unacceptableStatus(let response), .decoding(let response, _, _): response
        case .invalidRequest, .transport: nil
        }
    }

    /// The status of the response, where one came.
    public var statusCode: Int? { response?.statusCode }

    /// The error behind this one, where there is one.
    public var underlying: (any Error)? {
        switch self {
        case .invalidRequest(_, let underlying): underlying
        case .transport(_, let underlying), .decoding(_, _, let underlying): underlying
        case .unacceptableStatus: nil
        }
    }

    /// The loading system's error, where that is what went wrong: timed out, no connection, and so on.
    public var urlError: URLError? {
        guard case .transport(_, let underlying) = self else { return nil }
        if let error = underlying as? URLError { return error }
        // Foundation on Linux does not bridge one into the other, and there a code may be unknown, for which `as` makes both optional.
        let error = underlying as NSError
        guard error.domain == NSURLErrorDomain, let code = URLError.Code(rawValue: error.code) as URLError.Code? else { return nil }
        return URLError(code, userInfo: error.userInfo)
    }
}

extension APIError: CustomStringConvertible, LocalizedError {
    /// One sentence: the method, the URL with its query values left out, what went wrong, and at most 200 bytes of an error's body.
    public var description: String { sentence(by: Redactor(for: .sentence)) }

    func sentence(by redactor: Redactor) -> String {
        switch self {
        case .invalidRequest(let reason, let underlying):
            let cause = underlying.map { " (\(redactor.explanation(of: $0).withoutFullStop))" } ?? ""
            return "The request was not sent: \(redactor.sentence(reason))\(cause)."
        case .transport(let request, let underlying):
            let reason = urlError.map { redactor.sentence($0.sentence(for: request)) } ?? redactor.explanation(of: underlying)
            return "\(request.line(by: redactor)) failed: \(reason)"
        case .unacceptableStatus(let response):
            let body = response.data.excerpt(by: redactor).map { " Body: \($0)" } ?? ""
            return "\(response.request.line(by: redactor)) failed: \(response.statusLine).\(body)"
        case .decoding(let response, let expected, let underlying):
            let mismatch = response.mismatch(with: expected, underlying, by: redactor).onOneLine
            return "\(response.request.line(by: redactor)) returned \(response.statusCode), but \(mismatch)"
        }
    }

    /// The same sentence.
    public var errorDescription: String? { description }
}

extension APIError: CustomNSError, CustomReflectable {
    /// `APIProvider.APIError`.
    public static var errorDomain: String { "APIProvider.APIError" }

    /// The status code where a response came; else the code of the `URLError`, or 0.
    public var errorCode: Int { statusCode ?? urlError?.code.rawValue ?? 0 }

    /// The sentence, and the underlying error. A `URLError` comes without its URL, which may hold secrets.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        userInfo[NSUnderlyingErrorKey] =
            urlError.map { URLError($0.code, userInfo: [NSLocalizedDescriptionKey: $0.localizedDescription]) } ?? underlying
        return userInfo
    }

    /// Shows the sentence alone: a `dump` of the request would show its headers.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
