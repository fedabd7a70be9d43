import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// What happened and what to look at. Linux's own descriptions say only that "the operation could not be completed".
    func sentence(for request: URLRequest) -> String {
        let url = request.url
        let host = url?.host ?? "the host"
        let port = url?.port ?? (url?.scheme == "https" ? 443 : 80)
        let text =
            switch code {
            case .cannotConnectToHost: "the connection was refused; is a server listening at \(host):\(port)?"
            case .cannotFindHost, .dnsLookupFailed: "the host \(host) was not found; check its spelling and the network"
            case .timedOut: "it timed out; no data came from \(host) in time"
            case .networkConnectionLost: "\(host) closed the connection before the response was whole"
            case .notConnectedToInternet: "there is no network connection"
            case .badServerResponse: "\(host) closed the connection without a response"
            case .unsupportedURL, .badURL: "the answer or the URL is none that HTTP knows"
            case .httpTooManyRedirects: "it was redirected more than \(URLSessionTransport.maximumRedirects) times"
            case .cancelled: "the session was invalidated"
            default: localizedDescription.withoutFullStop
            }
        return "\(text) (URLError \(code.rawValue))."
    }
}
