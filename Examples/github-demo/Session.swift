import APIProvider
import APIProviderMocks
import APIProviderRecordings
import Fixtures
import Foundation
import GitHubAPI
import MiniRx

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One run of a command: sends its request and prints the answer.
struct Session {
    private let arguments: Arguments
    private let provider: any APIProvider
    /// Where the answer comes from, as a sentence.
    private let source: String
    /// Whether it is a sample, which does not depend on the request.
    private let isSample: Bool

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        isSample = !arguments.isLive && arguments.recording == nil
        let configuration: URLSessionConfiguration
        if arguments.isLive {
            configuration = .ephemeral
            source = "From \(arguments.baseURL?.host ?? "GitHub")."
        } else if let recording = arguments.recording {
            try MockURLProtocol.replay(contentsOf: URL(fileURLWithPath: recording))
            configuration = MockURLProtocol.configuration
            source = "From the recording \(URL(fileURLWithPath: recording).lastPathComponent)."
        } else {
            MockURLProtocol.responseWithDTO(type: arguments.sample)
            configuration = MockURLProtocol.configuration
            source = "Sample data (\(arguments.sample.fileName).json), the same for every request. Use --live to ask GitHub."
        }

        var middlewares: [any Middleware] = [DefaultHeadersMiddleware()]
        // The token is for the API, and not for the host where people sign in. It cannot be refreshed, so a 401 is the answer.
        if arguments.command != .login, let token = arguments.token {
            middlewares.append(AuthenticationMiddleware(token: token, isRejected: { _ in false }, refresh: { _ in .never() }))
        }
        if arguments.isVerbose { middlewares.append(LoggingMiddleware { try? Output.error.print($0) }) }
        provider = DefaultAPIProvider(
            baseURL: arguments.baseURL ?? (arguments.command == .login ? GitHub.oauthURL : GitHub.apiURL), configuration: configuration,
            middlewares: middlewares, errorMessage: GitHub.errorMessage)
    }

    func run() async throws {
        let (operand, page, perPage) = (arguments.operand ?? "", arguments.page, arguments.perPage)
        switch arguments.command {
        case .search:
            try await show(SearchRequest(keyword: operand, page: page, perPage: perPage)) {
                let subject = isSample ? "" : " for \"\(operand.printable)\""
                return (Table($0.items), "\($0.items.count) of \($0.totalCount) repositories\(subject).")
            }
        case .user:
            try await show(UserRequest(login: arguments.operand)) { (Table($0), nil) }
        case .starred:
            try await show(StarredRequest(login: operand, page: page, perPage: perPage)) {
                (
                    Table($0),
                    isSample ? "\($0.count) starred repositories." : "\($0.count) repositories that \(operand.printable) has starred."
                )
            }
        case .login:
            let request = AccessTokenRequest(
                clientID: arguments.clientID, clientSecret: arguments.clientSecret, code: arguments.code)
            let encoder = JSONEncoder()
            encoder.outputFormatting = .sortedKeys
            try await show(request, json: { token, _ in try encoder.encode(["scope": token.scope, "token_type": token.type]) }) {
                (nil, "Signed in: a \($0.type.printable) token of \($0.value.count) characters that allows \($0.scope.printable).")
            }
        }
    }

    /// Prints the answer: the table and the note that `text` returns, or the JSON that `json` returns, which is the body by default.
    private func show<Response>(
        _ request: some APIRequest<Response>, json: (Response, Data) throws -> Data = { $1 },
        text: (Response) -> (table: Table?, note: String?)
    ) async throws {
        let (value, response) = try await provider.request(request.endpoint.withResponse()).value
        guard !arguments.isJSON else {
            if !arguments.isLive { try Output.error.print(Output.error.dim(source)) }
            let text = String(decoding: try json(value, response.data), as: UTF8.self)
            return try Output.standard.print(text.trimmingCharacters(in: .newlines))
        }
        let (table, note) = text(value)
        if let table { try Output.standard.print(table.text() + "\n") }
        let limit = arguments.isLive ? GitHubRateLimit(response)?.sentence : nil
        try Output.standard.print(Output.standard.dim([note, source, limit].compactMap { $0 }.joined(separator: " ")))
    }
}

extension GitHubRateLimit {
    fileprivate var sentence: String { "\(remaining) more requests are allowed until \(reset.formatted(.iso8601))." }
}

extension Arguments {
    /// The bundled answer to the command.
    fileprivate var sample: MockURLProtocol.MockDTOType {
        switch (command, code) {
        case (.search, _): .search
        case (.user, _): .user
        case (.starred, _): .starred
        case (.login, "bad"): .oauthBadRequest
        case (.login, "redirect"): .oauthRedirectURLMismatch
        case (.login, "client"): .oauthIncorrectClientCredentials
        case (.login, _): .oauth
        }
    }
}
