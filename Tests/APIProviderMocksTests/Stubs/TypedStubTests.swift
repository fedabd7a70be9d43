import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

private struct Item: Codable, Equatable {
    let id: Int
    let name: String
}

private struct ItemRequest: APIRequest {
    let id: Int
    var endpoint: Endpoint<Item> { Endpoint(.get, "/items/\(id)", query: ["full": true]) }
}

extension APIRequest where Self == Endpoint<Item> {
    fileprivate static func add(_ item: Item) -> Self { Endpoint(.post, "/items", body: .json(item)) }
}

@Suite("Stubs of typed requests", .mockNetwork)
struct TypedStubTests {
    private let one = Item(id: 1, name: "one")

    private func provider(_ base: String = "https://api.example.com") -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: URL(string: base), transport: MockTransport())
    }

    @Test(
        "A stub of a request without a body answers it, also if the request has a Content-Type, and a GET with any body",
        arguments: [HTTPMethod.get, .delete])
    func withoutBody(method: HTTPMethod) async throws {
        var request = Endpoint<Item>(method, "/items/1", headers: ["Content-Type": "application/json"])
        MockURLProtocol.stub(request, respond: one)
        #expect(try await provider().request(request).value == one)
        request.body = .data(Data("x".utf8), contentType: "text/plain")
        if method == .get { #expect(try await provider().request(request).value == one) }
    }

    @Test("A stub answers its request, with a response or with a value, or is optional", arguments: Way.allCases)
    func answers(way: Way) async throws {
        MockURLProtocol.stub(ItemRequest(id: 1), isOptional: true, respond: one)
        MockURLProtocol.stub(ItemRequest(id: 1), respond: one)
        MockURLProtocol.stub(.add(one), respond: .status(409))
        let (value, response) = try await way.provider.request(ItemRequest(id: 1).endpoint.withResponse()).value
        #expect(value == one && response.statusCode == 200)
        #expect(try await way.provider.failure(of: .add(one)).statusCode == 409)
    }

    @Test("A stub that was never used is reported, with each way to write it")
    func unused() {
        let stubs: [() -> Stub] = [
            { MockURLProtocol.stub(ItemRequest(id: 1), respond: one) }, { MockURLProtocol.stub(ItemRequest(id: 1), respond: .status(404)) },
            { MockURLProtocol.stub(.get, "/items/1", respond: .status(404)) },
            { MockURLProtocol.stub(where: { _ in true }, respond: .status(404)) },
        ]
        for stub in stubs {
            let (description, report) = MockURLProtocol.withScope { () -> (String, String) in
                let stub = stub()
                do { try MockURLProtocol.verify() } catch { return (stub.description, "\(error)") }
                return (stub.description, "no report")
            }
            #expect(report.contains("The stub \(description) was never used."), "\(report)")
        }
    }

    @Test("A different method, path, query or body does not match")
    func others() async {
        await MockURLProtocol.withScope {
            MockURLProtocol.stub(ItemRequest(id: 1), respond: one)
            MockURLProtocol.stub(.add(one), respond: one)
            let others: [Endpoint<Item>] = [
                Endpoint(.put, "/items/1", query: ["full": true]), Endpoint(.get, "/items/2", query: ["full": true]),
                Endpoint(.get, "/items/1"), Endpoint(.get, "/items/1", query: ["full": false]),
                Endpoint(.get, "/items/1/owner", query: ["full": true]), .add(Item(id: 1, name: "two")), Endpoint(.post, "/items"),
            ]
            for other in others {
                await #expect(throws: APIError.self, "\(other)") { try await provider().request(other).value }
            }
        }
    }

    @Test("A stub is for any host, and a report says how to match it behind the path of a base URL")
    func hosts() async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(ItemRequest(id: 1), respond: one)
            for base in ["https://api.example.com", "http://localhost:8080/"] {
                #expect(try await provider(base).request(ItemRequest(id: 1)).value == one)
            }
            let error = try await provider("https://h/v3").failure(of: ItemRequest(id: 1)).description
            #expect(error.contains("1. GET /items/1?full=true ("), "\(error)")
            #expect(error.contains("expected  /items/1; if that is the path of a base URL, pass the base URL"), "\(error)")
            let other = try await provider("https://h/v3").failure(of: ItemRequest(id: 2)).description
            #expect(other.contains("expected  /items/1\n"), "\(other)")
        }
    }

    @Test("A stub or a scope with a base URL is for requests below it, and so is a path that is a URL", arguments: [true, false])
    func baseURL(isOfScope: Bool) async throws {
        let base = try #require(URL(string: "https://api.example.com/v3"))
        try await MockURLProtocol.withScope {
            MockURLProtocol.baseURL = isOfScope ? base : nil
            MockURLProtocol.stub(ItemRequest(id: 1), baseURL: isOfScope ? nil : base, respond: one)
            MockURLProtocol.stub(Endpoint<Item>(.get, ""), baseURL: isOfScope ? nil : base, respond: one)
            MockURLProtocol.stub(Endpoint<Item>(.get, .url(base, "/whole")), respond: one)
            for request in [ItemRequest(id: 1).endpoint, Endpoint(.get, ""), Endpoint(.get, "/whole")] {
                let item = try await provider("https://api.example.com/v3").request(request).value
                #expect(item == one)
                for other in ["https://api.example.com", "https://other.example.com/v3", "https://api.example.com/v2"] {
                    await #expect(throws: APIError.self) { try await provider(other).request(request).value }
                }
            }
            MockURLProtocol.withScope {
                #expect(MockURLProtocol.baseURL == (isOfScope ? base : nil))
                MockURLProtocol.baseURL = nil
            }
            #expect(MockURLProtocol.baseURL == (isOfScope ? base : nil))
            MockURLProtocol.reset()
            #expect(MockURLProtocol.baseURL == nil)
        }
    }

    @Test("A stub for a provider takes its base URL and its encoder, unless it has its own")
    func forProvider() async throws {
        struct Task: Codable, Equatable { let dueDate: Int }
        let (encoder, decoder, base) = (JSONEncoder(), JSONDecoder(), try #require(URL(string: "https://api.example.com/v3")))
        (encoder.keyEncodingStrategy, decoder.keyDecodingStrategy) = (.convertToSnakeCase, .convertFromSnakeCase)
        let provider = DefaultAPIProvider(baseURL: base, transport: MockTransport(), encoder: encoder, decoder: decoder)
        let create = Endpoint<Task>(.post, "/tasks", body: .json(Task(dueDate: 7)))
        MockURLProtocol.stub(create, for: provider, respond: Task(dueDate: 8))
        #expect(try await provider.request(create).value == Task(dueDate: 8))
        MockURLProtocol.stub(create, for: provider, respond: .json(["due_date": 9]))
        #expect(try await provider.request(create).value == Task(dueDate: 9))
        MockURLProtocol.stub(create, for: provider, baseURL: example, encoder: JSONEncoder(), isOptional: true, respond: .status(500))
        #expect(try await provider.request(create).value == Task(dueDate: 9))
        // Without a base URL, a provider has one for each request.
        let other = DefaultAPIProvider(transport: MockTransport())
        MockURLProtocol.stub(Endpoint<Void>(.get, .url(base)), for: other, respond: .status(204))
        try await other.request(Endpoint<Void>(.get, .url(base))).value
    }

    @Test("A value is encoded as the endpoint reads it: text and data as they are, and a file for a download")
    func values() async throws {
        let (folder, provider) = (TemporaryFolder(), provider())
        MockURLProtocol.stub(Endpoint<String>(.get, "/text"), respond: "hello")
        #expect(try await provider.request(Endpoint<String>(.get, "/text")).value == "hello")
        MockURLProtocol.stub(Endpoint<Data>(.get, "/data"), respond: Data([0, 255]))
        #expect(try await provider.request(Endpoint<Data>(.get, "/data")).value == Data([0, 255]))
        let (source, copy) = (folder.url("source"), folder.url("copy"))
        try Data("content".utf8).write(to: source)
        let download = Endpoint(.get, "/file", downloadingTo: copy)
        MockURLProtocol.stub(download, respond: source)
        #expect(try await provider.request(download).value == copy)
        #expect(try Data(contentsOf: copy) == Data("content".utf8))
    }

    @Test("JSON and forms are compared by meaning, multipart bodies without their boundary, and others by their bytes")
    func bodies() async throws {
        func text(_ text: String, _ type: String) -> HTTPBody { .data(Data(text.utf8), contentType: type) }
        let (b, c) = (MultipartPart(name: "a", value: "b"), MultipartPart(name: "a", value: "c"))
        let table: [(HTTPBody, same: HTTPBody, other: HTTPBody)] = [
            (text("[1]", "Application/JSON"), text("[ 1.0 ]", "a/b"), text("[2]", "a/b")),
            (.form(["a": 1, "b": "x y"]), .form(["b": "x y", "a": 1]), .form(["a": 1])),
            (text("[1]", "text/plain"), text("[1]", "text/plain"), text("[1.0]", "text/plain")),
            (.multipart([]), .multipart([]), .multipart([c])), (.multipart([b]), .multipart([b]), .multipart([b, c])),
            (.multipart([b, c]), .multipart([b, c]), .multipart([c, b])),
        ]
        for (body, same, other) in table {
            try await MockURLProtocol.withScope {
                MockURLProtocol.stub(Endpoint<Void>(.post, "/a", body: body), respond: .status(204))
                try await provider().request(Endpoint<Void>(.post, "/a", body: same)).value
                let error = try await provider().failure(of: Endpoint<Void>(.post, "/a", body: other))
                #expect(error.description.contains("body    expected"), "\(error)")
            }
        }
    }

    @Test("A request that cannot be sent matches nothing, and the reports say why")
    func invalid() throws {
        try MockURLProtocol.withScope {
            let stub = MockURLProtocol.stub(Endpoint<Item>(.get, "/items/\("")"), respond: one)
            #expect(stub.description.hasPrefix("GET /items/ ("))
            let report = try verification()
            #expect(report.contains("its request cannot be sent: a value interpolated into the path"), "\(report)")
        }
    }

    @Test("A report shows a secret segment neither as expected nor as actual", arguments: Way.allCases)
    func secretsOfStubs(way: Way) async throws {
        func request(_ secret: String) -> Endpoint<Void> {
            Endpoint(
                .post, "/bot\(secret: secret)/x", query: ["chat": secret], headers: ["X-Chat": "a \(secret)"], body: .json(["chat": secret])
            )
        }
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(request("11:expected"), respond: .json(["a": "b"]))
            let error = try await way.provider.failure(of: request("12:s3nt"))
            #expect(!error.description.contains("s3nt"), "\(error)")
            // A session does not know which segments are secret.
            guard way == .transport else { return }
            #expect(
                error.description.contains("path    expected  /bot…/x\n               got       /bot…/x (differs, but is not shown)"),
                "\(error)")
            #expect("\(MockURLProtocol.unmatchedRequests)".contains("/bot…/x?chat="))
        }
    }
}
