import Testing

nonisolated private struct Token: Codable, Equatable { let accessToken: String }

nonisolated private struct Credentials: Codable {
    let userName: String
    let password: String
}

nonisolated private struct ErrorResponse: Codable, Equatable { let error: String }

nonisolated private struct LoginError: Error, Equatable {
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

nonisolated extension LoginError {
    fileprivate init(_ error: any Error) {
        let response = (error as? APIError)?.response
        let body = try? response?.decode(ErrorResponse.self)
        self.init(statusCode: response?.statusCode ?? 0, errorResponse: body ?? ErrorResponse(error: "network error"))
    }
}

@Suite("Answer by what was sent", .mockNetwork)
struct AnswerByWhatWasSent {
    private let api = LoginAPI(provider: DefaultAPIProvider(baseURL: example, configuration: MockURLProtocol.configuration))

    @Test("When nothing comes, it is a network error with status 0")
    func offline() async throws {
        MockURLProtocol.stub(
            .post, "/login", respond: .failure(URLError(.notConnectedToInternet)))
        await #expect(
            throws: LoginError(
                statusCode: 0, errorResponse: ErrorResponse(error: "network error"))
        ) {
            try await api.login(username: "octocat", password: "right").value
        }
    }

    // The page
}
