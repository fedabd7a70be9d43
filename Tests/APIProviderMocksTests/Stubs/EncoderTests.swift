import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

private struct Order: Codable, Equatable, Sendable {
    var dueDate: Int
    var line = ["someKey": 1]
}

private struct Operation: Codable {
    var operationName = "Me"
    var query = "query Me { me { id } }"
    var variables = ["first": 1, "after": 2]
}

private func snakeCase() -> JSONEncoder {
    let encoder = JSONEncoder()
    encoder.keyEncodingStrategy = .convertToSnakeCase
    return encoder
}

@Suite("The encoder of a scope, and parts of JSON", .mockNetwork)
struct EncoderTests {
    private var provider: DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: MockTransport(), encoder: snakeCase(), decoder: Self.snakeCaseDecoder())
    }
    private let order = Order(dueDate: 7)
    private var request: Endpoint<Order> { Endpoint(.post, "/orders", body: .json(order)) }

    private static func snakeCaseDecoder() -> JSONDecoder {
        let decoder = JSONDecoder()
        decoder.keyDecodingStrategy = .convertFromSnakeCase
        return decoder
    }

    @Test("It encodes what stubs expect, and what they answer")
    func scope() async throws {
        MockURLProtocol.encoder = snakeCase()
        let stubs: [() -> Void] = [
            { MockURLProtocol.stub(self.request, times: 1, respond: self.order) },
            { MockURLProtocol.stub(.post, "/orders", body: .json(self.order), times: 1, respond: .json(self.order)) },
            {
                MockURLProtocol.stub(
                    .post, "/orders", body: .json(containing: self.order), times: 1,
                    respond: .data(Data(#"{"due_date":7,"line":{"someKey":1}}"#.utf8)))
            },
        ]
        for stub in stubs {
            stub()
            #expect(try await provider.request(request).value == order)
        }
        #expect(String(decoding: MockURLProtocol.requests[0].body, as: UTF8.self).contains("due_date"))
        MockURLProtocol.reset()
        #expect(MockURLProtocol.encoder == nil)
    }

    @Test("A scope begins with the encoder and the base URL of the one around it, and changes neither there")
    func innerScope() async throws {
        MockURLProtocol.encoder = snakeCase()
        MockURLProtocol.baseURL = example
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(request, respond: order)
            let answer = try await provider.request(request).value
            #expect(answer == order)
            (MockURLProtocol.encoder, MockURLProtocol.baseURL) = (nil, nil)
        }
        #expect(MockURLProtocol.encoder != nil && MockURLProtocol.baseURL == example)
    }

    @Test("A parameter of a stub counts before that of the scope")
    func parameter() async throws {
        MockURLProtocol.encoder = JSONEncoder()
        MockURLProtocol.stub(request, encoder: snakeCase(), respond: order)
        #expect(try await provider.request(request).value == order)
    }

    @Test("The report says so if two bodies differ in the spelling of their keys alone", arguments: [false, true])
    func spelling(isSubset: Bool) async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.post, "/orders", body: isSubset ? .json(containing: order) : .json(order), respond: .status(200))
            let hint = "for those of a type, set MockURLProtocol.encoder to the encoder of the app"
            let expected = "dueDate: 7\(isSubset ? "" : ", due_date: nothing")"
            let report = try await provider.failure(of: request).description
            #expect(report.contains("expected  \(expected) (only the keys are spelled differently: \(hint) before this stub)"), "\(report)")
            let other = Endpoint<Order>(.post, "/orders", body: .json(Order(dueDate: 8)))
            let otherReport = try await provider.failure(of: other).description
            #expect(!otherReport.contains(hint), "\(otherReport)")
        }
    }

    @Test("The report of a part shows only what differs")
    func report() async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(
                .post, "/graphql", body: .json(containing: ["variables": ["after": 3]]), respond: .status(200))
            let report = try await mocked.failure(of: Endpoint<Data>(.post, "/graphql", body: .json(Operation()))).description
            #expect(report.contains("body    expected  variables.after: 3"), "\(report)")
            #expect(report.contains("got       variables.after: 2"), "\(report)")
        }
    }
}
