public import APIProvider
public import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// A request that reached the mock: what a test looks at to see what the app asked for.
public struct RecordedRequest: Sendable {
    /// The request method.
    public let method: HTTPMethod
    /// The whole URL.
    public let url: URL
    private let fields: [String: String]
    /// The whole body, whether it came as data or as a stream.
    public let body: Data
    /// The stub that has answered it, if one has.
    public internal(set) var stub: Stub?

    /// The headers that the app and its provider set.
    public var headers: HTTPHeaders {
        fields.sorted { $0.key < $1.key }.reduce(into: [:]) { $0[$1.key] = $1.value }
    }

    /// The path, without its escapes.
    public var path: String { url.path }

    /// The query, without its escapes, in order.
    public var queryItems: [URLQueryItem] {
        URLComponents(url: url, resolvingAgainstBaseURL: true)?.queryItems ?? []
    }

    /// Decodes the body from JSON.
    ///
    /// - Throws: `DecodingError`, when it is something else.
    public func json<T: Decodable>(_ type: T.Type) throws -> T { try JSONDecoder().decodeAny(type, from: body) }

    init(_ request: URLRequest) {
        method = HTTPMethod(rawValue: request.httpMethod ?? "GET")
        url = request.url ?? URL(fileURLWithPath: "/")
        fields = request.allHTTPHeaderFields ?? [:]
        body = request.httpBody ?? request.httpBodyStream.map(Data.init(reading:)) ?? Data()
    }
}

extension RecordedRequest: CustomStringConvertible {
    /// The method, the URL and the beginning of the body, with the values of secrets left out.
    public var description: String {
        let line = "\(method.rawValue) \(url.maskingSecrets)"
        guard !body.isEmpty else { return line }
        guard let text = String(utf8PrefixOf: body, maximum: 1024) else { return "\(line)\n\(body.count) bytes that are no text" }
        return "\(line)\n\(Secret.masked(in: text))\(body.count > 1024 ? "… (\(body.count) bytes)" : "")"
    }
}

extension URL {
    /// The URL as it is sent, but for its user and the values of parameters named like secrets.
    fileprivate var maskingSecrets: String {
        guard var components = URLComponents(url: self, resolvingAgainstBaseURL: true) else { return redacted }
        if components.user != nil { components.user = "…" }
        (components.password, components.fragment) = (nil, nil)
        let path = SecretSegments.masked(inPath: components.percentEncodedPath)
        if path != components.percentEncodedPath { components.path = path }
        components.queryItems = components.queryItems?.map { URLQueryItem(name: $0.name, value: $0.value == nil ? nil : $0.shownValue) }
        return (components.string ?? redacted).replacingOccurrences(of: "%E2%80%A6", with: "…")
    }
}

extension Data {
    fileprivate init(reading stream: InputStream) {
        self.init()
        stream.open()
        defer { stream.close() }
        var buffer = [UInt8](repeating: 0, count: 65536)
        while case let count = stream.read(&buffer, maxLength: buffer.count), count > 0 { append(contentsOf: buffer[..<count]) }
    }
}
