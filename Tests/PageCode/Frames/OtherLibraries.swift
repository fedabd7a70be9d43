import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// Libraries that the package does not depend on. These declarations stand in for them, with the signatures that each documents.

// swift-distributed-tracing

nonisolated private protocol Injector<Carrier>: Sendable {
    associatedtype Carrier
    func inject(_ value: String, forKey key: String, into carrier: inout Carrier)
}

nonisolated private struct ServiceContext: Sendable {}
nonisolated private enum SpanKind { case client }

nonisolated private struct SpanAttributes {
    subscript(name: String) -> String? {
        get { nil }
        set {}
    }
    subscript(name: String) -> Int? {
        get { nil }
        set {}
    }
}

nonisolated private protocol Span: AnyObject, Sendable {
    var context: ServiceContext { get }
    var attributes: SpanAttributes { get set }
}

nonisolated private protocol Tracer: Sendable {
    func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject.Carrier == Carrier
}

nonisolated extension Tracer {
    fileprivate func withSpan<T>(
        _ operationName: String, ofKind kind: SpanKind, isolation: isolated (any Actor)? = #isolation,
        _ operation: (any Span) async throws -> T
    ) async rethrows -> T { try await operation(SilentSpan()) }
}

nonisolated private final class SilentSpan: Span {
    var context: ServiceContext { ServiceContext() }
    var attributes: SpanAttributes {
        get { SpanAttributes() }
        set {}
    }
}

nonisolated private struct SilentTracer: Tracer {
    func inject<Carrier, Inject: Injector>(_ context: ServiceContext, into carrier: inout Carrier, using injector: Inject)
    where Inject.Carrier == Carrier {}
}

nonisolated private enum InstrumentationSystem { static var tracer: any Tracer { SilentTracer() } }

// swift-openapi-runtime and swift-http-types

nonisolated private enum OpenAPIRuntime {
    final class HTTPBody: Sendable {
        let data: Data
        init(_ data: Data) { self.data = data }
    }
}

nonisolated extension Data {
    fileprivate init(collecting body: OpenAPIRuntime.HTTPBody, upTo maxBytes: Int) async throws { self = body.data }
}

nonisolated private protocol ClientTransport: Sendable {
    func send(_ request: HTTPRequest, body: OpenAPIRuntime.HTTPBody?, baseURL: URL, operationID: String) async throws -> (
        HTTPResponse, OpenAPIRuntime.HTTPBody?
    )
}

nonisolated private struct HTTPField: Sendable {
    struct Name: Sendable {
        static let contentType = Name("Content-Type")
        let rawName: String
        init?(_ name: String) { rawName = name }
    }

    let name: Name
    let value: String
}

nonisolated private struct HTTPFields: Sendable, Sequence {
    private var fields: [HTTPField] = []
    mutating func append(_ field: HTTPField) { fields.append(field) }
    func makeIterator() -> IndexingIterator<[HTTPField]> { fields.makeIterator() }
    subscript(name: HTTPField.Name?) -> String? { fields.first { $0.name.rawName == name?.rawName }?.value }
}

nonisolated private struct HTTPRequest: Sendable {
    struct Method: Sendable { let rawValue: String }

    let method: Method
    let path: String?
    let headerFields: HTTPFields
}

nonisolated private struct HTTPResponse: Sendable {
    struct Status: Sendable { let code: Int }

    let status: Status
    let headerFields: HTTPFields
}

// swift-dependencies

nonisolated private protocol DependencyKey<Value> {
    associatedtype Value: Sendable
    static var liveValue: Value { get }
    static var previewValue: Value { get }
    static var testValue: Value { get }
}

nonisolated private struct DependencyValues: Sendable {
    subscript<Key: DependencyKey>(key: Key.Type) -> Key.Value {
        get { Key.testValue }
        set {}
    }
}

// Pulse

nonisolated private struct LoggerStore: Sendable {
    static let shared = LoggerStore()
    func storeRequest(_ request: URLRequest, response: URLResponse?, error: (any Error)?, data: Data?) {}
}

@Test("A generated client's request has its query, fields and body, and every status is a response", .mockNetwork)
private func generatedClient() async throws {
    MockURLProtocol.stub(
        .post, "https://api.example.com/v1/greet", query: ["name": "a"], headers: ["X-Own": "1", "Content-Type": "application/json"],
        body: .json(["b": 2]), respond: .json(["message": "no"], statusCode: 404))
    let server = api.appendingPathComponent("v1")
    let provider = DefaultAPIProvider(baseURL: server, transport: MockTransport())
    var fields = HTTPFields()
    for (name, value) in [("Content-Type", "application/json"), ("X-Own", "1")] {
        fields.append(HTTPField(name: try #require(HTTPField.Name(name)), value: value))
    }
    let request = HTTPRequest(method: HTTPRequest.Method(rawValue: "POST"), path: "/greet?name=a", headerFields: fields)

    let (response, body) = try await ProviderTransport(provider: provider).send(
        request, body: OpenAPIRuntime.HTTPBody(Data(#"{"b":2}"#.utf8)), baseURL: server, operationID: "greet")

    #expect(response.status.code == 404)
    #expect(response.headerFields[.contentType] == "application/json")
    #expect(body?.data == Data(#"{"message":"no"}"#.utf8))
}
