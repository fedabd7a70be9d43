import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// One run of a command: sends its request and prints the answer.
struct Session {
    private let arguments: Arguments
    private let provider: any APIProvider
    private let source: String
    /// The error of writing the recording.
    private let recordingFailure: Locked<(any Error)?>

    init(_ arguments: Arguments) throws {
        self.arguments = arguments
        let recordingFailure = Locked<(any Error)?>(nil)
        self.recordingFailure = recordingFailure
        let baseURL = arguments.baseURL ?? (arguments.command == .login ? GitHub.oauthURL : GitHub.apiURL)
        let configuration: URLSessionConfiguration
        if arguments.isLive {
            configuration = .ephemeral
            source = "From \(arguments.baseURL?.host ?? "GitHub")."
        } else if let file = arguments.replay {
            try MockURLProtocol.replay(har: file)
            configuration = MockURLProtocol.configuration
            source = "From \(file.lastPathComponent.printable), without the network."
        } else {
            MockURLProtocol.responseWithDTO(type: arguments.fixture)
            configuration = MockURLProtocol.configuration
            source = "Sample data (\(arguments.fixture.fileName).json). Use --live to ask GitHub."
        }
        provider = DefaultAPIProvider(
            baseURL: baseURL, configuration: configuration,
            middlewares: arguments.middlewares { error in recordingFailure.withLock { $0 = error } })
    }

    func run() async throws {
        try await answer()
        if let error = recordingFailure.withLock({ $0 }) { throw error }
    }

    private func answer() async throws {
        let output = Output.standard
        let (operand, page, perPage) = (arguments.operand ?? "", arguments.page, arguments.perPage)
        switch arguments.command {
        case .search:
            try await show(SearchRequest(keyword: operand, page: page, perPage: perPage)) { response in
                (
                    Table(response.items).text(for: output),
                    "\(response.items.count) of \(response.totalCount) repositories for \"\(operand.printable)\"."
                )
            }
        case .user:
            try await show(UserRequest(login: arguments.operand)) { (Table($0).text(for: output), nil) }
        case .starred:
            try await show(StarredRequest(login: operand, page: page, perPage: perPage)) { repositories in
                (Table(repositories).text(for: output), "\(repositories.count) repositories that \(operand.printable) has starred.")
            }
        case .login:
            let request = AccessTokenRequest(
                clientID: arguments.clientID ?? "", clientSecret: arguments.clientSecret ?? "", code: arguments.code ?? "")
            try await show(request, json: { token, _ in try JSONEncoder.sorted.encode(["scope": token.scope, "token_type": token.type]) }) {
                (nil, "Signed in: a \($0.type.printable) token of \($0.value.count) characters that allows \($0.scope.printable).")
            }
        }
    }

    /// Prints the answer: the table and the note that `text` returns, or the JSON that `json` returns, which is the body by default.
    private func show<Response>(
        _ request: some APIRequest<Response>, json: (Response, Data) throws -> Data = { $1 },
        text: (Response) -> (table: String?, note: String?)
    ) async throws {
        let answer = try await provider.request(request.endpoint.withResponse())
            .mapError { MockURLProtocol.unmatchedRequests.isEmpty ? $0 : NotRecorded(file: arguments.replay) }
            .value
        guard !arguments.isJSON else {
            if !arguments.isLive { try Output.error.print(Output.error.dim(source)) }
            let document = String(decoding: try json(answer.value, answer.response.data), as: UTF8.self)
            return try Output.standard.print(document.hasSuffix("\n") ? String(document.dropLast()) : document)
        }
        let (table, note) = text(answer.value)
        let limit = arguments.isLive ? GitHubRateLimit(answer.response)?.sentence : nil
        let lines = (table.map { [$0, ""] } ?? []) + [Output.standard.dim([note, source, limit].compactMap { $0 }.joined(separator: " "))]
        try Output.standard.print(lines.joined(separator: "\n"))
    }
}

extension GitHubRateLimit {
    fileprivate var sentence: String { "\(remaining) more requests are allowed until \(reset.formatted(.iso8601))." }
}

extension Arguments {
    fileprivate func middlewares(onRecordingFailure: @escaping @Sendable (any Error) -> Void) -> [any Middleware] {
        var headers: HTTPHeaders = [:]
        // The token is for the API, and not for the host where people sign in.
        if command != .login { headers["Authorization"] = token.map { "Bearer \($0)" } }
        return [DefaultHeadersMiddleware(headers)] + (isVerbose ? [LoggingMiddleware()] : [])
            + (record.map { [RecordingMiddleware(to: $0, onFailure: onRecordingFailure)] } ?? [])
    }

    /// The fixture that answers the command.
    fileprivate var fixture: MockURLProtocol.MockDTOType {
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

/// Replaces the mock's report, which is for authors of tests.
private struct NotRecorded: LocalizedError {
    let file: URL?
    var errorDescription: String? {
        """
        \(file?.lastPathComponent ?? "The recording") has no answer to this command. It was recorded with other arguments or another \
        --base-url.
        """
    }
}

extension JSONEncoder {
    fileprivate static var sorted: JSONEncoder {
        let encoder = JSONEncoder()
        encoder.outputFormatting = .sortedKeys
        return encoder
    }
}
