import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Error {
    /// The error with the same code as on Apple's systems. Foundation on Linux reports many libcurl errors as `.unknown` or with a wrong
    /// code, and only the message tells them apart.
    ///
    /// - Parameter response: The response's head, if any.
    func mappingLibcurlMessage(with response: URLResponse?) -> any Error {
        #if canImport(FoundationNetworking)
        guard let error = self as? URLError else { return self }
        let text = error.localizedDescription
        if error.code == .cannotConnectToHost { return error.namingProxy(text) }
        guard [.unknown, .unsupportedURL, .badServerResponse].contains(error.code) else { return self }
        if let failure = URLError.proxyFailures.first(where: { $0.words.contains(where: text.contains) }) {
            return URLError(failure.code, reason: failure.reason, userInfo: error.userInfo)
        }
        // libcurl uses the same words for a full disk and for bytes after a gzip's end.
        if text.contains("Failed writing received data"), let response = response as? HTTPURLResponse,
            response.joinedValue(forHTTPHeaderField: "Content-Encoding") != nil
        {
            let reason =
                "\(response.url?.host ?? "the host") sent a compressed body that has data after its end, which Foundation on Linux does not "
                + "read; ask for it uncompressed, with the header Accept-Encoding: identity"
            return URLError(.cannotDecodeRawData, reason: reason, userInfo: error.userInfo)
        }
        guard let code = URLError.codesByMessage.first(where: { $0.words.contains(where: text.contains) })?.code else { return self }
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

// MARK: - Proxies and messages

#if canImport(FoundationNetworking)
extension URL {
    /// The environment's proxy for this URL. `no_proxy` may exclude the host.
    var environmentProxy: String? {
        let names = scheme?.lowercased() == "https" ? ["https_proxy", "HTTPS_PROXY"] : ["http_proxy"]
        return (names + ["all_proxy", "ALL_PROXY"]).lazy.compactMap { getenv($0).map { String(cString: $0) } }.first { !$0.isEmpty }
    }
}

extension URLError {
    /// Adds a reason about the proxy, if libcurl's `text` is about the connection to it.
    fileprivate func namingProxy(_ text: String) -> URLError {
        guard let name = failingURL?.environmentProxy,
            let proxy = URLComponents(string: name.contains("://") ? name : "http://\(name)"), let host = proxy.host
        else { return self }
        // libcurl's default for a proxy.
        let port = proxy.port ?? (proxy.scheme == "https" ? 443 : 1080)
        guard ["\(host) port \(port)", "\(host):\(port)"].contains(where: text.contains) else { return self }
        let reason = "no connection to the proxy could be made; is it listening at \(host):\(port)?"
        return URLError(code, reason: reason, userInfo: userInfo)
    }

    /// libcurl's messages about a proxy's failed connection to the server. The first match counts.
    fileprivate static let proxyFailures: [(code: Code, words: [String], reason: String)] = [
        (
            .userAuthenticationRequired, ["CONNECT tunnel failed, response 407", "HTTP code 407 from proxy"],
            "the proxy asks for a user name and a password; set them in the URL of the proxy"
        ),
        (
            .cannotConnectToHost, ["CONNECT tunnel failed", "from proxy after CONNECT", "Proxy CONNECT aborted"],
            "the proxy has made no connection; does it allow this host and port?"
        ),
        (
            .cannotFindHost, ["resolve proxy"],
            "the proxy was not found; check the spelling of its name in the environment, and the network"
        ),
    ]

    /// Words from libcurl 7.76 to 8.23, most of them changed at least once. The first match counts.
    fileprivate static let codesByMessage: [(code: Code, words: [String])] = [
        // Messages with a host name, which may contain any of the words below.
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
        // An unreadable line in the head, which libcurl calls a failed output.
        (.cannotParseResponse, ["writing header", "writing output", "Header without", "in header", "Invalid response header"]),
        (.serverCertificateHasBadDate, ["has expired"]),
        (.serverCertificateNotYetValid, ["not yet valid"]),
        (.serverCertificateUntrusted, ["certificate"]),
        (.secureConnectionFailed, ["SSL", "TLS"]),
    ]
}
#endif
