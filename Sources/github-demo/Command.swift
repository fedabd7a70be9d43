/// A command and its options. The parser, the usage lines and the help all come from this.
enum Command: String, CaseIterable {
    case search, user, starred, login

    /// The argument after the command.
    var operand: Operand? {
        switch self {
        case .search: Operand(name: "KEYWORD", help: "the text to search for, in GitHub's search syntax")
        case .user: Operand(name: "LOGIN", help: "the user; by default the one that the token belongs to", isRequired: false)
        case .starred: Operand(name: "LOGIN", help: "the user")
        case .login: nil
        }
    }

    var summary: String {
        switch self {
        case .search: "Searches repositories."
        case .user: "Shows a user."
        case .starred: "Shows the repositories that a user has starred."
        case .login: "Gets a token for the code of a sign-in."
        }
    }

    var options: [Option] {
        let own: [Option] =
            switch self {
            case .search, .starred: [.page, .perPage]
            case .user: []
            case .login: [.code]
            }
        return own + [.live, .baseURL] + (self == .login ? [] : [.token]) + [.record, .replay, .json, .verbose, .help]
    }

    struct Operand {
        let name: String
        let help: String
        var isRequired = true
    }
}

enum Option: String, CaseIterable {
    case code = "--code"
    case page = "--page"
    case perPage = "--per-page"
    case live = "--live"
    case baseURL = "--base-url"
    case token = "--token"
    case record = "--record"
    case replay = "--replay"
    case json = "--json"
    case verbose = "--verbose"
    case help = "--help"

    /// The placeholder for the option's value. `nil` if it takes no value.
    var value: String? {
        switch self {
        case .code: "CODE"
        case .page, .perPage: "N"
        case .baseURL: "URL"
        case .token: "TOKEN"
        case .record, .replay: "FILE"
        case .live, .json, .verbose, .help: nil
        }
    }

    /// The options that the command needs.
    var isRequired: Bool { self == .code }

    func help(for command: Command) -> String {
        switch (self, command) {
        case (.code, _):
            """
            what the browser brought back from signing in; the bundled
            answers know the codes bad, redirect and client, each with
            its error
            """
        case (.page, _): "the page, from 1"
        case (.perPage, _): "the number of repositories on a page, from 1 to 100 (30)"
        case (.live, .login):
            """
            over the network, from GitHub; GITHUB_CLIENT_ID and
            GITHUB_CLIENT_SECRET in the environment name the app
            """
        case (.live, _): "ask GitHub, over the network"
        case (.baseURL, .login):
            """
            over the network, from the host on which people sign in,
            such as https://github.example.com
            """
        case (.baseURL, _):
            """
            over the network, from another server, such as
            https://github.example.com/api/v3
            """
        case (.token, _):
            """
            the access token to send over the network. Arguments show
            in the list of processes: better set GITHUB_TOKEN in the
            environment, which is sent to the same server
            """
        case (.record, _): "write requests and answers to a HAR file, without secrets"
        case (.replay, _): "answer from such a file, without the network"
        case (.json, .login): "print the scopes of the token as JSON"
        case (.json, _): "print the JSON that GitHub sent, unchanged"
        case (.verbose, _): "log each request to standard error, without secrets"
        case (.help, _): "this text"
        }
    }
}
