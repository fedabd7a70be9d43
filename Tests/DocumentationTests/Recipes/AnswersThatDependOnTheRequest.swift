import APIProvider
import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

private struct Token: Codable, Equatable { let accessToken: String }

private struct Credentials: Codable {
    let userName: String
    let password: String
}

private struct ErrorResponse: Codable, Equatable { let error: String }

private struct LoginError: Error, Equatable {
    let statusCode: Int
    let errorResponse: ErrorResponse
}

private struct LoginAPI {
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

@Suite("Recipe 5: Answers that depend on the request", .mockNetwork)
struct AnswersThatDependOnTheRequestTests {
    private let api = LoginAPI(provider: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration))

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
}
