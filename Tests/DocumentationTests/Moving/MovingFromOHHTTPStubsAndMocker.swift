import APIProvider
import Foundation
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private enum Fixture: String, MockDTO {
    case user = "User"
    static let bundle = Bundle.module
}

private func moved(_ data: Data) -> [Any] {
    MockURLProtocol.stub(.get, "/user", respond: .status(200))
    MockURLProtocol.stub("the user", where: { $0.path == "/user" }, respond: .status(200))
    MockURLProtocol.stub(.get, "/user", respond: .status(200)).expecting(2)
    MockURLProtocol.stub(.get, "https://api.example.com/user", respond: .status(200))
    MockURLProtocol.stub(.get, "/items", query: ["page": 2], respond: .status(200))
    MockURLProtocol.stub(.get, "/items", headers: ["Accept": "text/plain"], respond: .status(200))
    MockURLProtocol.stub(.post, "/items", body: .json(["name": "a"]), respond: .status(201))
    MockURLProtocol.stub(.post, "/items", respond: .handler { request in .data(request.body) })
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
    MockURLProtocol.reset()
    return [MockURLProtocol.requests, MockURLProtocol.unmatchedRequests, URLSession(configuration: MockURLProtocol.configuration)]
}

private func recorded() -> any TestTrait { .mockNetwork(recording: "user") }
