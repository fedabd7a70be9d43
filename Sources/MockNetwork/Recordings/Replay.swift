import APIProvider
public import Foundation

extension MockURLProtocol {
    /// Answers requests from a HAR file, which ``RecordingMiddleware``, a browser or a proxy has written.
    ///
    /// ```swift
    /// let file = try #require(Bundle.module.url(forResource: "search", withExtension: "har"))
    /// try MockURLProtocol.replay(har: file)
    /// ```
    ///
    /// Each recorded method and URL becomes an optional stub. A request must have the same items in its query, in any order. A value that
    /// was recorded as `REDACTED` matches any value. Several entries with the same method and URL answer one after the other, and the last
    /// one then answers all further requests. Bodies and headers of requests are not compared. Newer stubs answer before the file, and
    /// older ones after it.
    ///
    /// An entry with the status 0 has no response, and its request fails with a `URLError`. Entries that are not HTTP, such as WebSockets
    /// and `data:` URLs, are ignored. Bodies were decompressed before they were recorded. They have no `Content-Encoding` and their own
    /// `Content-Length`, and arrive at once.
    ///
    /// If the browser did not save the body of an entry, its request fails, and the error says so. Bodies that Playwright saves in files
    /// beside the recording are read from there.
    ///
    /// - Parameters:
    ///   - file: The recording.
    ///   - isForAnyHost: Whether the entries also answer requests to other hosts, schemes and ports, such as those of a staging server.
    /// - Throws: An error with one sentence that names the file and the place in it, such as `log.entries[3].response.status`. Then nothing
    ///   is stubbed.
    public static func replay(har file: URL, forAnyHost isForAnyHost: Bool = false) throws {
        let recording = try Recording(contentsOf: file)
        var stubs: [(key: [ExactText], exchanges: [Recording.Exchange])] = []
        var indices: [[ExactText]: Int] = [:]
        for exchange in recording.exchanges {
            let key = exchange.key(forAnyHost: isForAnyHost)
            if let index = indices[key] {
                stubs[index].exchanges.append(exchange)
            } else {
                indices[key] = stubs.count
                stubs.append((key, [exchange]))
            }
        }
        let scope = scope
        for (_, exchanges) in stubs {
            _ = scope.add(Stub(replaying: exchanges, of: file.lastPathComponent, forAnyHost: isForAnyHost))
        }
    }
}

extension Stub {
    /// Creates the stub for one method and URL.
    fileprivate init(replaying exchanges: [Recording.Exchange], of fileName: String, forAnyHost: Bool) {
        let first = exchanges[0]
        let parts = first.parts
        let origin = forAnyHost ? nil : parts.origin
        let query = parts.formQuery
        self.init(
            line: "\(first.method.rawValue) \(origin.map { "\($0)" } ?? "")\(parts.path)\(query.isEmpty ? "" : "?" + query.shown)",
            matchers: [.method(first.method), .path(PathPattern(segments: parts.segments, isRecorded: true))]
                + (origin.map { [.origin($0)] } ?? []) + [.wholeQuery(query)],
            isOptional: true, place: Place(fileID: first.place(in: fileName), filePath: fileName, line: 0, column: 0),
            response: .repeatingLast(exchanges.map { $0.response(in: fileName) }))
    }
}

extension Recording.Exchange {
    fileprivate var parts: URLParts { URLParts(url.absoluteString) }

    fileprivate func place(in fileName: String) -> String { "\(fileName): log.entries[\(index)]" }

    /// The same for requests that are answered one after the other.
    fileprivate func key(forAnyHost: Bool) -> [ExactText] {
        let parts = parts
        let origin = forAnyHost ? "" : parts.origin.map { "\($0)" } ?? ""
        return
            ([method.rawValue, origin] + parts.segments + ["?"]
            + parts.formQuery.sortedByName.flatMap { [$0.name, $0.value ?? ""] }).map { ExactText($0) }
    }

    fileprivate func response(in fileName: String) -> StubResponse {
        switch answer {
        case .response(let status, let headers, let body): .data(body, status: status, headers: headers)
        case .failure(let failure): .failure(failure.urlError)
        case .unusable(let reason): .failure(MockFailure("\(place(in: fileName)) cannot be answered from: \(reason)."))
        }
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
            return Mismatch(
                name: "query", Difference(expected: text(items), actual: text(actual)),
                distance: 0.5 * Double(max(differences.count, others.count, 1)) / Double(max(items.count, actual.count, 1)))
        }
    }

    private static func matches(_ expected: URLQueryItem, _ actual: URLQueryItem) -> Bool {
        expected.name == actual.name && (expected.value ?? "").mayHaveBeen(actual.value ?? "")
    }

    private static func text(_ items: [URLQueryItem]) -> String {
        items.isEmpty ? "none" : items.shown
    }
}

extension [URLQueryItem] {
    fileprivate var sortedByName: [URLQueryItem] {
        enumerated().sorted { ($0.element.name, $0.offset) < ($1.element.name, $1.offset) }.map(\.element)
    }
}
