public import Foundation

#if canImport(FoundationNetworking)
public import FoundationNetworking
#endif

/// The error of a request. Its ``description`` is one sentence for people, without headers, values of the query, or secrets.
///
/// There is no case for a cancelled request. After disposing, no event comes.
public enum APIError: Error, Sendable {
    /// The request could not be built, and nothing was sent.
    case invalidRequest(reason: String, underlying: (any Error)? = nil)
    /// No complete response arrived. The underlying error is usually a `URLError`. See ``urlError``.
    case transport(URLRequest, underlying: any Error)
    /// The status is outside 200...299. The body of the response often says more.
    case unacceptableStatus(APIResponse)
    /// The body could not be decoded. `expected` is the name of the type.
    case decoding(APIResponse, expected: String, underlying: any Error)

    /// The response, if one arrived.
    public var response: APIResponse? {
        switch self {
        case .unacceptableStatus(let response), .decoding(let response, _, _): response
        case .invalidRequest, .transport: nil
        }
    }

    /// The status of the response, if one arrived.
    public var statusCode: Int? { response?.statusCode }

    /// The underlying error, if there is one.
    public var underlying: (any Error)? {
        switch self {
        case .invalidRequest(_, let underlying): underlying
        case .transport(_, let underlying), .decoding(_, _, let underlying): underlying
        case .unacceptableStatus: nil
        }
    }

    /// The error of the loading system, if it failed: a timeout, no connection, and so on.
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
    /// One sentence with the method, the URL without values of its query, what went wrong, and at most 200 bytes of an error's body.
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

    /// The same as `description`.
    public var errorDescription: String? { description }
}

extension APIError: CustomNSError, CustomReflectable {
    /// `APIProvider.APIError`.
    public static var errorDomain: String { "APIProvider.APIError" }

    /// The status code, if a response arrived. Otherwise the code of the `URLError`, or 0.
    public var errorCode: Int { statusCode ?? urlError?.code.rawValue ?? 0 }

    /// The sentence and the underlying error. A `URLError` has no URL here, because that may have secrets.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        userInfo[NSUnderlyingErrorKey] =
            urlError.map { URLError($0.code, userInfo: [NSLocalizedDescriptionKey: $0.localizedDescription]) } ?? underlying
        return userInfo
    }

    /// A mirror with the sentence only. The `dump` of a request would show its headers.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}
