import APIProvider
import Fixtures
import Foundation
import GitHubAPI
import MiniRx
import MockNetwork

@main
struct GitHubDemo {
    static func main() async {
        do {
            guard let arguments = try Arguments.parse(CommandLine.arguments.dropFirst()) else { return print(Arguments.help) }
            try await GitHubDemo(arguments).run()
        } catch let error as Arguments.Misuse {
            printError("github-demo: \(error)\n\(Arguments.usage)")
            exit(64)  // EX_USAGE of sysexits.h
        } catch {
            printError("github-demo: \(message(of: error))")
            exit(1)
        }
    }

    private let command: Arguments.Command
    private let provider: any APIProvider
    private let apiURL: URL
    private let oauthURL: URL
    private let isLive: Bool
    private let source: String

    private init(_ arguments: Arguments) {
        command = arguments.command
        isLive = arguments.isLive
        apiURL = arguments.baseURL ?? GitHub.apiURL
        oauthURL = arguments.baseURL ?? GitHub.oauthURL
        if arguments.isLive {
            provider = DefaultAPIProvider(configuration: .ephemeral)
            source = "From \(arguments.baseURL?.absoluteString ?? "GitHub")."
        } else {
            let fixture = command.fixture
            MockURLProtocol.responseWithDTO(type: fixture)
            provider = DefaultAPIProvider(configuration: MockURLProtocol.configuration)
            source = "From the bundled fixture \(fixture.fileName).json, without the network; --live asks GitHub."
        }
    }

    private func run() async throws {
        switch command {
        case .search(let keyword):
            let response = try await provider.request(SearchRequest(keyword: keyword, baseURL: apiURL)).value
            printTable(response.items)
            print("\n\(response.items.count) of \(response.totalCount) repositories for \"\(keyword)\". \(source)")
        case .user(let login):
            let user = try await provider.request(UserRequest(login: login, baseURL: apiURL)).value
            print(
                Table([
                    ["login", user.login], ["name", user.name ?? ""], ["bio", user.bio ?? ""], ["location", user.location ?? ""],
                    ["repositories", "\(user.publicRepositories)"], ["followers", "\(user.followers)"], ["page", "\(user.htmlURL)"],
                ]))
            print("\n\(source)")
        case .starred(let login):
            let repositories = try await provider.request(StarredRequest(login: login, baseURL: apiURL)).value
            printTable(repositories)
            print("\n\(repositories.count) repositories that \(login) has starred. \(source)")
        case .login(let code):
            let environment = ProcessInfo.processInfo.environment
            let (clientID, secret) = (environment["GITHUB_CLIENT_ID"], environment["GITHUB_CLIENT_SECRET"])
            guard !isLive || (clientID != nil && secret != nil) else {
                throw Arguments.Misuse(description: "login --live needs GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET in the environment")
            }
            let request = AccessTokenRequest(clientID: clientID ?? "", clientSecret: secret ?? "", code: code, baseURL: oauthURL)
            let token = try await provider.request(request).value
            print("Signed in: a \(token.type) token of \(token.value.count) characters that allows \(token.scope). \(source)")
        }
    }

    private func printTable(_ repositories: [Repository]) {
        let header = ["REPOSITORY", "OWNER", "STARS", "LANGUAGE", "DESCRIPTION"]
        print(
            Table(
                [header]
                    + repositories.map {
                        [$0.name, $0.owner.login, "\($0.stargazersCount)", $0.language ?? "", $0.description ?? ""]
                    }))
    }

    /// One sentence: GitHub's own where it sent one.
    private static func message(of error: any Error) -> String {
        guard case APIError.unacceptableStatus(let response) = error, let refusal = try? response.decode(GitHubError.self) else {
            return (error as? any LocalizedError)?.errorDescription ?? "\(error)"
        }
        return "GitHub refuses: \(refusal.message) (\(response.statusCode))"
    }

    private static func printError(_ text: String) {
        FileHandle.standardError.write(Data((text + "\n").utf8))
    }
}

extension Arguments.Command {
    /// The bundled answer to this command.
    fileprivate var fixture: MockURLProtocol.MockDTOType {
        switch self {
        case .search: .search
        case .user: .user
        case .starred: .starred
        case .login(code: "bad"): .oauthBadRequest
        case .login(code: "redirect"): .oauthRedirectURLMismatch
        case .login(code: "client"): .oauthIncorrectClientCredentials
        case .login: .oauth
        }
    }
}
