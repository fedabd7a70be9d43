import APIProvider
import Fixtures
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

@Suite("MockURLProtocol", .mockNetwork, tenMinutes)
struct MockURLProtocolTests {
    private let provider = Way.session.provider

    private func failure() async throws -> APIError { try await provider.failure(of: Endpoint<String>(.get, "")) }

    @Test("A DTO without a status is a 200", arguments: MockURLProtocol.MockDTOType.allCases)
    func dto(type: MockURLProtocol.MockDTOType) async throws {
        MockURLProtocol.responseWithDTO(type: type)
        #expect(MockURLProtocol.dtoType == type)
        let text = try await provider.request(Endpoint<String>(.get, "")).value
        #expect(text.isEmpty == (type == .empty))
    }

    @Test("A status comes with its headers, and with the DTO as its body")
    func status() async throws {
        MockURLProtocol.responseWithStatusCode(code: 404, headerFields: ["X-A": "b"])
        MockURLProtocol.responseWithDTO(type: .oauthBadRequest)
        let response = try #require(try await failure().response)
        #expect(response.statusCode == 404)
        #expect(response.value(forHTTPHeaderField: "x-a") == "b")
        #expect(response.response.url == URL(string: "https://api.example.com"))
        #expect(try response.decode([String: String].self)["error"] == "bad_verification_code")
    }

    @Test("A failure is the underlying error")
    func failing() async throws {
        MockURLProtocol.responseWithFailure(TestError("offline"))
        #expect(try await failure().underlying as? TestError == TestError("offline"))
        MockURLProtocol.responseWithFailure()
        #expect(try await failure().underlying is MockURLProtocol.MockError)
    }

    @Test("A handler answers before a response type, and its error is the request's")
    func handler() async throws {
        MockURLProtocol.responseWithStatusCode(code: 500)
        MockURLProtocol.requestHandler = { request in
            guard request.url?.query == "ok=true", let url = request.url else { throw TestError("refused") }
            return (try #require(HTTPURLResponse(url: url, statusCode: 201, httpVersion: nil, headerFields: nil)), Data("handled".utf8))
        }
        #expect(try await provider.request(Endpoint<String>(.get, "", query: ["ok": true])).value == "handled")
        #expect(try await failure().underlying as? TestError == TestError("refused"))
    }

    @Test("A handler sees the body of a file")
    func fileBody() async throws {
        let folder = TemporaryFolder()
        try Data("streamed".utf8).write(to: folder.url("file"))
        MockURLProtocol.requestHandler = { request in
            guard let url = request.url, let body = request.httpBody else { throw TestError("no body") }
            return (try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: nil, headerFields: nil)), body)
        }
        let request = Endpoint<String>(.post, "", body: .file(folder.url("file"), contentType: "text/plain"))
        #expect(try await provider.request(request).value == "streamed")
        #expect(MockURLProtocol.requests.first?.body == Data("streamed".utf8))
    }

    @Test("The requests of a scope and their answers are a recording, which a failed test attaches")
    func traffic() async throws {
        #expect(MockURLProtocol.recording == nil)
        MockURLProtocol.stub(.post, "/a", respond: .status(204))
        let request = Endpoint<Void>(.post, "/a", body: .data(Data("[1,true]".utf8), contentType: "application/json"))
        try await mocked.request(request).value
        let folder = TemporaryFolder()
        try #require(MockURLProtocol.recording).write(to: folder.url("traffic.har"))
        let recorded = try RecordedFile(folder.url("traffic.har"))
        #expect(recorded.entries.count == 1)
        #expect(recorded.value("request.postData.text") as? String == "[1,true]")
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
        #expect(request.method == .post)
        #expect(request.path == "/a b")
        #expect(request.queryItems == [URLQueryItem(name: "q", value: "1 2")])
        #expect(request.headers["X-A"] == "b")
        #expect(request.headers["Content-Type"] == "text/plain")
        #if canImport(FoundationNetworking)
        #expect(request.headers == ["X-A": "b", "Content-Type": "text/plain"])
        #endif
        #expect(request.body == Data(text.utf8))
    }

    @Test("A request that its session starts twice is answered once, and one that was stopped is not answered", arguments: [true, false])
    func startedTwice(isStopped: Bool) throws {
        if !isStopped { MockURLProtocol.responseWithDTO(type: .user) }
        let client = Client()
        let type = try #require(MockURLProtocol.configuration.protocolClasses?.first as? URLProtocol.Type)
        let loading = type.init(request: URLRequest(url: example), cachedResponse: nil, client: client)
        if isStopped { loading.stopLoading() }
        for _ in 0..<2 { loading.startLoading() }
        #expect(client.calls.entries == (isStopped ? [] : ["response", "data", "end"]))
    }

    @Test("reset removes everything")
    func reset() async throws {
        MockURLProtocol.responseWithStatusCode(code: 200)
        MockURLProtocol.responseWithDTO(type: .user)
        MockURLProtocol.requestHandler = { _ in throw TestError() }
        _ = try? await provider.request(Endpoint<String>(.get, "")).value
        MockURLProtocol.reset()
        #expect(MockURLProtocol.responseType == nil)
        #expect(MockURLProtocol.dto == nil)
        #expect(MockURLProtocol.requestHandler == nil)
        #expect(MockURLProtocol.requests.isEmpty)
    }

    private struct Fixture: MockDTO {
        let fileName: String
        static var bundle: Bundle { MockURLProtocol.MockDTOType.bundle }
        static let subdirectory: String? = "GitHub"
    }

    @Test("The error of a missing fixture lists those that are there", arguments: ["Missing", "../MockDTOType.swift"])
    func missing(name: String) async throws {
        MockURLProtocol.responseWithDTO(type: Fixture(fileName: name))
        let text = try await failure().description
        #expect(text.contains("There is no fixture \"\(name == "Missing" ? "Missing.json" : name)\" in "), "\(text)")
        let names = text.components(separatedBy: "It holds: ").last?.components(separatedBy: ". Is it").first?.components(separatedBy: ", ")
        #expect(names?.contains("GithubAPI_Response_Search.json") == true && names == names?.sorted(), "\(text)")
    }

    @Test("A fixture cannot be outside its bundle")
    func outside() async throws {
        MockURLProtocol.responseWithDTO(type: Fixture(fileName: "../../../../../../../../etc/hostname.txt"))
        #expect(try await failure().description.contains("is outside of its bundle"))
    }
}

private final class Client: NSObject, URLProtocolClient {
    let calls = Log<String>()

    func urlProtocol(_: URLProtocol, didReceive _: URLResponse, cacheStoragePolicy _: URLCache.StoragePolicy) {
        calls.append("response")
    }
    func urlProtocol(_: URLProtocol, didLoad _: Data) { calls.append("data") }
    func urlProtocolDidFinishLoading(_: URLProtocol) { calls.append("end") }
    func urlProtocol(_: URLProtocol, didFailWithError error: any Error) { calls.append("\(error)") }
    func urlProtocol(_: URLProtocol, wasRedirectedTo _: URLRequest, redirectResponse _: URLResponse) { calls.append("redirect") }
    func urlProtocol(_: URLProtocol, cachedResponseIsValid _: CachedURLResponse) { calls.append("cached") }
    func urlProtocol(_: URLProtocol, didReceive _: URLAuthenticationChallenge) { calls.append("challenge") }
    func urlProtocol(_: URLProtocol, didCancel _: URLAuthenticationChallenge) { calls.append("no challenge") }
}
