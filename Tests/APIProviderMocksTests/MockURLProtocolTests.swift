import APIProvider
import APIProviderMocks
import APIProviderTesting
import Fixtures
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("MockURLProtocol", .mockNetwork, tenMinutes)
struct MockURLProtocolTests {
    private var provider: DefaultAPIProvider { Way.session.provider }

    private func failure() async throws -> APIError { try await provider.failure(of: Endpoint<String>(.get, "")) }

    @Test("A fixture without a status is a 200, and a status has its headers and the fixture as its body")
    func status() async throws {
        MockURLProtocol.responseWithDTO(type: .oauthBadRequest)
        #expect(MockURLProtocol.dtoType == .oauthBadRequest)
        let fixture = try await provider.request(Endpoint<[String: String]>(.get, "").withResponse()).value
        #expect(fixture.response.statusCode == 200 && fixture.value["error"] == "bad_verification_code")
        MockURLProtocol.responseWithStatusCode(code: 404, headerFields: ["X-A": "b"])
        let response = try #require(try await failure().response)
        #expect(response.statusCode == 404)
        #expect(response.value(forHTTPHeaderField: "x-a") == "b")
        #expect(response.httpResponse.url == URL(string: "https://api.example.com"))
        #expect(try response.decode([String: String].self)["error"] == "bad_verification_code")
    }

    @Test("A failure is the underlying error")
    func failing() async throws {
        MockURLProtocol.responseWithFailure(TestError("offline"))
        #expect(try await failure().underlying as? TestError == TestError("offline"))
        MockURLProtocol.responseWithFailure()
        #expect(try await failure().underlying is MockURLProtocol.MockError)
    }

    @Test("A handler answers before a response type, sees the body of a file, and its error is the request's")
    func handler() async throws {
        let folder = TemporaryFolder()
        try Data("streamed".utf8).write(to: folder.url("file"))
        MockURLProtocol.responseWithStatusCode(code: 500)
        MockURLProtocol.requestHandler = { request in
            guard let url = request.url, let body = request.httpBody else { throw TestError("no body") }
            return (try #require(HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: nil)), body)
        }
        let request = Endpoint<String>(.post, "", body: .file(folder.url("file"), contentType: "text/plain"))
        #expect(try await provider.request(request).value == "streamed")
        #expect(MockURLProtocol.requests.first?.body == Data("streamed".utf8))
        #expect(try await failure().underlying as? TestError == TestError("no body"))
    }

    @Test("A request is recorded once, whole, and with the headers that were set")
    func recording() async throws {
        MockURLProtocol.responseWithStatusCode(code: 200)
        let text = String(repeating: "body", count: 50_000)
        _ = try await provider.request(
            Endpoint<String>(
                .post, "/a b", query: ["q": "1 2"], headers: ["X-A": "b"], body: .data(Data(text.utf8), contentType: "text/plain"))
        ).value
        let request = try #require(MockURLProtocol.requests.first)
        #expect(MockURLProtocol.requests.count == 1)
        #expect(request.method == .post && request.path == "/a b")
        #expect(request.queryItems == [URLQueryItem(name: "q", value: "1 2")])
        #expect(request.headers["X-A"] == "b" && request.headers["Content-Type"] == "text/plain")
        #if canImport(FoundationNetworking)
        #expect(request.headers.map(\.name).count == 2)
        #endif
        #expect(request.body == Data(text.utf8))
    }

    private struct Fixture: MockDTO {
        let fileName: String
        static var bundle: Bundle { MockURLProtocol.MockDTOType.bundle }
        static let subdirectory: String? = "GitHub"
    }

    @Test("A fixture cannot be outside its bundle")
    func outside() async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.responseWithDTO(type: Fixture(fileName: "../../../../../../../../etc/hostname.txt"))
            let text = try await failure().description
            #expect(text.contains("is outside of its bundle"))
        }
    }
}
