public import Foundation

/// A request's error, with one sentence for the screen and one for the developer.
///
/// ``errorDescription``, also the `localizedDescription`, is for the app's users. ``description``, in `print`, logs and tests, is the
/// request and its failure, with the redaction of ``Redaction/standard``.
///
/// ```swift
/// do {
///     show(try await provider.request(items).value)
/// } catch {
///     print(error)
///     show(error.localizedDescription)
/// }
/// ```
///
/// A cancelled request has no error: after disposing, no event comes.
public enum APIError: Error, Sendable {
    /// The request could not be built, and nothing was sent.
    case invalidRequest(reason: String, underlying: (any Error)? = nil)
    /// The user signed out before the request was sent or resent.
    case signedOut
    /// No complete response arrived, or the response could not be saved. The underlying error is usually a `URLError`. See ``urlError``.
    case transport(PreparedRequest, underlying: any Error)
    /// The status is outside 200...299 (for ``ServerSentEvents``: neither 200 nor 204). The body often explains why.
    case unacceptableStatus(APIResponse)
    /// The body could not be decoded. `expected` is the type's name.
    case decoding(APIResponse, expected: String, underlying: any Error)

    /// An unsent request's error, with the reason.
    package static func invalid(_ reason: String) -> APIError { .invalidRequest(reason: reason) }

    /// Wraps the error of `body`, which looks at the destination of a download.
    static func wrappingDestinationError<Result>(_ body: () throws -> Result) throws -> Result {
        do { return try body() } catch { throw APIError.invalidRequest(reason: "its response cannot be saved", underlying: error) }
    }

    /// The response, if one arrived.
    public var response: APIResponse? {
        switch self {
        case .unacceptableStatus(let response), .decoding(let response, _, _): response
        case .invalidRequest, .signedOut, .transport: nil
        }
    }

    /// The same error with another response, if any.
    package func mapResponse(_ change: (APIResponse) -> APIResponse) -> APIError {
        switch self {
        case .unacceptableStatus(let response): .unacceptableStatus(change(response))
        case .decoding(let response, let expected, let underlying): .decoding(change(response), expected: expected, underlying: underlying)
        case .invalidRequest, .signedOut, .transport: self
        }
    }

    /// The same error, whose ``description`` names the throwing middleware. ``signedOut`` has no place for a name.
    package func thrown(in middleware: String) -> APIError {
        switch self {
        case .invalidRequest(let reason, let underlying):
            return .invalidRequest(reason: "\(reason) (in \(middleware))", underlying: underlying)
        case .signedOut: return self
        case .transport(var request, let underlying):
            request.throwingMiddleware = middleware
            return .transport(request, underlying: underlying)
        case .unacceptableStatus, .decoding:
            return mapResponse { response in
                var response = response
                response.request.throwingMiddleware = middleware
                return response
            }
        }
    }

    /// The response's status, if one arrived.
    public var statusCode: Int? { response?.statusCode }

    /// The underlying error, if any.
    public var underlying: (any Error)? {
        switch self {
        case .invalidRequest(_, let underlying): underlying
        case .transport(_, let underlying), .decoding(_, _, let underlying): underlying
        case .signedOut, .unacceptableStatus: nil
        }
    }

    /// The loading system's error: a timeout, no connection, and so on.
    public var urlError: URLError? {
        guard case .transport(_, let underlying) = self else { return nil }
        if let error = underlying as? URLError { return error }
        // Foundation on Linux does not bridge an `NSError` to a `URLError`. There, `URLError.Code(rawValue:)` is failable, unlike Apple's:
        // `as` compiles with both.
        let error = underlying as NSError
        guard error.domain == NSURLErrorDomain, let code = URLError.Code(rawValue: error.code) as URLError.Code? else { return nil }
        return URLError(code, userInfo: error.userInfo)
    }

    /// Whether the device has no connection to a usable network.
    public var isOffline: Bool { urlError?.isOffline == true }

    /// Whether the request cannot have reached the server: there was no network, no host or no connection. Any request may then be sent
    /// again.
    ///
    /// `false` after a redirect, because a server acted on the redirected request.
    public var requestWasNotSent: Bool {
        guard case .transport(let request, _) = self, request.redirects.isEmpty else { return false }
        return urlError?.requestWasNotSent == true
    }

    /// Whether a second attempt may succeed: not after a certificate or URL error, or a response beyond the limit.
    public var isTransient: Bool {
        urlError?.isTransient == true
    }

    /// Whether a timeout ended the request: the response's, the whole request's, or a token refresh's.
    public var isTimeout: Bool { urlError?.code == .timedOut }
}

// A middleware that catches an error may send that error's request again, or return its response.

extension PreparedRequest {
    package var withoutThrowingMiddleware: PreparedRequest {
        guard throwingMiddleware != nil else { return self }
        var request = self
        request.throwingMiddleware = nil
        return request
    }
}

extension APIResponse {
    package var withoutThrowingMiddleware: APIResponse {
        guard request.throwingMiddleware != nil else { return self }
        var response = self
        response.request = request.withoutThrowingMiddleware
        return response
    }
}
