import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

private let prefix = "URLError "

extension Error {
    /// The reason why a recorded request had no response, as text without secrets: `URLError -1001`, or the name of another error's type.
    var recordedReason: String {
        let error = (self as? APIError)?.urlError ?? (self as? APIError)?.underlying ?? self
        return (error as? URLError).map { "\(prefix)\($0.code.rawValue)" } ?? "\(type(of: error))"
    }
}

extension URLError {
    /// The error in replay. The reason may be a browser's.
    init(recordedReason reason: String) {
        let number = reason.hasPrefix(prefix) ? Int(reason.dropFirst(prefix.count)) : nil
        let code = number.flatMap { Code(rawValue: $0) as Code? } ?? .unknown
        let userInfo = code == .unknown ? [NSLocalizedDescriptionKey: "there was no response when this was recorded: \(reason)"] : [:]
        self.init(code, userInfo: userInfo)
    }
}
