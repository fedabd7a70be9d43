import APIProvider
import Foundation

extension Stub {
    /// The stubs for a recording, one for each method and URL, in the order of the file.
    static func replaying(_ file: URL, forAnyHost: Bool) throws -> [Stub] {
        let entries = try HAR.entries(of: file).enumerated().filter(\.element.isHTTP)
        let groups = Dictionary(grouping: entries) { $0.element.key(at: $0.offset, forAnyHost: forAnyHost) }
        return groups.values.sorted { $0[0].offset < $1[0].offset }.map { group in
            let places = group.map { "\(file.lastPathComponent): log.entries[\($0.offset)]" }
            let responses = zip(group, places).map { StubResponse(replaying: $0.element, at: $1, beside: file, forAnyHost: forAnyHost) }
            return Stub(replaying: group[0].element, at: places[0], forAnyHost: forAnyHost, response: .repeatingLast(responses))
        }
    }

    private init(replaying entry: HAR.ReadEntry, at place: String, forAnyHost: Bool, response: StubResponse) {
        let url = URLParts(entry.url)
        let origin = forAnyHost ? nil : url.origin
        let query = url.formQuery
        self.init(
            summary: entry.url.isEmpty ? "an entry" : "\(entry.method) \(origin ?? "")\(url.path)\(query.isEmpty ? "" : "?" + query.shown)",
            matchers: [
                .method(HTTPMethod(rawValue: entry.method)), .path(PathPattern(segments: url.segments, isRecorded: true)),
                .origin(origin), .wholeQuery(query),
            ],
            isOptional: true, place: Place(fileID: place, filePath: place, line: 0, column: 0), response: response,
            problem: entry.problem.map { "its request cannot be read: \($0.localizedDescription)" })
    }
}

extension HAR.ReadEntry {
    /// The same for requests that are answered one after the other.
    fileprivate func key(at index: Int, forAnyHost: Bool) -> [ByteString] {
        guard problem == nil else { return [ByteString("\(index)")] }
        let url = URLParts(url)
        let origin = forAnyHost ? "" : url.origin ?? ""
        let query = url.formQuery.sortedByName.flatMap { [$0.name, $0.value ?? ""] }
        return ([method, origin] + url.segments + ["?"] + query).map { ByteString($0) }
    }
}

extension StubResponse {
    /// - Parameters:
    ///   - entry: The recorded request and its response.
    ///   - place: The place in the file, such as `search.har: log.entries[3]`.
    ///   - file: The recording. Other files with bodies are beside it.
    ///   - isForAnyHost: Whether links and redirects to the recorded origin lead to the host that is asked.
    fileprivate init(replaying entry: HAR.ReadEntry, at place: String, beside file: URL, forAnyHost isForAnyHost: Bool) {
        do {
            guard let response = try entry.response.get() else { throw MockFailure("the recording has no response") }
            let status = response.status
            guard status != 0 else { throw RecordedFailure(text: response._error ?? "the recording does not say why").urlError }
            guard 100...999 ~= status else { throw MockFailure("\(status) is not an HTTP status") }
            let isWithoutBody = entry.method == "HEAD" || status == 204 || status == 304
            let body = isWithoutBody ? Data() : try response.content?.body(beside: file) ?? Data()
            var headers = HTTPHeaders(response.headers, bodySize: entry.method == "HEAD" ? nil : body.count)
            if isForAnyHost, let origin = URLParts(entry.url).origin {
                headers["Location"] = headers["Location"]?.withoutOrigin(origin)
                headers["Link"] = headers["Link"]?.mappingLinkTargets { $0.withoutOrigin(origin) }
            }
            self = .data(body, status: status, headers: headers)
        } catch let reason as MockFailure {
            self = .failure(MockFailure("\(place) cannot be answered from: \(reason)."))
        } catch {
            self = .failure(error)
        }
    }
}

extension String {
    /// The path and the query if this is a URL of `origin`. Other URLs stay.
    fileprivate func withoutOrigin(_ origin: String) -> String {
        let url = URLParts(self)
        let rest = dropFirst("\(url.text.scheme ?? "")://\(url.text.authority)".count)
        // A reference that begins with two slashes names another host.
        guard url.origin == origin, !rest.hasPrefix("//") else { return self }
        return rest.hasPrefix("/") ? String(rest) : "/\(rest)"
    }

    /// The value of a `Link` field (RFC 8288) with other targets.
    fileprivate func mappingLinkTargets(_ change: (String) -> String) -> String {
        var (result, rest) = ("", self[...])
        while let start = rest.firstIndex(of: "<"), let end = rest[start...].firstIndex(of: ">") {
            result += rest[...start] + change(String(rest[rest.index(after: start)..<end]))
            rest = rest[end...]
        }
        return result + rest
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
            throw MockFailure(
                comment.flatMap { $0.isEmpty ? nil : $0 } ?? "its body was not saved; export the recording with the bodies of responses")
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
