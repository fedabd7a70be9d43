import APIProvider
import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension Stub {
    init(
        _ method: HTTPMethod, _ url: String, query: QueryParameters?, headers: HTTPHeaders?, body: BodyMatcher?, times: Int?,
        isOptional: Bool, sourceLocation: SourceLocation, response: StubResponse
    ) {
        let pattern = URLPattern(url)
        let items = pattern.query + (query ?? [:])
        let parts: [Matcher?] =
            [.method(method), .path(pattern.path), pattern.origin.map { .origin($0) }] + Matcher.queries(items)
            + (headers ?? [:]).map { .header($0.name, $0.value) } + [body.map { .body($0) }]
        self.init(
            summary: {
                let redactor = ReportRedactor.standard
                let name = "\(method.rawValue) \(redactor.url(String(pattern.pathAndOrigin)))"
                return name + (items.isEmpty ? "" : "?" + redactor.query(items)) + (body?.summary.map { " \($0)" } ?? "")
            }, matchers: parts.compactMap { $0 }, times: times, isOptional: isOptional, sourceLocation: sourceLocation, response: response,
            problem: pattern.problem.map { "its URL can match no request, because \($0)" } ?? body?.problem)
    }

    /// Matches the method, path, query and body of `request`.
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
            let matchers: [Matcher?] =
                [
                    .method(endpoint.method), .path(PathPattern(segments: parts.segments, isRelative: isRelative, redacted: path)),
                    origin.map { .origin($0) },
                ] + Matcher.queries(query) + [BodyMatcher(of: sent).map { .body($0) }]
            self.init(
                summary: {
                    "\(endpoint.method.rawValue) \(origin ?? "")\(path)"
                        + (query.isEmpty ? "" : "?" + ReportRedactor.standard.query(query))
                }, matchers: matchers.compactMap { $0 }, times: times, isOptional: isOptional, sourceLocation: sourceLocation,
                response: response)
        } catch {
            // Only for ranking in a report.
            let url = URLParts((endpoint.path.url?.absoluteString ?? "") + endpoint.path.percentEncoded)
            let reason = if case .invalidRequest(let reason, _)? = error as? APIError { reason } else { "\(error)" }
            self.init(
                summary: { "\(endpoint)" }, matchers: [.method(endpoint.method), .path(PathPattern(segments: url.segments))],
                times: times, isOptional: isOptional, sourceLocation: sourceLocation, response: response,
                problem: "its request cannot be sent: \(reason)")
        }
    }
}

extension StubResponse {
    /// Creates a response that an endpoint decodes to `value`.
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
    /// Matches a body with the same values as `request`'s; `nil` for a GET or HEAD, unless the body is JSON, a form or multipart.
    fileprivate init?(of request: PreparedRequest) {
        let body = (try? request.body?.data()) ?? Data()
        let type = body.isEmpty ? "" : request.headers["Content-Type"] ?? ""
        let notation: BodyLines.Notation? =
            switch type.mediaType {
            case "application/x-www-form-urlencoded": .form
            case "multipart/form-data": .multipart
            default: type.mediaType == "application/json" || type.mediaType.hasSuffix("+json") ? .json : nil
            }
        if let notation, let lines = BodyMatcher(body, type: type, notation) {
            self = lines
        } else if notation == nil, [.get, .head].contains(request.method) {
            return nil
        } else {
            self = .data(body)
        }
    }
}

extension URL {
    /// The base URL of a request for any host.
    fileprivate static let anyHost = URL(string: "http://any.invalid") ?? URL(fileURLWithPath: "/")
}
