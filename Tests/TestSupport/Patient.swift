#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension URLSessionConfiguration {
    /// An ephemeral configuration without a timeout that may fire on a busy machine.
    package static var patient: URLSessionConfiguration {
        let configuration = ephemeral
        configuration.timeoutIntervalForRequest = 600
        return configuration
    }
}
