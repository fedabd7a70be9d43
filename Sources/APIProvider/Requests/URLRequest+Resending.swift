import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Whether the same request can be sent once more: a body that is a stream has been read by then.
    var canBeSentAgain: Bool { httpBodyStream == nil }
}
