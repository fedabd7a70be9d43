import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Why a recorded request had no response, as text that tells no secret: `URLError -1001`, the name of another error's type, or what a
/// browser says.
struct RecordedFailure {
    let text: String

    init(text: String) { self.text = text }

    init(_ error: any Error) {
        let error = (error as? APIError)?.urlError ?? (error as? APIError)?.underlying ?? error
        text = (error as? URLError).map { "\(Self.prefix)\($0.code.rawValue)" } ?? "\(type(of: error))"
    }

    /// What replay fails with.
    var urlError: URLError {
        let number = text.hasPrefix(Self.prefix) ? Int(text.dropFirst(Self.prefix.count)) : nil
        let code = number.flatMap { URLError.Code(rawValue: $0) as URLError.Code? } ?? Self.browserCodes[text] ?? .unknown
        let userInfo = code == .unknown ? [NSLocalizedDescriptionKey: "there was no response when this was recorded: \(text)"] : [:]
        return URLError(code, userInfo: userInfo)
    }

    private static let prefix = "URLError "

    /// Chrome's net_error_list.h, as far as Foundation has the same.
    private static let browserCodes: [String: URLError.Code] = [
        "net::ERR_NAME_NOT_RESOLVED": .cannotFindHost, "net::ERR_CONNECTION_REFUSED": .cannotConnectToHost,
        "net::ERR_TIMED_OUT": .timedOut, "net::ERR_CONNECTION_TIMED_OUT": .timedOut, "net::ERR_CONNECTION_RESET": .networkConnectionLost,
        "net::ERR_CONNECTION_CLOSED": .networkConnectionLost, "net::ERR_EMPTY_RESPONSE": .badServerResponse,
        "net::ERR_INTERNET_DISCONNECTED": .notConnectedToInternet, "net::ERR_TOO_MANY_REDIRECTS": .httpTooManyRedirects,
        "net::ERR_CERT_DATE_INVALID": .serverCertificateHasBadDate, "net::ERR_CERT_AUTHORITY_INVALID": .serverCertificateUntrusted,
    ]
}
