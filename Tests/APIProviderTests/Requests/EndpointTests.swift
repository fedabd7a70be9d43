import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("A request is one value")
struct EndpointTests {
    private struct Dated: Codable, Equatable {
        let date: Date
    }

    /// A provider whose transport answers with `body`, and keeps what is sent in `sent`.
    private func provider(
        baseURL: URL? = example, status: Int = 200, headers: HTTPHeaders = [:], body: String = #"{"id":1,"name":"a"}"#,
        sent: Log<PreparedRequest> = Log(),
        encoder: JSONEncoder? = nil, decoder: any BodyDecoder = JSONDecoder()
    ) -> DefaultAPIProvider {
        let transport = ClosureTransport { request in
            sent.append(request)
            return .just(APIResponse(to: request, status: status, headers: headers, data: Data(body.utf8)))
        }
        guard let encoder else { return DefaultAPIProvider(baseURL: baseURL, transport: transport, decoder: decoder) }
        return DefaultAPIProvider(baseURL: baseURL, transport: transport, encoder: encoder, decoder: decoder)
    }

    @Test("A type, a function and an endpoint are requests")
    func spellings() async throws {
        let sent = Log<PreparedRequest>()
        let provider = provider(sent: sent)
        _ = try await provider.request(ItemRequest(id: 1)).value
        _ = try await provider.request(.item(1)).value
        _ = try await provider.request(Endpoint<Item>(.get, "/items/1")).value
        #expect(sent.entries.map { $0.url.absoluteString } == Array(repeating: "https://api.example.com/items/1", count: 3))
    }

    @Test("The endpoint is read once for each subscription, on the subscriber's thread, and the body is encoded then")
    func cold() throws {
        struct Counting: APIRequest {
            let threads: Log<ObjectIdentifier>
            var endpoint: Endpoint<Item> {
                threads.append(ObjectIdentifier(Thread.current))
                return Endpoint(.post, "", body: .json(Counted(threads: threads)))
            }
        }
        struct Counted: Encodable {
            let threads: Log<ObjectIdentifier>
            func encode(to encoder: any Encoder) throws {
                threads.append(ObjectIdentifier(Thread.current))
                var container = encoder.singleValueContainer()
                try container.encode(1)
            }
        }
        let threads = Log<ObjectIdentifier>()
        let single = provider().request(Counting(threads: threads))
        #expect(threads.entries.isEmpty)
        for count in 1...2 {
            _ = single.subscribe()
            #expect(threads.entries == Array(repeating: ObjectIdentifier(Thread.current), count: 2 * count))
        }
    }

