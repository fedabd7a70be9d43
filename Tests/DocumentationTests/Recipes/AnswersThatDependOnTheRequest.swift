// Recipe 5: answers that depend on the request.
//
// The mock plays a small server: a stub says which requests it is for, and its handler reads the body and answers accordingly. A request
// that no stub is for fails the test, with the stubs that came near and what differs.
//
// Use it for sign-ins, for writing, for anything where right and wrong requests get different answers. When every request of a test gets
// the same answer, recipe 1 is shorter.

import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import Testing

// MARK: The app

struct Token: Codable, Equatable {
    let accessToken: String

    enum CodingKeys: String, CodingKey { case accessToken = "access_token" }
}

struct Credentials: Codable {
    let userName: String
    let password: String

    enum CodingKeys: String, CodingKey {
        case password
        case userName = "user_name"
    }
}

struct ErrorResponse: Codable, Equatable {
    let error: String
}

/// Why nobody is signed in: what the server says, with its status; 0 when nothing came.
struct LoginError: Error, Equatable {
    let statusCode: Int
    let errorResponse: ErrorResponse
}

struct LoginAPI {
    let provider: any APIProvider

    func login(username: String, password: String) -> Single<Token> {
        provider.request(Endpoint<Token>(.post, "/login", body: .json(Credentials(userName: username, password: password))))
            .mapError { error in LoginError(error) }
    }
}

extension LoginError {
    fileprivate init(_ error: any Error) {
        guard let response = (error as? APIError)?.response else {
            self.init(statusCode: 0, errorResponse: ErrorResponse(error: "network error"))
            return
        }
        let body = try? response.decode(ErrorResponse.self)
        self.init(statusCode: response.statusCode, errorResponse: body ?? ErrorResponse(error: "json decode error"))
    }
}

// MARK: Its tests

@Suite("Recipe 5: answers that depend on the request", .mockNetwork)
struct Recipe5AnswersThatDependOnTheRequestTests {
    private let api = LoginAPI(
        provider: DefaultAPIProvider(baseURL: URL(string: "https://example.com")!, configuration: MockURLProtocol.configuration))

    private func serve() {
        MockURLProtocol.stub(
            .post, "/login", headers: ["Content-Type": "application/json"],
            respond: .handler { request in
                let credentials = try request.json(Credentials.self)
                return credentials.password == "right"
                    ? .json(Token(accessToken: "token of \(credentials.userName)"))
                    : .json(ErrorResponse(error: "401 error"), status: 401)
            })
    }

    @Test("The right password gives a token")
    func success() async throws {
        serve()
        #expect(try await api.login(username: "octocat", password: "right").value == Token(accessToken: "token of octocat"))
    }

    @Test("The wrong one gives what the server says")
    func refusal() async throws {
        serve()
        await #expect(throws: LoginError(statusCode: 401, errorResponse: ErrorResponse(error: "401 error"))) {
            try await api.login(username: "octocat", password: "wrong").value
        }
    }

    @Test("When nothing comes, it is a network error with status 0")
    func offline() async throws {
        MockURLProtocol.stub(.post, "/login", respond: .failure(URLError(.notConnectedToInternet)))
        await #expect(throws: LoginError(statusCode: 0, errorResponse: ErrorResponse(error: "network error"))) {
            try await api.login(username: "octocat", password: "right").value
        }
    }

    @Test("When the error is no JSON, that is said")
    func page() async throws {
        MockURLProtocol.stub(.post, "/login", respond: .data(Data("<html>Bad Gateway</html>".utf8), status: 502))
        await #expect(throws: LoginError(statusCode: 502, errorResponse: ErrorResponse(error: "json decode error"))) {
            try await api.login(username: "octocat", password: "right").value
        }
    }

    @Test("The body is JSON with snake_case keys")
    func body() async throws {
        serve()
        _ = try await api.login(username: "octocat", password: "right").value
        let body = try #require(MockURLProtocol.requests.first).json([String: String].self)
        #expect(body == ["user_name": "octocat", "password": "right"])
    }
}
