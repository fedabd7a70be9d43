import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension URLRequest {
    /// Whether the request may reach a server twice: by its method (RFC 9110, section 9.2.2), or because it has an Idempotency-Key.
    var isIdempotent: Bool { isIdempotent([.get, .head, .options, .trace, .put, .delete]) }

    /// Whether the request may reach a server twice, if those with these methods may.
    func isIdempotent(_ methods: Set<HTTPMethod>) -> Bool {
        methods.contains(HTTPMethod(rawValue: httpMethod ?? "GET")) || value(forHTTPHeaderField: "Idempotency-Key") != nil
    }
}
