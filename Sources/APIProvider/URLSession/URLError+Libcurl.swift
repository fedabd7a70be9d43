import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Error {
    /// The error with the code that Apple's systems use. Foundation on Linux reports many errors of libcurl as `.unknown` or with a wrong
    /// code, and only the message tells them apart.
    var mappingLibcurlMessage: any Error {
        #if canImport(FoundationNetworking)
        guard let error = self as? URLError, [.unknown, .unsupportedURL, .badServerResponse].contains(error.code) else { return self }
        let text = error.localizedDescription
        if let failure = URLError.proxyFailures.first(where: { $0.words.contains(where: text.contains) }) {
            return URLError(failure.code, reason: failure.reason, userInfo: error.userInfo)
        }
        guard let code = URLError.codesOfMessages.first(where: { $0.words.contains(where: text.contains) })?.code else { return self }
        var userInfo = error.userInfo
        if code == .dataLengthExceedsMaximum {
            userInfo[NSLocalizedDescriptionKey] = "the head of the request or of the response is larger than the system takes"
        }
        return URLError(code, userInfo: userInfo)
        #else
        return self
        #endif
    }
}

#if canImport(FoundationNetworking)
extension URLError {
    /// What libcurl says if a proxy has not connected it to the server. The first that is found counts.
    fileprivate static let proxyFailures: [(code: Code, words: [String], reason: String)] = [
        (
            .userAuthenticationRequired, ["CONNECT tunnel failed, response 407", "HTTP code 407 from proxy"],
            "the proxy asks for a user name and a password; set them in the URL of the proxy"
        ),
        (
            .cannotConnectToHost, ["CONNECT tunnel failed", "from proxy after CONNECT"],
            "the proxy has made no connection; does it allow this host and port?"
        ),
    ]

    /// Words of libcurl 7.76 to 8.23; most of them have changed at least once. The first that are found count.
    fileprivate static let codesOfMessages: [(code: Code, words: [String])] = [
        // Messages with the name of a host, which may itself have any of the words below.
        (.notConnectedToInternet, ["Network is unreachable"]),
        (.cannotConnectToHost, ["Failed to connect", "connect to server"]),
        (.serverCertificateUntrusted, ["certificate subject name"]),
        (.secureConnectionFailed, ["TLS connect error", "SSL_connect: SSL_ERROR_SYSCALL"]),

        (.dataLengthExceedsMaximum, ["response headers", "Out of memory", "larger than allowed", "request too large"]),
        (.serverCertificateHasUnknownRoot, ["trust anchors", "verify locations", "certificate file", "certificate path", "SSL CA cert"]),
        (.networkConnectionLost, ["Empty reply", "transfer closed", "end of response with", "partial file", "reset by peer", "the peer"]),
        (.networkConnectionLost, ["unexpected eof", "closed abruptly", "SSL_ERROR_SYSCALL", "Connection died", "Recv failure"]),
        (.networkConnectionLost, ["Send failure", "HTTP/2 stream", "HTTP2", "nghttp2", "framing layer"]),
        (.cannotDecodeRawData, ["content unencoding"]),
        (.cannotDecodeContentData, ["content encoding", "Transfer-Encoding", "Reject response"]),
        (.cannotParseResponse, ["HTTP/0.9", "Unsupported HTTP", "Unsupported response", "status line", "101 response", "server reply"]),
        (.cannotParseResponse, ["Content-Length", "chunk", "Multiple Location", "Version mismatch"]),
        // A line of the head that Foundation cannot read: libcurl calls that an output which failed.
        (.cannotParseResponse, ["writing header", "writing output", "Header without", "in header", "Invalid response header"]),
        (.serverCertificateHasBadDate, ["has expired"]),
        (.serverCertificateNotYetValid, ["not yet valid"]),
        (.serverCertificateUntrusted, ["certificate"]),
        (.secureConnectionFailed, ["SSL", "TLS"]),
    ]
}
#endif
