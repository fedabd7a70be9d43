import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    static func passed(_ maximum: Int) -> URLError {
        let text = "the response is larger than the transport's maximumResponseSize of \(maximum) bytes"
        return URLError(.dataLengthExceedsMaximum, userInfo: [NSLocalizedDescriptionKey: text])
    }

    /// The error with a reason, if the connection was lost before the answer to a large body came: a server that does not want to read a
    /// body closes the connection. How much the server has read, and not only the system, is not known.
    func explained(for request: URLRequest) -> URLError {
        guard code == .networkConnectionLost, let count = request.bodyLength, count > 65_536 else { return self }
        let host = request.url?.host ?? "the host"
        let reason = "\(host) closed the connection before its answer came; does it take a body of \(count) bytes?"
        return URLError(code, userInfo: userInfo.merging([URLError.reasonKey: reason]) { $1 })
    }
}
