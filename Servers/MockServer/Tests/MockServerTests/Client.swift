import Foundation
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A client that knows nothing of the package.
struct Client {
    let url: URL

    func get(_ path: String) async throws -> (status: Int, headers: [String: String], text: String) { try await send("GET", path) }

    /// The response to a request whose redirects are not followed.
    func send(
        _ method: String, _ path: String, headers: [String: String] = [:], body: Data? = nil
    ) async throws -> (status: Int, headers: [String: String], text: String) {
        var request = URLRequest(url: try #require(URL(string: url.absoluteString + path)))
        (request.httpMethod, request.httpBody) = (method, body)
        for (name, value) in headers { request.setValue(value, forHTTPHeaderField: name) }
        let (data, response) = try await URLSession(configuration: .ephemeral, delegate: NoRedirects(), delegateQueue: nil).data(
            for: request)
        let head = try #require(response as? HTTPURLResponse)
        let fields = head.allHeaderFields.compactMap { name, value in
            (name as? String).flatMap { name in (value as? String).map { (name, $0) } }
        }
        return (head.statusCode, Dictionary(fields) { first, _ in first }, String(decoding: data, as: UTF8.self))
    }
}

private final class NoRedirects: NSObject, URLSessionTaskDelegate {
    func urlSession(
        _ session: URLSession, task: URLSessionTask, willPerformHTTPRedirection response: HTTPURLResponse, newRequest request: URLRequest,
        completionHandler: @escaping @Sendable (URLRequest?) -> Void
    ) { completionHandler(nil) }
}
