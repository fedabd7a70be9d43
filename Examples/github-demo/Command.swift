/// A command and its options. The parser, the usage lines and the help all come from this.
enum Command: String, CaseIterable {
    case search, user, starred, login

    var operand: String? {
        switch self {
        case .search: "KEYWORD"
        case .user: "[LOGIN]"
        case .starred: "LOGIN"
        case .login: nil
        }
    }

    var summary: String {
        switch self {
        case .search: "Searches repositories."
        case .user: "Shows a user, or the one that the token belongs to."
        case .starred: "Shows the repositories that a user has starred."
        case .login: "Gets a token for the code of a sign-in."
        }
    }

    var options: [Option] {
        let shared: [Option] = [.live, .baseURL, .json, .verbose, .help]
        return switch self {
        case .search, .starred: [.page, .perPage, .token] + shared
        case .user: [.token] + shared
        case .login: [.code] + shared
        }
    }

    /// `search KEYWORD`
    var synopsis: String { ([rawValue, operand].compactMap { $0 } + options.filter(\.isRequired).map(\.synopsis)).joined(separator: " ") }

    /// The usage line of `command`, or of the program.
    static func usage(of command: Command?) -> String { "usage: github-demo \(command?.synopsis ?? "COMMAND") [OPTIONS]" }

    static func help(for command: Command?) -> String {
        let rows = command?.options.map { [$0.synopsis, $0.help] } ?? allCases.map { [$0.synopsis, $0.summary] }
        let sources = "Answers are bundled samples, unless you add --live. See COMMAND --help."
        return """
            \(usage(of: command))

            \(command?.summary ?? sources)

            \(Table(rows.map { ["  \($0[0])", $0[1]] }).text(width: nil))
            """
    }
}

enum Option: String, CaseIterable {
    case code = "--code"
    case page = "--page"
    case perPage = "--per-page"
    case live = "--live"
    case baseURL = "--base-url"
    case token = "--token"
    case json = "--json"
    case verbose = "--verbose"
    case help = "--help"

    /// What stands for the option's value in the help. `nil` if it takes none.
    var value: String? {
        switch self {
        case .code: "CODE"
        case .page, .perPage: "N"
        case .baseURL: "URL"
        case .token: "TOKEN"
        case .live, .json, .verbose, .help: nil
        }
    }

    var isRequired: Bool { self == .code }

    /// `--page N`
    var synopsis: String { rawValue + (value.map { " \($0)" } ?? "") }

    var help: String {
        switch self {
        case .code: "what the browser brought back; samples: bad, redirect, client"
        case .page: "the page, from 1"
        case .perPage: "the number of repositories on a page, from 1 to 100 (30)"
        case .live: "ask GitHub, over the network"
        case .baseURL: "--live from another server: https://github.example.com/api/v3"
        case .token: "the access token; GITHUB_TOKEN in the environment is safer"
        case .json: "print the JSON that came; of a sign-in, the scopes"
        case .verbose: "log requests and what an error means, without secrets"
        case .help: "this text"
        }
    }
}
