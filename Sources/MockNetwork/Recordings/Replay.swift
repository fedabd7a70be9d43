import APIProvider
import Foundation

extension Stub {
    /// The stubs for a recording, one for each method and URL, in the order of the file.
    static func replaying(_ file: URL, forAnyHost: Bool) throws -> [Stub] {
        let entries = try HAR.entries(of: file).enumerated().filter(\.element.isHTTP)
        let groups = Dictionary(grouping: entries) { $0.element.request.key(forAnyHost: forAnyHost) }
        return groups.values.sorted { $0[0].offset < $1[0].offset }.map { group in
            let places = group.map { "\(file.lastPathComponent): log.entries[\($0.offset)]" }
            let request = group[0].element.request
            let responses = zip(group, places).map {
                StubResponse(replaying: $0.element.response, to: request.method, at: $1, beside: file)
            }
            return Stub(replaying: request, at: places[0], forAnyHost: forAnyHost, response: .repeatingLast(responses))
        }
    }

    private init(replaying request: HAR.Request, at place: String, forAnyHost: Bool, response: StubResponse) {
        let url = URLParts(request.url)
        let origin = forAnyHost ? nil : url.origin
        let query = url.formQuery
        self.init(
            line: "\(request.method) \(origin ?? "")\(url.path)\(query.isEmpty ? "" : "?" + query.shown)",
            matchers: [
                .method(HTTPMethod(rawValue: request.method)), .path(PathPattern(segments: url.segments, isRecorded: true)),
                .origin(origin), .wholeQuery(query),
            ],
            isOptional: true, place: Place(fileID: place, filePath: place, line: 0, column: 0), response: response)
    }
}

extension HAR.Request {
    /// The same for requests that are answered one after the other.
    fileprivate func key(forAnyHost: Bool) -> [ByteString] {
        let url = URLParts(url)
        let origin = forAnyHost ? "" : url.origin ?? ""
        let query = url.formQuery.sortedByName.flatMap { [$0.name, $0.value ?? ""] }
        return ([method, origin] + url.segments + ["?"] + query).map { ByteString($0) }
    }
}

extension StubResponse {
    /// - Parameters:
    ///   - response: The recorded response. `nil` if there is none.
    ///   - place: The place in the file, such as `search.har: log.entries[3]`.
    ///   - file: The recording. Bodies in files of their own are beside it.
    fileprivate init(replaying response: HAR.Response?, to method: String, at place: String, beside file: URL) {
        do {
            guard let response else { throw MockFailure("the recording has no response") }
            let status = response.status
            guard status != 0 else { throw RecordedFailure(text: response._error ?? "the recording does not say why").urlError }
            guard 100...999 ~= status else { throw MockFailure("\(status) is not an HTTP status") }
            let isWithoutBody = method == "HEAD" || status == 204 || status == 304
            let body = isWithoutBody ? Data() : try response.content?.body(beside: file) ?? Data()
            self = .data(body, status: status, headers: HTTPHeaders(response.headers, bodySize: method == "HEAD" ? nil : body.count))
        } catch let reason as MockFailure {
            self = .failure(MockFailure("\(place) cannot be answered from: \(reason)."))
        } catch {
            self = .failure(error)
        }
    }
}

extension HAR.Content {
    fileprivate func body(beside file: URL) throws -> Data {
        if let name = _file {
            let folder = file.deletingLastPathComponent().standardized
            let other = folder.appendingPathComponent(name).standardized
            guard other.path.hasPrefix(folder.path + "/"), let body = try? Data(contentsOf: other) else {
                throw MockFailure("its body is in the file \"\(name)\", which is not beside the recording")
            }
            return body
        }
        guard text != nil || size <= 0 else {
            throw MockFailure(comment ?? "its body was not saved; export the recording with the bodies of responses")
        }
        return body ?? Data()
    }
}

extension HTTPHeaders {
    /// The fields for the body in the file, which is complete and decompressed. A HEAD keeps its `Content-Length`.
    fileprivate init(_ fields: [HAR.Field], bodySize: Int?) {
        self.init()
        for field in fields {
            // Firefox joins fields of the same name with line breaks, and HTTP/2 has fields such as `:status`.
            guard let value = field.value?.split(whereSeparator: \.isNewline).joined(separator: ", "),
                (try? HTTPHeaders.check(field.name, value)) != nil
            else { continue }
            self[field.name] = self[field.name].map { "\($0), \(value)" } ?? value
        }
        self["Transfer-Encoding"] = nil
        self["Content-Encoding"] = nil
        if self["Content-Length"] != nil, let bodySize { self["Content-Length"] = "\(bodySize)" }
    }
}

extension Matcher {
    /// Matches exactly these items. Items of the same name must be in this order.
    fileprivate static func wholeQuery(_ items: [URLQueryItem]) -> Matcher {
        let expected = items.sortedByName
        return Matcher { request in
            let actual = request.url.formQuery
            return actual.count == expected.count && zip(expected, actual.sortedByName).allSatisfy(matches)
        } explain: { request in
            let actual = request.url.formQuery
            let differences = expected.filter { item in !actual.contains { matches(item, $0) } }
            let others = actual.filter { item in !expected.contains { matches($0, item) } }
            let texts = [items, actual].map { $0.isEmpty ? "none" : $0.shown }
            return Mismatch(
                name: "query", Difference(expected: texts[0], actual: texts[1]),
                distance: 0.5 * Double(max(differences.count, others.count, 1)) / Double(max(items.count, actual.count, 1)))
        }
    }

    private static func matches(_ expected: URLQueryItem, _ actual: URLQueryItem) -> Bool {
        expected.name == actual.name && (expected.value ?? "").matchesRedacted(actual.value ?? "")
    }
}

extension [URLQueryItem] {
    fileprivate var sortedByName: [URLQueryItem] {
        enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }
}
