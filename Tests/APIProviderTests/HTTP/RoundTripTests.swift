import APIProvider
import Foundation
import TestSupport
import Testing

/// What was put into a URL or a form comes out again. A failure names the seed that shows it again.
@Suite("What is built reads back")
struct RoundTripTests {
    static let seeds: [UInt64] = [1, 2, .random(in: .min ... .max)]

    @Test("Segments that are interpolated into a path", arguments: seeds)
    func segments(seed: UInt64) throws {
        try forRandomTexts(seed) { random in
            let (first, second) = (random.segment(), random.segment())
            let url = try url(of: Endpoint<Item>(.get, "/p/\(first)/q-\(second)/"))
            let segments = try components(of: url).percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false)
            #expect(segments.map { String($0).removingPercentEncoding } == ["", "p", first, "q-" + second, ""], "seed \(seed): \(url)")
        }
    }

    @Test("A path that is plain text", arguments: seeds)
    func path(seed: UInt64) throws {
        try forRandomTexts(seed) { random in
            let path = random.text()
            let endpoint = Endpoint<Item>(.get, .url(example.appendingPathComponent("v3"), RequestPath(path)))
            guard !path.unicodeScalars.split(separator: "/").contains(where: { [".", ".."].contains(String($0)) }) else {
                #expect(throws: APIError.self) { try endpoint.preparedRequest() }
                return
            }
            let url = try url(of: endpoint)
            let text = String(String.UnicodeScalarView(path.unicodeScalars.drop { $0 == "/" }))
            let built = try components(of: url).percentEncodedPath.removingPercentEncoding
            #expect(built == (path.isEmpty ? "/v3" : "/v3/" + text), "seed \(seed): \(url)")
        }
    }

    @Test("Names and values of a query, behind that of the base", arguments: seeds)
    func query(seed: UInt64) throws {
        let base = try #require(URL(string: "https://api.example.com/x?base=1%2B+#fragment"))
        try forRandomTexts(seed) { random in
            let (name, value, list) = (random.text(), random.text(), [random.text(), random.text()])
            let request = Endpoint<Item>(.get, .url(base), query: query(name, value, list))
            let url = try url(of: request)
            let items = [("base", "1++"), (name, value), (name, list[0]), (name, list[1])].map { URLQueryItem(name: $0, value: $1) }
            #expect(try components(of: url).queryItems == items, "seed \(seed): \(url)")
            #expect(try self.url(of: request) == url, "seed \(seed)")
        }
    }

    @Test("Names and values of a form, read as the WHATWG URL standard says", arguments: seeds)
    func form(seed: UInt64) throws {
        try forRandomTexts(seed) { random in
            let (name, value, list) = (random.text(), random.text(), [random.text(), random.text()])
            let body = HTTPBody.form(query(name, value, list))
            let sent = try #require(try Endpoint<Item>(.post, "", body: body).preparedRequest(relativeTo: example).bodyData)
            let text = String(decoding: sent, as: UTF8.self)
            #expect(parsed(form: sent) == [[name, value], [name, list[0]], [name, list[1]]], "seed \(seed): \(text)")
        }
    }

    private func query(_ name: String, _ value: String, _ list: [String]) -> QueryParameters {
        var query = QueryParameters([(key: name, value: value)])
        query.append("nil", String?.none)
        query.append(name, list)
        return query
    }

    private func forRandomTexts(_ seed: UInt64, _ test: (inout SeededGenerator) throws -> Void) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<500 { try test(&random) }
    }

    private func url(of request: Endpoint<Item>) throws -> URL { try request.preparedRequest(relativeTo: example).url }

    private func components(of url: URL) throws -> URLComponents {
        // What was built is a URL by anybody's rules, and stays as it is.
        #expect(URL(string: url.absoluteString)?.absoluteString == url.absoluteString)
        return try #require(URLComponents(url: url, resolvingAgainstBaseURL: true))
    }

    /// The standard's parser: section 5.1.
    private func parsed(form: Data) -> [[String]] {
        form.split(separator: UInt8(ascii: "&")).map { sequence in
            let parts = sequence.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false)
            return parts.map { part in
                String(decoding: part.map { $0 == UInt8(ascii: "+") ? UInt8(ascii: " ") : $0 }, as: UTF8.self).removingPercentEncoding ?? ""
            }
        }
    }
}

extension SeededGenerator {
    /// A text that may stand alone in a segment.
    fileprivate mutating func segment() -> String {
        let text = text()
        return ["", ".", ".."].contains(text) ? "x" + text : text
    }
}
