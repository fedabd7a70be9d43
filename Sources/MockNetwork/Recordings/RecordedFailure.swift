import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// The reason why a recorded request had no response, as text without secrets: `URLError -1001`, the name of another error's type, or a
/// browser's text.
struct RecordedFailure {
    let text: String

    init(text: String) { self.text = text }

    init(_ error: any Error) {
        let error = (error as? APIError)?.urlError ?? (error as? APIError)?.underlying ?? error
        text = (error as? URLError).map { "\(Self.prefix)\($0.code.rawValue)" } ?? "\(type(of: error))"
    }

    /// The error in replay.
    var urlError: URLError {
        let number = text.hasPrefix(Self.prefix) ? Int(text.dropFirst(Self.prefix.count)) : nil
        let code = number.flatMap { URLError.Code(rawValue: $0) as URLError.Code? } ?? .unknown
        let userInfo = code == .unknown ? [NSLocalizedDescriptionKey: "there was no response when this was recorded: \(text)"] : [:]
        return URLError(code, userInfo: userInfo)
    }

    private static let prefix = "URLError "
}
