import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Stub {
    /// Matches what `request` sends: its method, path, query and body.
    init(
        _ request: some APIRequest, baseURL: URL?, encoder: JSONEncoder, times: Int?, isOptional: Bool, sourceLocation: SourceLocation,
        response: StubResponse
    ) {
        let endpoint = request.endpoint
        do {
            let sent = try endpoint.preparedRequest(relativeTo: baseURL ?? .anyHost, encoder: encoder, mediaType: nil)
            let parts = URLParts(sent.url.absoluteString)
            let path = ReportRedactor(for: sent).path(parts.path)
            let isRelative = endpoint.path.url == nil && baseURL == nil
            let origin = isRelative ? nil : parts.origin
            let query = parts.query
            self.init(
                summary: "\(endpoint.method.rawValue) \(origin ?? "")\(path)\(query.isEmpty ? "" : "?" + query.redacted)",
                matchers: [
                    .method(endpoint.method), .path(PathPattern(segments: parts.segments, isRelative: isRelative, redacted: path)),
                    .origin(origin),
                ] + Matcher.queries(query) + (BodyMatcher(of: sent).map { [.body($0)] } ?? []),
                times: times ?? .max, isOptional: isOptional, sourceLocation: sourceLocation, response: response)
        } catch {
            // Only to rank this stub among the nearest ones of a report.
            let url = URLParts((endpoint.path.url?.absoluteString ?? "") + endpoint.path.percentEncoded)
            let reason =
                if case .invalidRequest(let reason, _)? = error as? APIError { reason } else { "\(error)" }
            self.init(
                summary: "\(endpoint)", matchers: [.method(endpoint.method), .path(PathPattern(segments: url.segments))],
                times: times ?? .max, isOptional: isOptional, sourceLocation: sourceLocation, response: response,
                problem: "its request cannot be sent: \(reason)")
        }
    }
}

extension StubResponse {
    /// Creates the response that an endpoint decodes as `value`.
    init<Value: Encodable>(_ value: Value, of endpoint: Endpoint<Value>, encoder: JSONEncoder) {
        switch value {
        case let data as Data: self = .data(data)
        case let text as String: self = .data(Data(text.utf8), headers: ["Content-Type": "text/plain; charset=utf-8"])
        case let file as URL where !endpoint.destination.isMemory:
            self = StubResponse(statusCode: 200) { StubResponse.steps(of: try Data(contentsOf: file)) }
        default: self = StubResponse(statusCode: 200, type: "application/json") { [.data(try encoder.encode(value))] }
        }
    }
}

extension BodyMatcher {
    /// Matches a body with the same meaning as the body of `request`. `nil` for a GET or HEAD, unless the body is JSON, a form or
    /// multipart.
    fileprivate init?(of request: PreparedRequest) {
        let body = (try? request.body?.data()) ?? Data()
        let type = body.isEmpty ? "" : request.headers["Content-Type"]?.mediaType ?? ""
        if type == "application/json" || type.hasSuffix("+json"), let text = String(data: body, encoding: .utf8) {
            self = .json(text: text)
        } else if type == "application/x-www-form-urlencoded" {
            self = .form(QueryParameters([URLQueryItem](form: String(decoding: body, as: UTF8.self))))
        } else if type == "multipart/form-data" {
            self = .multipart(body)
        } else if [.get, .head].contains(request.method) {
            return nil
        } else {
            self = .data(body)
        }
    }
}

extension URL {
    /// Stands for the base URL of a request that is stubbed for any host.
    fileprivate static let anyHost = URL(string: "http://any.invalid") ?? URL(fileURLWithPath: "/")
}
