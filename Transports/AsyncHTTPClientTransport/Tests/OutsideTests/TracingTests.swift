import APIProvider
import Foundation
import InMemoryTracing
import MiniRx
import Testing
import Tracing

@Suite("The guide's recipe for traces")
struct TracingTests {
    @Test("Each attempt has the headers of the request's span, which is a child of the caller's")
    func headers() async throws {
        let server = FakeServer()
        server.will(.status(503), .status(204))
        let tracer = InMemoryTracer()
        let provider = DefaultAPIProvider(
            baseURL: URL(string: "https://api.example.com"),
            transport: ClosureTransport { request in
                server.note(request.headers[InMemoryTracer.spanIDKey] ?? "none")
                return server.answer(request)
            },
            middlewares: [TracingMiddleware(tracer: tracer), RetryMiddleware(RetryPolicy(baseDelay: .milliseconds(1)))])

        try await tracer.withSpan("caller") { _ in
            try await provider.request(Endpoint<Void>(.get, "/items")).value
        }

        let spans = tracer.finishedSpans
        #expect(spans.map(\.operationName) == ["GET", "caller"])
        #expect(spans.first?.spanContext.parentSpanID == spans.last?.spanContext.spanID)
        #expect(server.notes == [spans.first?.spanContext.spanID, spans.first?.spanContext.spanID])
        #expect(spans.first?.attributes["http.response.status_code"]?.toSpanAttribute() == .int64(204))
    }

    @Test("The guide has the code that is tested here")
    func page() throws {
        let folder = URL(fileURLWithPath: #filePath).deletingLastPathComponent()
        let code = try String(contentsOf: folder.appendingPathComponent("TracingMiddleware.swift"), encoding: .utf8)
        let page = folder.appendingPathComponent("../../../../Documentation/Guide.docc/OtherLibraries.md").standardized
        #expect(try String(contentsOf: page, encoding: .utf8).contains("```swift\n\(code)```"))
    }
}