    @Test("A path that is a URL goes there, with its query first, whatever the base URL", arguments: [example, nil])
    func urls(baseURL: URL?) async throws {
        let page = try #require(URL(string: "https://other.example/list%2F1?after=a%3D&n=1"))
        let sent = Log<PreparedRequest>()
        let provider = provider(baseURL: baseURL, sent: sent)
        _ = try await provider.request(Endpoint<Item>(.get, .url(page))).value
        _ = try await provider.request(Endpoint<Item>(.get, .url(page, "/of \("a/b")"), query: ["n": 2])).value
        #expect(
            sent.entries.map { $0.url.absoluteString } == [
                "https://other.example/list%2F1?after=a%3D&n=1", "https://other.example/list%2F1/of%20a%2Fb?after=a%3D&n=1&n=2",
            ])
    }

    @Test("Without a base URL, a path makes the request invalid, and the error says what to do")
    func noBaseURL() async throws {
        let error = try await #require(throws: APIError.self) {
            try await provider(baseURL: nil).request(Endpoint<Item>(.get, "/items/\(1)")).value
        }
        #expect(
            error.description == #"The request was not sent: its path "/items/1" needs a base URL, but baseURL is nil: "#
                + #"give DefaultAPIProvider(baseURL:) a URL with its scheme, as in "http://127.0.0.1:8080" "#
                + "(URL(string:) is nil for a text that is no URL), or write the path as .url(_:).")
    }

    @Test("A method prints as its name")
    func methodName() {
        #expect("\(HTTPMethod.trace) \("PROPFIND" as HTTPMethod)" == "TRACE PROPFIND")
    }

    @Test("Modifiers return changed copies, which keep what the others have set")
    func modifiers() async throws {
        let (sent, progress) = (Log<PreparedRequest>(), Log<TransferProgress>())
        let original = Endpoint<Item>(.get, "/items", timeoutInterval: 5)
        let changed = original.adapting { $0.urlRequest.cachePolicy = .reloadIgnoringLocalCacheData }
            .adapting { $0.headers["X-Timeout"] = "\($0.timeoutInterval ?? 0)" }
            .validating { #expect($0.statusCode == 404) }
            .onProgress(progress.append).onProgress(progress.append)
            .option(\.name, "items")
            .map(\.name)
            .withResponse()
        let transport = ReportingTransport(sent: sent, status: 404)
        let (name, response) = try await DefaultAPIProvider(baseURL: example, transport: transport).request(changed).value
        #expect(name == "a")
        #expect(response.value(forHTTPHeaderField: "X-Page") == "2")
        #expect(changed.options.name == "items")
        #expect(sent.entries.first?.urlRequest.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(sent.entries.first?.headers["X-Timeout"] == "5.0")
        #expect(progress.count == 2)
        #expect(original.options.name == nil)
        #expect(try original.preparedRequest(relativeTo: example).headers["X-Timeout"] == nil)
    }

    @Test("An error of an adapting, a validating or a transform reaches the subscriber as it is, and the first sends nothing")
    func ownErrors() async throws {
        let sent = Log<PreparedRequest>()
        let provider = provider(sent: sent)
        let item = Endpoint<Item>(.get, "")
        await #expect(throws: TestError("adapt")) { try await provider.request(item.adapting { _ in throw TestError("adapt") }).value }
        #expect(sent.entries.isEmpty)
        await #expect(throws: TestError("validate")) {
            try await provider.request(item.validating { _ in throw TestError("validate") }.map { _ in Issue.record("decoded") }).value
        }
        await #expect(throws: TestError("map")) { try await provider.request(item.map { _ in throw TestError("map") }).value }
        await #expect(throws: TestError("decode")) {
            try await provider.request(Endpoint<Int>(.get, "") { _ in throw TestError("decode") }).value
        }
    }

    @Test("A decoding error names the type that was expected, also if `map` follows")
    func mismatches() throws {
        let response = APIResponse(to: PreparedRequest("GET", "https://h/"), data: Data(#"{"id":"x"}"#.utf8))
        for endpoint in [Endpoint<Item>(.get, "").map { _ in 1 }, Endpoint<Item>(.get, "").withResponse().map { _ in 1 }] {
            let error = #expect(throws: APIError.self) { try endpoint.value(of: response) }
            #expect(
                error?.description
                    == "GET https://h/ returned 200, but the body is not Item: expected Int at id, found a string (10 bytes).")
        }
        let own = Endpoint<Int>(.get, "") { try JSONDecoder().decode(Item.self, from: $0.data).id }
        #expect(throws: APIError.self) { try own.value(of: response) }
    }

    @Test("Bodies are encoded by the provider's encoder, unless they have their own")
    func encoders() async throws {
        let encoder = JSONEncoder()
        encoder.dateEncodingStrategy = .secondsSince1970
        let own = JSONEncoder()
        own.dateEncodingStrategy = .iso8601
        let sent = Log<PreparedRequest>()
        let provider = provider(sent: sent, encoder: encoder)
        let date = Dated(date: Date(timeIntervalSince1970: 5))
        _ = try await provider.request(Endpoint<Void>(.post, "", body: .json(date))).value
        _ = try await provider.request(Endpoint<Void>(.post, "", body: .json(date, encoder: own))).value
        #expect(
            sent.entries.map { String(decoding: $0.bodyData ?? Data(), as: UTF8.self) } == [
                #"{"date":5}"#, #"{"date":"1970-01-01T00:00:05Z"}"#,
            ])
    }

    @Test("A response is read by the provider's decoder, also that of an error")
    func decoders() async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .secondsSince1970
        let date = Dated(date: Date(timeIntervalSince1970: 5))
        #expect(try await provider(body: #"{"date":5}"#, decoder: decoder).request(Endpoint<Dated>(.get, "")).value == date)
        let error = try await #require(throws: APIError.self) {
            try await provider(status: 400, body: #"{"date":5}"#, decoder: decoder).request(Endpoint<Void>(.get, "")).value
        }
        #expect(try error.response?.decode(Dated.self) == date)
    }

    @Test("A decoder of another format says what to ask for")
    func formats() async throws {
        let sent = Log<PreparedRequest>()
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        let list = String(decoding: try encoder.encode(Item(id: 1, name: "é")), as: UTF8.self)
        let provider = provider(body: list, sent: sent, decoder: PropertyListDecoder())
        struct Lines: BodyDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "Line 3 is too long."))
            }
        }
        #expect(try await provider.request(Endpoint<Item>(.get, "")).value == Item(id: 1, name: "é"))
        #expect(sent.entries.last?.headers["Accept"] == "application/x-plist")
        let own = self.provider(body: "\n", sent: sent, decoder: Lines())
        let error = try await #require(throws: APIError.self) { try await own.request(Endpoint<Item>(.get, "")).value }
        #expect(sent.entries.last?.headers["Accept"] == nil)
        #expect(error.description.contains("the body is not Item: Line 3 is too long"))
    }

    @Test("Fields whose names are equal but for their case stand in one order, too")
    func cases() {
        let fields = "abcdefgh".flatMap { [$0.lowercased(), $0.uppercased()] }
        let shown = Dictionary(uniqueKeysWithValues: fields.map { ($0, "1") }).sortedByName.map(\.name)
        #expect(shown == "abcdefgh".flatMap { [$0.uppercased(), $0.lowercased()] })
    }

    @Test("Headers and parameters are made of data, and changed")
    func collections() throws {
        var headers = HTTPHeaders(["B": "2", "A": "1"])
        #expect(headers.map(\.name) == ["A", "B"])
        headers = headers.merging(["b": "3", "C": nil])
        #expect(headers.merging(["D": "4"]) == ["A": "1", "b": "3", "D": "4"])

        var query = QueryParameters(["b": "2", "a": "1"])
        #expect(query.map(\.name) == ["a", "b"])
        query.append("b", [3, 4])
        #expect(query["b"] as? [String] == ["2", "3", "4"])
        #expect(query["a"] as? String == "1")
        #expect(query["c"] == nil)
        query["b"] = 5
        query["c"] = true
        query["a"] = nil
        query.append("d", String?.none)
        #expect((query + ["b": 6]).map { "\($0.name)=\($0.value ?? "")" } == ["b=5", "c=true", "b=6"])
        #expect(QueryParameters([URLQueryItem(name: "x", value: "y"), URLQueryItem(name: "z", value: nil)]).map(\.name) == ["x", "z"])
        let components = URLComponents(string: "https://h/?flag&empty=")
        let kept = Endpoint<Item>(.get, "", query: QueryParameters(components?.queryItems ?? []) + QueryParameters(["n": 1]))
        #expect(try kept.preparedRequest(relativeTo: example).url.query == "flag&empty=&n=1")
        let unnamed = QueryParameters([URLQueryItem(name: "", value: nil), URLQueryItem(name: "a", value: "b")])
        #expect(try Endpoint<Item>(.get, "", query: unnamed).preparedRequest(relativeTo: example).url.query == "&a=b")
        let mixed: [String: any QueryValue] = ["b": true, "a": 1]
        #expect(QueryParameters(mixed).map { $0.value } == ["1", "true"])
        #expect(QueryParameters([(key: "z", value: "1"), (key: "a", value: "2")]).map(\.name) == ["z", "a"])
    }

    @Test("More values stand in a query")
    func queryValues() {
        let mixed: [any QueryValue] = [1, "a", true]
        let query: QueryParameters = [
            "s": "swift".prefix(2), "c": Character("é"), "d": Decimal(string: "12345678901234567890.5"), "set": Set(["b", "a"]),
            "any": mixed.queryValues, "none": Set<Int>(),
        ]
        #expect(
            query.map { "\($0.name)=\($0.value ?? "")" } == [
                "s=sw", "c=é", "d=12345678901234567890.5", "set=a", "set=b", "any=1", "any=a", "any=true",
            ])
    }

    @Test("Dates and raw values are segments, as they are in a query")
    func segments() throws {
        enum Kind: String { case open = "is open" }
        let endpoint = Endpoint<Item>(.get, "/\(Date(timeIntervalSince1970: 0))/\(Kind.open)/\(true)/\(HTTPMethod.get)")
        #expect(try endpoint.preparedRequest(relativeTo: example).url.path == "/1970-01-01T00:00:00Z/is open/true/GET")
        enum Named: String, CustomStringConvertible {
            case first = "a"
            var description: String { "b" }
        }
        #expect("\(RequestPath("/\(Named.first)/x"))" == "/b/x")
    }

    @Test("A path that is a URL is shown with what is added to it, and a literal may not begin with an escape")
    func shownPaths() throws {
        let url = try #require(URL(string: "https://h/x?a=b"))
        #expect("\(RequestPath.url(url))" == "https://h/x?a=…")
        #expect("\(RequestPath.url(url, "y"))" == "https://h/x?a=… + y")
        #expect(throws: APIError.self) { try Endpoint<Item>(.get, "%41").preparedRequest(relativeTo: example) }
    }

    @Test("An option whose type is optional has its default until it is set")
    func optionalOption() {
        enum Key: RequestOptionKey { static var defaultValue: Double? { 30 } }
        var options = RequestOptions()
        #expect(options[Key.self] == 30)
        options[Key.self] = nil
        #expect(options[Key.self] == nil)
        options[Key.self] = 1
        #expect(options[Key.self] == 1)
    }

    @Test("A download that a middleware answers is written, too, and a refused one is not")
    func answeredDownload() throws {
        let folder = TemporaryFolder()
        let file = folder.url("file")
        let download = Endpoint(.get, "", downloadingTo: file)
        #expect(throws: APIError.self) {
            try download.value(of: APIResponse(to: PreparedRequest("GET"), status: 404, data: Data("no".utf8)))
        }
        _ = try download.validating { _ in }.value(of: APIResponse(to: PreparedRequest("GET"), status: 404, data: Data("no".utf8)))
        #expect(try folder.names.isEmpty)
        #expect(try download.value(of: APIResponse(to: PreparedRequest("GET"), data: Data("yes".utf8))) == file)
        #expect(try Data(contentsOf: file) == Data("yes".utf8))
    }

    @Test("An endpoint that is printed shows no value")
    func printed() {
        let endpoint = Endpoint<Item>(
            .post, "/bot\(secret: "s3cret:1")/send", query: ["q": "s3cret"], headers: ["X": "s3cret"], body: .json(["a": "s3cret"]))
        var dumped = ""
        dump(endpoint, to: &dumped)
        for form in ["\(endpoint)", String(reflecting: endpoint), dumped, "\([endpoint])"] {
            #expect(form.contains("POST /bot…/send"), "\(form)")
            #expect(!form.contains("s3cret"), "\(form)")
        }
    }

    @Test("A secret segment shows in no error, log line or cURL text, and is sent")
    func secretSegments() async throws {
        let (sent, log) = (Log<PreparedRequest>(), Log<String>())
        let echo = ClosureTransport { request in
            sent.append(request)
            let body = #"{"path":"\#(request.url.path)","url":"\#(request.url.absoluteString)"}"#
            return .just(APIResponse(to: request, status: 404, data: Data(body.utf8)))
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: echo, middlewares: [LoggingMiddleware(.bodies, log: log.append)])
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<Item>(.get, "/bot\(secret: "7:s3gment")/getMe")).value
        }
        let request = try #require(sent.entries.first)
        #expect(request.url.absoluteString == "https://api.example.com/bot7%3As3gment/getMe")
        for text in ["\(error)", "\(error as NSError)", request.curlCommand()] + log.entries {
            #expect(!text.contains("s3gment"), "\(text)")
            #expect(text.contains("/bot…/getMe"), "\(text)")
        }
        #expect(request.curlCommand(redacting: .none).contains("s3gment"))
    }

    @Test("A request is logged by its name, if it has one")
    func names() async throws {
        let log = Log<String>()
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { .just(APIResponse(to: $0, status: $0.method == "GET" ? 200 : 500)) },
            middlewares: [LoggingMiddleware(now: { .init(uptimeNanoseconds: 1) }, log: log.append)])
        _ = try await provider.request(Endpoint<Void>(.get, "/users/\(1)").option(\.name, "user(login:)")).value
        _ = try? await provider.request(Endpoint<Void>(.post, "/users").option(\.name, "addUser")).value
        let offline = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport { _ in .error(URLError(.notConnectedToInternet)) },
            middlewares: [LoggingMiddleware(now: { .init(uptimeNanoseconds: 1) }, log: log.append)])
        _ = try? await offline.request(Endpoint<Void>(.post, "/users").option(\.name, "addUser")).value
        #expect(
            log.entries == [
                "user(login:): 200 OK, 0 bytes, 0 ms", "addUser: 500 Internal Server Error, 0 bytes, 0 ms",
                "addUser failed: there is no network connection (URLError -1009). 0 ms",
            ])
    }
}

private struct ItemRequest: APIRequest {
    let id: Int
    var endpoint: Endpoint<Item> { Endpoint(.get, "/items/\(id)") }
}

extension APIRequest where Self == Endpoint<Item> {
    fileprivate static func item(_ id: Int) -> Self { Endpoint(.get, "/items/\(id)") }
}

/// Reports progress once, and answers with an item.
private struct ReportingTransport: Transport {
    let sent: Log<PreparedRequest>
    let status: Int

    func send(_ request: PreparedRequest) -> Single<APIResponse> {
        sent.append(request)
        request.reportProgress?(TransferProgress(bytesReceived: 1))
        return .just(APIResponse(to: request, status: status, headers: ["X-Page": "2"], data: Data(#"{"id":1,"name":"a"}"#.utf8)))
    }
}
