import APIProvider
public import Foundation

extension MockURLProtocol {
    /// Answers requests from a HAR file: one that ``RecordingMiddleware`` wrote, or that a browser or a proxy exported.
    ///
    /// ```swift
    /// try MockURLProtocol.replay(har: Bundle.module.url(forResource: "search", withExtension: "har")!)
    /// ```
    ///
    /// Each recorded method and URL becomes a stub that may go unused. A request must have the same query, in whatever order; a value that was
    /// recorded as `REDACTED` stands for any. Several entries of one method and URL answer in their order, and then the last again and again.
    /// Bodies and headers of requests are not compared. Older stubs go on answering what is not in the file, newer ones come before it.
    ///
    /// An entry without a response, with the status 0, fails its request with a `URLError`. Entries that are not HTTP, such as WebSockets and
    /// `data:` URLs, are passed over. Bodies stand in the file as they were decoded, so that they come without Content-Encoding and with their
    /// own Content-Length, and at once.
    ///
    /// - Throws: An error whose description is one sentence with the name of the file and, as a path such as `log.entries[3].response.status`,
    ///   the place in it. Then nothing is stubbed.
    public static func replay(har file: URL) throws {
        let recording = try Recording(contentsOf: file)
        var stubs: [(key: [String], exchanges: [Recording.Exchange])] = []
        var indices: [[String]: Int] = [:]
        for exchange in recording.exchanges {
            if let index = indices[exchange.key] {
                stubs[index].exchanges.append(exchange)
            } else {
                indices[exchange.key] = stubs.count
                stubs.append((exchange.key, [exchange]))
            }
        }
        let scope = scope
        for (_, exchanges) in stubs { _ = scope.add(Stub(replaying: exchanges, of: file.lastPathComponent)) }
    }
}

extension Stub {
    /// Answers one method and URL.
    fileprivate init(replaying exchanges: [Recording.Exchange], of fileName: String) {
        let first = exchanges[0]
        let pattern = URLPattern(first.url.absoluteString)
        let query = pattern.query
        self.init(
            line: "\(first.method.rawValue) \(pattern.pathAndOrigin)\(query.isEmpty ? "" : "?" + query.shown)",
            matchers: [.method(first.method)] + pattern.matchers(isRecorded: true) + [.wholeQuery(query)], isOptional: true,
            place: Place(fileID: "\(fileName): log.entries[\(first.index)]", filePath: fileName, line: 0, column: 0),
            response: .repeatingLast(exchanges.map(\.response)))
    }
}

extension Recording.Exchange {
    /// The same for requests that are answered one after the other.
    fileprivate var key: [String] {
        let target = Target(url.absoluteString)
        return [method.rawValue, "\(target.origin.map { "\($0)" } ?? "")"] + target.segments + ["?"]
            + target.query.sortedByName.flatMap { [$0.name, $0.value ?? ""] }
    }

    fileprivate var response: StubResponse {
        switch answer {
        case .response(let status, let headers, let body): .data(body, status: status, headers: headers)
        case .failure(let failure): .failure(failure.urlError)
        }
    }
}

extension Matcher {
    /// These items and no others, those of one name in this order.
    fileprivate static func wholeQuery(_ items: [URLQueryItem]) -> Matcher {
        let expected = items.sortedByName
        return Matcher { incoming in
            let actual = incoming.target.query
            return actual.count == expected.count && zip(expected, actual.sortedByName).allSatisfy(matches)
        } explain: { incoming in
            let actual = incoming.target.query
            let differences = expected.filter { item in !actual.contains { matches(item, $0) } }
            let others = actual.filter { item in !expected.contains { matches($0, item) } }
            return Mismatch(
                name: "query", expected: text(items), actual: text(actual),
                distance: 0.5 * Double(max(differences.count, others.count, 1)) / Double(max(items.count, actual.count, 1)))
        }
    }

    private static func matches(_ expected: URLQueryItem, _ actual: URLQueryItem) -> Bool {
        expected.name == actual.name && Redaction.matches(expected.value ?? "", actual.value ?? "")
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
