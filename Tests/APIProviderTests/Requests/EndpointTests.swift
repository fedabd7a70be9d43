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

    private let item = Answers(.status(200, headers: ["X-Page": "2"], body: #"{"id":1,"name":"a"}"#))

    @Test("The endpoint is read and the body is encoded once for each subscription, on the subscriber's thread")
    func cold() {
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
                try "counted".encode(to: encoder)
            }
        }
        let threads = Log<ObjectIdentifier>()
        let single = item.provider().request(Counting(threads: threads))
        #expect(threads.entries.isEmpty)
        for count in 1...2 {
            _ = single.subscribe()
            #expect(threads.entries == Array(repeating: ObjectIdentifier(Thread.current), count: 2 * count))
        }
    }

    @Test("Without a base URL, a path makes the request invalid, and the error says what to do")
    func noBaseURL() throws {
        let error = try #require(throws: APIError.self) { try Endpoint<Item>(.get, "/items/\(1)").preparedRequest() }
        #expect(error.description.contains(#"its path "/items/1" needs a base URL, but baseURL is nil: give DefaultAPIProvider(baseURL:)"#))
    }

    @Test("Modifiers return changed copies, which keep what the others have set")
    func modifiers() async throws {
        let progress = Log<TransferProgress>()
        let original = Endpoint<Item>(.get, "/items", timeoutInterval: 5)
        let changed = original.adapting { $0.urlRequest.cachePolicy = .reloadIgnoringLocalCacheData }
            .adapting { $0.headers["X-Timeout"] = "\($0.timeoutInterval ?? 0)" }
            .validating { #expect($0.statusCode == 404) }
            .onProgress(progress.append).onProgress(progress.append)
            .option(\.name, "items")
            .map(\.name)
            .timeout(.seconds(3_600))
            .withResponse()
        let answers = Answers(.status(404, headers: ["X-Page": "2"], body: #"{"id":1,"name":"a"}"#))
        let transport = ClosureTransport { request in
            request.reportProgress?(TransferProgress(bytesReceived: 1))
            return answers.next(request)
        }
        let (name, response) = try await DefaultAPIProvider(baseURL: example, transport: transport).request(changed).value
        #expect(name == "a")
        #expect(response.value(forHTTPHeaderField: "X-Page") == "2")
        #expect(changed.options.name == "items")
        #expect(answers.requests.first?.urlRequest.cachePolicy == .reloadIgnoringLocalCacheData)
        #expect(answers.requests.first?.headers["X-Timeout"] == "5.0")
        #expect(progress.count == 2)
        #expect(original.options.name == nil)
        #expect(try original.preparedRequest(relativeTo: example).headers["X-Timeout"] == nil)
    }

    @Test("adapting may replace a URL of another scheme")
    func anotherScheme() throws {
        let endpoint = Endpoint<Item>(.get, "/a").adapting { $0.url = example }
        #expect(try endpoint.preparedRequest(relativeTo: URL(string: "app://api/v1")).url == example)
    }

    @Test("An error that a closure of the endpoint throws reaches the subscriber unchanged, and after adapting nothing is sent")
    func closureErrors() async throws {
        let get = Endpoint<Item>(.get, "")
        let failing: [(Endpoint<Int>, String)] = [
            (get.adapting { _ in throw TestError("adapt") }.map(\.id), "adapt"),
            (get.validating { _ in throw TestError("validate") }.map { _ in throw TestError("map") }, "validate"),
            (get.map { _ in throw TestError("map") }, "map"),
            (Endpoint<Int>(.get, "") { _ in throw TestError("decode") }, "decode"),
        ]
        for (endpoint, name) in failing {
            await #expect(throws: TestError(name)) { try await item.provider().request(endpoint).value }
        }
        #expect(item.requests.count == 3)
    }

    @Test("A decoding error names the type that was expected, also before `map` and in a closure that decodes")
    func mismatches() throws {
        let response = APIResponse(to: PreparedRequest("GET", "https://h/"), data: Data(#"{"id":"x"}"#.utf8))
        let item = Endpoint<Item>(.get, "")
        let own = Endpoint<Int>(.get, "") { try JSONDecoder().decode(Item.self, from: $0.data).id }
        for (endpoint, type) in [(item.map(\.id), "Item"), (item.withResponse().map { $0.value.id }, "Item"), (own, "Int")] {
            let error = #expect(throws: APIError.self) { try endpoint.value(of: response) }
            #expect(error?.description.contains("the body is not \(type): expected Int at id, found a string") == true)
        }
    }

    @Test("Bodies and responses, also of errors, use the provider's encoder and decoder, unless the body has its own encoder")
    func coders() async throws {
        let (encoder, own, decoder) = (JSONEncoder(), JSONEncoder(), JSONDecoder())
        encoder.dateEncodingStrategy = .secondsSince1970
        decoder.dateDecodingStrategy = .secondsSince1970
        own.dateEncodingStrategy = .iso8601
        let answers = Answers(.status(200, body: #"{"date":5}"#), .status(400, body: #"{"date":5}"#))
        let provider = DefaultAPIProvider(baseURL: example, transport: ClosureTransport(answers.next), encoder: encoder, decoder: decoder)
        let date = Dated(date: Date(timeIntervalSince1970: 5))
        #expect(try await provider.request(Endpoint<Dated>(.post, "", body: .json(date))).value == date)
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<Void>(.post, "", body: .json(date, encoder: own))).value
        }
        #expect(try error.response?.decode(Dated.self) == date)
        let bodies = answers.requests.map { String(decoding: $0.bodyData ?? Data(), as: UTF8.self) }
        #expect(bodies == [#"{"date":5}"#, #"{"date":"1970-01-01T00:00:05Z"}"#])
    }

    @Test("A decoder of another format says what to ask for, and describes its errors")
    func formats() async throws {
        struct Lines: BodyDecoder {
            func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
                throw DecodingError.dataCorrupted(.init(codingPath: [], debugDescription: "Line 3 is too long."))
            }
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .xml
        let answers = Answers(.status(200, body: String(decoding: try encoder.encode(Item(id: 1, name: "é")), as: UTF8.self)))
        let transport = ClosureTransport(answers.next)
        let lists = DefaultAPIProvider(baseURL: example, transport: transport, decoder: PropertyListDecoder())
        #expect(try await lists.request(Endpoint<Item>(.get, "")).value == Item(id: 1, name: "é"))
        let lines = DefaultAPIProvider(baseURL: example, transport: transport, decoder: Lines())
        let error = try await #require(throws: APIError.self) { try await lines.request(Endpoint<Item>(.get, "")).value }
        #expect(error.description.contains("the body is not Item: a value in it is not valid"))
        #expect(answers.requests.map { $0.headers["Accept"] } == ["application/x-plist", nil])
    }

    @Test("A stream of bytes does not ask for what the provider decodes, and neither do bytes")
    func formatOfBytes() async throws {
        let answers = Answers(.status(200, body: "1"))
        let provider = answers.provider()
        _ = try await provider.request(Endpoint<Int>(.get, "")).value
        _ = try await provider.request(Endpoint<ByteStream>(.get, "")).value
        _ = try await provider.request(Endpoint<Data>(.get, "")).value
        #expect(answers.requests.map { $0.headers["Accept"] } == ["application/json", nil, nil])
    }

    @Test("An endpoint may have a decoder of its own, which also reads the bodies of errors and says what to ask for")
    func ownDecoder() async throws {
        struct Seconds: Decodable, Equatable { let createdAt: Date }
        let answers = Answers(.status(200, body: #"{"created_at":5}"#), .status(400, body: #"{"created_at":5}"#))
        let decoder = JSONDecoder()
        (decoder.keyDecodingStrategy, decoder.dateDecodingStrategy) = (.convertFromSnakeCase, .secondsSince1970)
        let expected = Seconds(createdAt: Date(timeIntervalSince1970: 5))
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport(answers.next), decoder: PropertyListDecoder(), middlewares: [RetryMiddleware()])
        let endpoint = Endpoint<Seconds>(.get, "").decoder(decoder)
        #expect(try await provider.request(endpoint).value == expected)
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint.map { $0 }.withResponse()).value }
        #expect(try error.response?.decode(Seconds.self) == expected)
        #expect(answers.requests.map { $0.headers["Accept"] } == ["application/json", "application/json"])
        // Without a provider, as in a test.
        let request = try endpoint.decoder(PropertyListDecoder()).decoder(decoder).preparedRequest(relativeTo: example)
        #expect(try endpoint.value(of: APIResponse(to: request, data: Data(#"{"created_at":5}"#.utf8))) == expected)
        let unreadable = #expect(throws: APIError.self) { try endpoint.value(of: APIResponse(to: request, data: Data("{}".utf8))) }
        #expect(unreadable?.description.contains("createdAt is missing; for created_at, ") == true)
    }

    @Test("A decoder of an endpoint reads the elements of a stream")
    func decoderOfStream() async throws {
        struct Name: Decodable, Equatable { let firstName: String }
        let (decoder, answers) = (JSONDecoder(), Answers(.status(200, body: "{\"first_name\":\"a\"}\n")))
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        let names = try await answers.provider().request(Endpoint<JSONLines<Name>>(.get, "").decoder(decoder)).value
        #expect(try await names.all() == [Name(firstName: "a")])
    }

    @Test(
        "The fraction of a transfer is from 0 to 1, and nil while the total is unknown",
        arguments: [(0, 10, 0), (5, 10, 0.5), (10, 10, 1), (11, 10, 1), (0, 0, 1), (5, nil, nil)] as [(Int64, Int64?, Double?)])
    func fractions(count: Int64, total: Int64?, fraction: Double?) {
        #expect(TransferProgress(bytesSent: count, bytesToSend: total).fractionSent == fraction)
        #expect(TransferProgress(bytesReceived: count, bytesToReceive: total).fractionReceived == fraction)
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
}
