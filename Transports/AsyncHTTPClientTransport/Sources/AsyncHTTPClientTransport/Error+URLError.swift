import AsyncHTTPClient
import Foundation
import NIOCore
import NIOHTTP1
import NIOHTTP2
import NIOHTTPCompression
import NIOPosix
import NIOSSL

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Error {
    /// The error that `URLSession` reports for the same failure.
    ///
    /// - Parameter isConnecting: Whether nothing of the request was sent. `RetryMiddleware` repeats a `POST` after an error of connecting.
    func asURLError(_ maxResponseSize: Int?, isConnecting: Bool) -> any Error {
        switch self {
        case let error as HTTPClientError: error.urlError
        case let error as NIOConnectionError: error.urlError
        case let error as IOError: error.urlError(isConnecting)
        case let error as ChannelError: error.urlError
        case let error as HTTPParserError: error.urlError
        case let error as NIOSSLError: error.urlError
        case is NIOSSLExtraError: URLError(.serverCertificateUntrusted)
        case let error as NIOHTTPDecompression.DecompressionError where error == .limit: URLError.passed(maxResponseSize)
        case is NIOHTTPDecompression.DecompressionError, is NIOHTTPDecompression.ExtraDecompressionError: URLError(.cannotDecodeRawData)
        case is NIOHTTP2Errors.StreamClosed: URLError(.networkConnectionLost)
        case is URLError, is CocoaError: self
        case let error as SocketAddressError where error == .unixDomainSocketPathTooLong:
            URLError.noConnection("the path of the socket is too long")
        default: isConnecting ? URLError.noConnection("\(self)") : URLError(.unknown, "\(self)")
        }
    }
}

extension URLError {
    /// - Parameter reason: What `APIError` says in the place of the sentence for the code.
    fileprivate init(_ code: URLError.Code, _ reason: String) {
        self.init(code, userInfo: [NSLocalizedFailureReasonErrorKey: reason])
    }

    fileprivate static func noConnection(_ reason: String) -> URLError {
        URLError(.cannotConnectToHost, "no connection could be made: \(reason)")
    }

    fileprivate static func passed(_ maximum: Int?) -> URLError {
        URLError(.dataLengthExceedsMaximum, "the response is larger than the transport's maxResponseSize of \(maximum ?? 0) bytes")
    }
}

extension HTTPClientError {
    fileprivate var urlError: URLError {
        switch self {
        case .connectTimeout, .readTimeout, .writeTimeout, .deadlineExceeded, .tlsHandshakeTimeout, .getConnectionFromPoolTimeout,
            .socksHandshakeTimeout, .httpProxyHandshakeTimeout:
            URLError(.timedOut)
        case .remoteConnectionClosed, .uncleanShutdown, .requestStreamCancelled: URLError(.networkConnectionLost)
        // Nobody hears of a request that the transport itself has cancelled.
        case .cancelled: URLError(.cancelled, "the HTTPClient has been shut down")
        case .invalidURL, .emptyHost, .emptyScheme, .missingSocketPath: URLError(.badURL)
        case .invalidProxyResponse: URLError(.cannotConnectToHost, "the proxy has made no connection; does it allow this host and port?")
        case .proxyAuthenticationRequired:
            URLError(
                .userAuthenticationRequired,
                "the proxy asks for a user name and a password; set them in the client's configuration")
        case .alreadyShutdown: URLError(.unknown, "the HTTPClient has been shut down")
        case .bodyLengthMismatch: URLError(.unknown, "the body has more or fewer bytes than its Content-Length says")
        default: URLError(.unknown, "\(self)")
        }
    }
}

extension NIOConnectionError {
    fileprivate var urlError: URLError {
        // It may be a proxy that cannot be reached.
        var components = URLComponents()
        (components.host, components.port) = (host, port)
        return URLError(code, userInfo: components.url.map { [NSURLErrorFailingURLErrorKey: $0] } ?? [:])
    }

    private var code: URLError.Code {
        guard let last = connectionErrors.last else { return .cannotFindHost }
        return switch last.error {
        case ChannelError.connectTimeout: .timedOut
        case let error as IOError where error.errnoCode == ETIMEDOUT: .timedOut
        default: .cannotConnectToHost
        }
    }
}

extension IOError {
    fileprivate func urlError(_ isConnecting: Bool) -> URLError {
        switch errnoCode {
        case ETIMEDOUT: URLError(.timedOut)
        case ECONNRESET, EPIPE, ENOTCONN, EBADF: URLError(.networkConnectionLost)
        // The system also ends a connection in use with these, when the way to the server is gone.
        case ENETUNREACH, ENETDOWN: URLError(isConnecting ? .notConnectedToInternet : .networkConnectionLost)
        // The last is that of a socket without its file.
        case ECONNREFUSED, EHOSTUNREACH, EADDRNOTAVAIL, ENOENT: URLError(isConnecting ? .cannotConnectToHost : .networkConnectionLost)
        default:
            isConnecting ? .noConnection(strerror(errnoCode).map { String(cString: $0) } ?? "\(self)") : URLError(.unknown, "\(self)")
        }
    }
}

extension ChannelError {
    fileprivate var urlError: URLError {
        switch self {
        case .connectTimeout: URLError(.timedOut)
        case .ioOnClosedChannel, .alreadyClosed, .outputClosed, .inputClosed, .eof: URLError(.networkConnectionLost)
        default: URLError(.unknown, "\(self)")
        }
    }
}

extension HTTPParserError {
    fileprivate var urlError: URLError {
        switch self {
        case .invalidEOFState, .closedConnection: URLError(.networkConnectionLost)
        case .headerOverflow:
            URLError(.dataLengthExceedsMaximum, "the head of the request or of the response is larger than the system takes")
        default: URLError(.cannotParseResponse)
        }
    }
}

extension NIOSSLError {
    fileprivate var urlError: URLError {
        switch self {
        case .uncleanShutdown: URLError(.networkConnectionLost)
        case .handshakeFailed(.sslError(let stack)) where "\(stack)".contains("CERTIFICATE_VERIFY_FAILED"):
            URLError(.serverCertificateUntrusted)
        case .noCertificateToValidate, .unableToValidateCertificate: URLError(.serverCertificateUntrusted)
        default: URLError(.secureConnectionFailed)
        }
    }
}
