public import Foundation

/// The error of a request. Its ``description`` is one sentence for people. It is redacted as ``Redaction/standard`` describes.
///
/// There is no case for a cancelled request. After disposing, no event comes.
public enum APIError: Error, Sendable {
    /// The request could not be built, and nothing was sent. To read the cause, use ``underlying``: the second associated value may be a
    /// private marker.
    case invalidRequest(reason: String, underlying: (any Error)? = nil)
    /// No complete response arrived. The underlying error is usually a `URLError`. See ``urlError``.
    case transport(PreparedRequest, underlying: any Error)
    /// The status is outside 200...299, or not 200 where ``ServerSentEvents`` were expected. The body of the response often says more.
    case unacceptableStatus(APIResponse)
    /// The body could not be decoded. `expected` is the name of the type.
    case decoding(APIResponse, expected: String, underlying: any Error)

    /// An error whose reason this library has written. The reason contains no secrets and is not redacted.
    static func invalid(_ reason: String) -> APIError { .invalidRequest(reason: reason, underlying: SafeReason()) }

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
        case .invalidRequest(_, let underlying): underlying is SafeReason ? nil : underlying
        case .transport(_, let underlying), .decoding(_, _, let underlying): underlying
        case .unacceptableStatus: nil
        }
    }

    /// The error of the loading system, if it failed: a timeout, no connection, and so on.
    public var urlError: URLError? {
        guard case .transport(_, let underlying) = self else { return nil }
        if let error = underlying as? URLError { return error }
        // Foundation on Linux does not bridge an `NSError` to a `URLError`. Its `URLError.Code(rawValue:)` is failable, and Apple's is not:
        // `as` makes the code compile with both.
        let error = underlying as NSError
        guard error.domain == NSURLErrorDomain, let code = URLError.Code(rawValue: error.code) as URLError.Code? else { return nil }
        return URLError(code, userInfo: error.userInfo)
    }
}

/// The underlying error of an ``APIError/invalidRequest(reason:underlying:)`` whose reason this library has written.
struct SafeReason: Error {}
