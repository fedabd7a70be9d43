public import Foundation

/// The error of a request. Its ``description`` is one sentence for people. It shows what ``Redaction/standard`` does.
///
/// There is no case for a cancelled request. After disposing, no event comes.
public enum APIError: Error, Sendable {
    /// The request could not be built, and nothing was sent. To read the cause, use ``underlying``: the second value of a case may also be a
    /// mark of this library.
    case invalidRequest(reason: String, underlying: (any Error)? = nil)
    /// No complete response arrived. The underlying error is usually a `URLError`. See ``urlError``.
    case transport(PreparedRequest, underlying: any Error)
    /// The status is outside 200...299, or not 200 where ``ServerSentEvents`` were expected. The body of the response often says more.
    case unacceptableStatus(APIResponse)
    /// The body could not be decoded. `expected` is the name of the type.
    case decoding(APIResponse, expected: String, underlying: any Error)

    /// An error whose reason this library has written, so it is shown as it is.
    static func invalid(_ reason: String) -> APIError { .invalidRequest(reason: reason, underlying: OwnReason()) }

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
        case .invalidRequest(_, let underlying): underlying is OwnReason ? nil : underlying
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
    /// One sentence with the method, the URL without values of its query, and what went wrong, in the words of the server if it has any.
    public var description: String { sentence(redacting: .standard) }

    func sentence(redacting redaction: Redaction) -> String {
        switch self {
        case .invalidRequest(let reason, let underlying):
            let redactor = Redactor(redaction)
            let cause = self.underlying.map { " (\(redactor.explanation(of: $0).withoutFullStop))" } ?? ""
            let isOwn = underlying is OwnReason || underlying.map(Redactor.hasRedacted) == true
            let reason = isOwn ? reason : redactor.message(reason)
            return "The request was not sent: \(reason)\(cause)."
        case .transport(let request, let underlying):
            let redactor = Redactor(redaction, for: request)
            let reason = urlError.map { $0.sentence(for: request, by: redactor) } ?? redactor.explanation(of: underlying)
            return "\(redactor.line(of: request)) failed: \(reason)"
        case .unacceptableStatus(let response):
            let redactor = Redactor(redaction, for: response.request)
            let words = redactor.message(of: response).map { ": \"\($0)\"" } ?? ""
            let body = response.data.isEmpty ? "" : " \(redactor.size(of: response))"
            return "\(redactor.line(of: response.request)) failed: \(response.statusLine)\(words)\(body.onOneLine)."
        case .decoding(let response, let expected, let underlying):
            let redactor = Redactor(redaction, for: response.request)
            let mismatch = response.mismatch(with: expected, underlying, by: redactor).onOneLine
            return "\(redactor.line(of: response.request)) returned \(response.statusCode), but \(mismatch)"
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

    /// The sentence, and an error with the domain, the code and the words of the underlying one. It shows no more than ``description``, because
    /// crash reporters send it. For the underlying error itself, see ``underlying``.
    public var errorUserInfo: [String: Any] {
        var userInfo: [String: Any] = [NSLocalizedDescriptionKey: description]
        if let error = urlError ?? underlying {
            let words = [NSLocalizedDescriptionKey: redactor.explanation(of: error)]
            let (domain, code) = ((error as NSError).domain, (error as NSError).code)
            userInfo[NSUnderlyingErrorKey] =
                urlError.map { URLError($0.code, userInfo: words) } ?? NSError(domain: domain, code: code, userInfo: words)
        }
        return userInfo
    }

    private var redactor: Redactor {
        if case .transport(let request, _) = self { return Redactor(for: request) }
        return Redactor(for: response?.request)
    }

    /// A mirror with the sentence only. The `dump` of a request would show its headers.
    public var customMirror: Mirror { Mirror(self, children: ["description": description]) }
}

/// Stands in the place of an underlying error where this library has written the reason of an ``APIError/invalidRequest(reason:underlying:)``.
private struct OwnReason: Error {}
