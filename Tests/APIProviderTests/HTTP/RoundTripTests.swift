import APIProvider
import Foundation
import TestSupport
import Testing

/// A failure names the seed that repeats it.
@Suite("URLs and forms read back as they were built")
struct RoundTripTests {
    static let seeds: [UInt64] = [1, 2, .random(in: .min ... .max)]

    @Test("Segments that are interpolated into a path", arguments: seeds)
    func segments(seed: UInt64) throws {
        try forRandomTexts(seed) { random in
            // These may not stand alone in a segment.
            let texts = [random.text(), random.text()].map { ["", ".", ".."].contains($0) ? "x" + $0 : $0 }
            let url = try components(of: Endpoint<Item>(.get, "/p/\(texts[0])/q-\(texts[1])/"))
            let segments = url.percentEncodedPath.split(separator: "/", omittingEmptySubsequences: false)
            #expect(
                segments.map { String($0).removingPercentEncoding } == ["", "p", texts[0], "q-" + texts[1], ""], "seed \(seed): \(url)")
        }
    }

    @Test("A path that is plain text", arguments: seeds)
    func path(seed: UInt64) throws {
        try forRandomTexts(seed) { random in
            let path = random.text()
            let endpoint = Endpoint<Item>(.get, .url(example.appendingPathComponent("v3"), RequestPath(path)))
            let hasDots = path.unicodeScalars.split(separator: "/").contains { [".", ".."].contains(String($0)) }
            guard !hasDots, !path.utf8.starts(with: "//".utf8) else {
                #expect(throws: APIError.self) { try endpoint.preparedRequest() }
                return
            }
            let url = try components(of: endpoint)
            let text = String(String.UnicodeScalarView(path.unicodeScalars.drop { $0 == "/" }))
            #expect(url.percentEncodedPath.removingPercentEncoding == (path.isEmpty ? "/v3" : "/v3/" + text), "seed \(seed): \(url)")
        }
    }

    @Test("Names and values of a query after that of the base, and of a form by the WHATWG URL standard", arguments: seeds)
    func query(seed: UInt64) throws {
        let base = try #require(URL(string: "https://api.example.com/x?base=1%2B+#fragment"))
        try forRandomTexts(seed) { random in
            let (name, texts) = (random.text(), [random.text(), random.text(), random.text()])
            var query = QueryParameters([(key: name, value: texts[0])])
            query.append("nil", String?.none)
            query.append(name, Array(texts.dropFirst()))
            let url = try components(of: Endpoint(.get, .url(base), query: query))
            let items = [URLQueryItem(name: "base", value: "1++")] + texts.map { URLQueryItem(name: name, value: $0) }
            #expect(url.queryItems == items, "seed \(seed): \(url)")
            let form = try #require(try Endpoint<Item>(.post, "", body: .form(query)).preparedRequest(relativeTo: example).bodyData)
            #expect(parsed(form: form) == texts.map { [name, $0] }, "seed \(seed): \(String(decoding: form, as: UTF8.self))")
        }
    }

    @Test("A byte order mark is sent as any other character")
    func byteOrderMark() throws {
        let query: QueryParameters = ["\u{FEFF}b": "\u{FEFF}"]
        let url = try components(of: Endpoint(.get, "/p/\("\u{FEFF}a")", query: query))
        #expect(url.percentEncodedPath == "/p/%EF%BB%BFa" && url.percentEncodedQuery == "%EF%BB%BFb=%EF%BB%BF")
        let form = try Endpoint<Item>(.post, "", body: .form(query)).preparedRequest(relativeTo: example).bodyData
        #expect(form == Data("%EF%BB%BFb=%EF%BB%BF".utf8))
    }

    private func forRandomTexts(_ seed: UInt64, _ test: (inout SeededGenerator) throws -> Void) throws {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<rounds(200) { try test(&random) }
    }

    private func components(of request: Endpoint<Item>) throws -> URLComponents {
        let url = try request.preparedRequest(relativeTo: example).url
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
