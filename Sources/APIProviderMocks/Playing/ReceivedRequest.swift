public import APIProvider
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request to the mock, for tests to check.
public struct ReceivedRequest: Sendable {
    /// The request method.
    public let method: HTTPMethod
    @HiddenFromReflection private var content: (request: PreparedRequest, body: Data)
    /// The answering stub's identity; `nil` without one.
    var stub: ObjectIdentifier?
    /// The name of a source's answer; `nil` without one.
    var source: String?
    /// Further names with secret values, for reports.
    let hiddenNames: [String]
    /// Whether nothing answered the request.
    var isUnanswered = false

    /// The URL with the query.
    public var url: URL { content.request.url }

    /// The headers from the app, the provider and the session's configuration, and the provider's cookies. Headers added by Foundation are
    /// missing.
    public var headers: HTTPHeaders { content.request.headers }

    /// The body, even of a stream; empty without a body.
    public var body: Data { content.body }

    /// The sent request with the whole body.
    var prepared: PreparedRequest { content.request }

    /// The path, decoded.
    public var path: String { url.path }

    /// The query items in order, decoded.
    public var queryItems: [URLQueryItem] {
        URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    }

    /// Decodes the body from JSON.
    ///
    /// - Throws: `DecodingError` if the body does not fit the type.
    public func json<T: Decodable>(_ type: T.Type) throws -> T { try JSONDecoder().decodeWithoutTrapping(type, from: body) }

    init(_ request: PreparedRequest, hiding hiddenNames: [String] = []) {
        // A copy, because a mapped file may shrink later.
        let body = (try? request.body?.data()).flatMap { $0.withUnsafeBytes { Data($0) } } ?? Data()
        (method, self.hiddenNames) = (request.method, hiddenNames)
        var whole = request
        whole.reportProgress = nil
        if !body.isEmpty { whole.body = RequestBody(body) }
        content = (whole, body)
    }

    /// The same request with at most the first `count` bytes of the body.
    func keepingBody(upTo count: Int) -> ReceivedRequest {
        guard body.count > count else { return self }
        // A copy, because a slice keeps the whole.
        let start = body.withUnsafeBytes { Data($0.prefix(count)) }
        var request = self
        (request.content.request.body, request.content.body) = (RequestBody(start), start)
        return request
    }
}
