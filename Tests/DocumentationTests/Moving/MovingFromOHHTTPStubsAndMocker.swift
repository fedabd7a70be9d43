import APIProvider
import Foundation
import MockNetwork
import MockNetworkTesting
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

// What the tables of "Moving from OHHTTPStubs and Mocker" say is written here.

private enum Fixture: String, MockDTO {
    case user = "User"
    static let bundle = Bundle.module
}

@Suite("Moving from OHHTTPStubs and Mocker")
struct MovingFromStubsTests {
    @Test(.mockNetwork)
    func scope() async throws {
        let data = Data("{}".utf8)
        let session = URLSession(configuration: MockURLProtocol.configuration)
        stub(data)
        MockURLProtocol.reset()

        MockURLProtocol.stub(.post, "/items", respond: .handler { request in .data(request.body) })
        var request = URLRequest(url: URL(string: "https://api.example.com/items")!)
        request.httpMethod = "POST"
        request.httpBody = data
        let body = try await withCheckedThrowingContinuation { continuation in
            session.dataTask(with: request) { body, _, error in
                continuation.resume(with: error.map(Result.failure) ?? .success(body))
            }.resume()
        }
        #expect(body == data)
        #expect(MockURLProtocol.requests.count == 1)
        #expect(MockURLProtocol.unmatchedRequests.isEmpty)
    }

    private func stub(_ data: Data) {
        MockURLProtocol.stub(.get, "/user", respond: .status(200))
        MockURLProtocol.stub("the user", where: { $0.path == "/user" }, respond: .status(200))
        MockURLProtocol.stub(.get, "/user", respond: .status(200)).expecting(2)
        MockURLProtocol.stub(.get, "https://api.example.com/user", respond: .status(200))
        MockURLProtocol.stub(.get, "/items", query: ["page": 2], respond: .status(200))
        MockURLProtocol.stub(.get, "/items", headers: ["Accept": "text/plain"], respond: .status(200))
        MockURLProtocol.stub(.post, "/items", body: .json(["name": "a"]), respond: .status(201))
        MockURLProtocol.stub(.get, "/users/*", respond: .status(200))
        MockURLProtocol.stub(.get, "/user", respond: .fixture(Fixture.user))
        MockURLProtocol.stub(.get, "/user", respond: .json(["login": "a"]))
        MockURLProtocol.stub(.get, "/user", respond: .data(data))
        MockURLProtocol.stub(.get, "/user", respond: .failure(URLError(.notConnectedToInternet)))
        MockURLProtocol.stub(.get, "/user", respond: .status(200).delayed(by: 2))
        MockURLProtocol.stub(.get, "/user", respond: .data(data).chunked(into: 10))
        MockURLProtocol.stub(.get, "/user", times: 1, respond: .status(200))
        MockURLProtocol.stub(.get, "https://api.example.com/user", respond: .data(data, headers: ["Content-Type": "application/json"]))
        MockURLProtocol.stub(.get, "/images/*", respond: .data(data))
        MockURLProtocol.stub(.get, "/old", respond: .redirect(to: "/new"))
        MockURLProtocol.stub(.get, "/optional", isOptional: true, respond: .status(200))
    }

    private func replay(_ file: URL) throws {
        try MockURLProtocol.replay(har: file)
    }
}
