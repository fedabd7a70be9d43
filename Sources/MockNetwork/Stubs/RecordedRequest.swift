public import APIProvider
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that reached the mock. Tests check it to see what the app sent.
public struct RecordedRequest: Sendable {
    /// The request method.
    public let method: HTTPMethod
    /// The URL with its query.
    public let url: URL
    /// The headers that the app and its provider set. Headers that the session adds are missing.
    public let headers: HTTPHeaders
    /// The body, also if it was sent as a stream. Empty if there is none.
    public let body: Data
    /// The stub that answered the request. `nil` if none did.
    public internal(set) var stub: Stub?
    /// What reports show of it.
    let redactor: RecordingRedactor

    /// The path, decoded.
    public var path: String { url.path }

    /// The items of the query in order, decoded.
    public var queryItems: [URLQueryItem] {
        URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    }

    /// Decodes the body from JSON.
    ///
    /// - Throws: `DecodingError` if the body does not fit the type.
    public func json<T: Decodable>(_ type: T.Type) throws -> T { try JSONDecoder().decodeAny(type, from: body) }

    init(_ request: PreparedRequest) {
        (method, url, headers) = (request.method, request.url, request.headers)
        redactor = RecordingRedactor(for: request, isReport: true)
        // A copy: a file that is mapped may become shorter later.
        body = (try? request.body?.data()).flatMap { $0.withUnsafeBytes { Data($0) } } ?? Data()
    }
}

extension RecordedRequest: CustomStringConvertible {
    /// The method, the URL and the beginning of the body, without secrets.
    public var description: String {
        let line = "\(method.rawValue) \(redactor.url(url.absoluteString))"
        guard !body.isEmpty else { return line }
        guard let text = redactor.text(of: body) else { return "\(line)\n\(body.count) bytes that are not text" }
        return "\(line)\n\(text.utf8.count > 1024 ? "\(text.prefix(1024))… (\(body.count) bytes)" : text)"
    }
}

extension RecordedRequest: CustomReflectable {
    /// The method, the URL, the headers and the beginning of the body, without secrets.
    public var customMirror: Mirror {
        let headers = headers.map { "\($0.name): \(redactor.header($0.name, $0.value))" }
        return Mirror(
            self, children: ["method": method.rawValue, "url": redactor.url(url.absoluteString), "headers": headers, "body": body.shown])
    }
}
