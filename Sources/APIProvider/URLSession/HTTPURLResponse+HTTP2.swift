#if canImport(FoundationNetworking)
import Foundation
package import FoundationNetworking
#else
package import Foundation
#endif

extension HTTPURLResponse {
    /// Whether its host may have answered by HTTP/2. A session on Linux does not say so (Swift 6.3.1), but fields of a connection are of
    /// HTTP/1.1 alone (RFC 9113, section 8.2.2). A server that speaks HTTP/1.1 may leave them out: Go's do.
    package var mayBeOfHTTP2: Bool {
        url?.scheme?.lowercased() == "https"
            && ["Connection", "Keep-Alive", "Transfer-Encoding"].allSatisfy { value(forHTTPHeaderField: $0) == nil }
    }
}
