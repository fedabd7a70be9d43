import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    // MARK: - For the developer

    /// The failure and a hint, for the developer. Linux says only "the operation could not be completed".
    func description(for url: URL, by redactor: Redactor) -> String {
        // After a proxy's failure, this is the proxy's URL.
        let url: URL = failingURL ?? url
        let host = url.host ?? "the host"
        let port = url.port ?? (url.scheme == "https" ? 443 : 80)
        let address = url.scheme?.lowercased().hasSuffix("+unix") == true ? host : "\(host):\(port)"
        let text =
            reason.map(redactor.redacted) ?? standardReason(host, address)
            ?? redactor.redactedURLs(in: localizedDescription.withoutFullStop)
        return "\(text) (URLError \(code.rawValue))."
    }

    /// The transport's reason, if any.
    var reason: String? { userInfo[Self.reasonKey] as? String }

    // MARK: - For people

    /// A sentence for users: the system's own, localized, or else ours.
    var userMessage: String {
        #if !canImport(FoundationNetworking)
        if let message = userInfo[NSLocalizedDescriptionKey] as? String { return message }
        #endif
        switch code {
        case .notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive: return "There is no network connection."
        case .timedOut: return "The server took too long to answer."
        case .cannotConnectToHost: return "The server could not be reached."
        case .cannotFindHost, .dnsLookupFailed: return "The server was not found."
        case .networkConnectionLost: return "The connection to the server was lost."
        case .secureConnectionFailed, .serverCertificateHasBadDate, .serverCertificateNotYetValid, .serverCertificateUntrusted,
            .serverCertificateHasUnknownRoot, .clientCertificateRejected, .clientCertificateRequired:
            return "A secure connection to the server could not be made."
        case .badServerResponse, .cannotParseResponse, .cannotDecodeRawData, .cannotDecodeContentData, .zeroByteResource:
            return "The server's answer could not be read."
        case .dataLengthExceedsMaximum: return "The server's answer is too large."
        case .badURL, .unsupportedURL, .appTransportSecurityRequiresSecureConnection: return "The request could not be made."
        case .cancelled: return "The request was cancelled."
        default: return "The request could not be completed."
        }
    }

    /// A sentence for users about the next step; `nil` without one.
    var suggestion: String? {
        switch code {
        case .timedOut: "Check the connection, or try again later."
        case .networkConnectionLost: "Try again."
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid: "Check the date and time on your device."
        case _ where requestWasNotSent: "Check the connection, and try again."
        default: nil
        }
    }

    private func standardReason(_ host: String, _ address: String) -> String? {
        switch code {
        case .cannotConnectToHost: "no connection could be made; is a server listening at \(address)?"
        case .cannotFindHost, .dnsLookupFailed: "the host \(host) was not found; check its spelling and the network"
        case .timedOut: "it timed out; is \(address) up, and is the timeout long enough?"
        case .networkConnectionLost: "\(host) closed the connection before the response was whole; a second try may succeed"
        case .notConnectedToInternet: "there is no network connection"
        case .badServerResponse: "what came from \(host) is not an HTTP response"
        case .cannotParseResponse: "\(address) did not answer in valid HTTP; is it a web server, and the scheme right?"
        case .cannotDecodeRawData: "\(host) sent a body that is not compressed as its Content-Encoding says"
        case .cannotDecodeContentData: "\(host) sent a body with a Content-Encoding or Transfer-Encoding that is not known here"
        case .secureConnectionFailed: "no secure connection could be made; does \(address) speak TLS?"
        case .serverCertificateHasBadDate, .serverCertificateNotYetValid:
            "the certificate of \(host) has expired, or is not valid yet; is the clock right?"
        case .serverCertificateUntrusted: "the certificate of \(host) is not trusted, or is for another name"
        case .serverCertificateHasUnknownRoot:
            "no authority that this system knows has signed the certificate of \(host); on Linux, is ca-certificates installed?"
        case .badURL where host.contains(":"):
            "Foundation on Linux does not accept an IPv6 address as the host; use a name that leads to it, or another transport"
        case .unsupportedURL, .badURL: "its URL cannot be requested; check the scheme and the host"
        case .httpTooManyRedirects: "it was redirected more than \(RedirectRules.maxRedirects) times"
        case .cancelled: "the session cancelled it, as it does when its delegate does not trust the server"
        default: nil
        }
    }
}
