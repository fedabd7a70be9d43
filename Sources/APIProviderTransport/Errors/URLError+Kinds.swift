package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLError {
    /// The key of a transport's own reason, which replaces the code's description.
    static let reasonKey = NSLocalizedFailureReasonErrorKey

    /// An error with a reason in place of the code's description.
    package init(_ code: Code, reason: String, userInfo: [String: Any] = [:]) {
        self.init(code, userInfo: userInfo.merging([Self.reasonKey: reason]) { $1 })
    }

    /// Whether the device has no connection to a usable network.
    var isOffline: Bool {
        [.notConnectedToInternet, .dataNotAllowed, .internationalRoamingOff, .callIsActive].contains(code)
    }

    /// Whether the request cannot have reached the server.
    var requestWasNotSent: Bool { isOffline || [.cannotConnectToHost, .cannotFindHost, .dnsLookupFailed].contains(code) }

    /// Whether a second attempt may succeed.
    package var isTransient: Bool {
        requestWasNotSent || [.timedOut, .networkConnectionLost, .badServerResponse, .cannotParseResponse].contains(code)
    }

    /// - Parameter isInMemory: Whether files have no limit.
    static func responseTooLarge(limit: Int, isInMemory: Bool) -> URLError {
        let text =
            isInMemory
            ? "the response is larger than \(limit) bytes; download it to a file, with downloadingTo:, or set the transport's maxResponseSize"
            : "the response is larger than the transport's maxResponseSize of \(limit) bytes"
        return URLError(.dataLengthExceedsMaximum, reason: text)
    }
}
