import Foundation

/// What the program was asked to do.
struct Arguments {
    enum Command {
        case search(keyword: String)
        case user(login: String)
        case starred(login: String)
        case login(code: String)
    }

    /// Arguments that make no sense: what is wrong with them.
    struct Misuse: Error, CustomStringConvertible { let description: String }

    var command: Command
    /// Over the network, and not from the bundled fixtures.
    var isLive = false
    var baseURL: URL?

    static let usage = """
        usage: github-demo search KEYWORD | user LOGIN | starred LOGIN | login --code CODE  [--live] [--base-url URL]
        """

    static let help = """
        \(usage)

        Asks GitHub, or the answers that are bundled with the program.

          search KEYWORD     repositories that match
          user LOGIN         a user
          starred LOGIN      the repositories that a user has starred
          login --code CODE  an access token for the code of a sign-in; the bundled answers know the
                             codes bad, redirect and client, each with its error

          --live             over the network, from GitHub
          --base-url URL     over the network, from another server: https://github.example.com/api/v3
                             (for login, the host on which people sign in: https://github.example.com)
          --help             this text

        For login --live, GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET in the environment name the app.
        """

    /// `nil` where help is asked for.
    static func parse(_ arguments: some Sequence<String>) throws -> Arguments? {
        var words: [String] = []
        var options: [String: String] = [:]
        var isLive = false
        var rest = Array(arguments)[...]
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": return nil
            case "--live": isLive = true
            case "--base-url", "--code":
                guard let value = rest.popFirst() else { throw Misuse(description: "\(argument) needs a value") }
                options[argument] = value
            case _ where argument.hasPrefix("-"): throw Misuse(description: "there is no option \(argument)")
            default: words.append(argument)
            }
        }

        let command: Command =
            switch (words.first, words.dropFirst().first, options["--code"]) {
            case ("search", let keyword?, nil): .search(keyword: keyword)
            case ("user", let login?, nil): .user(login: login)
            case ("starred", let login?, nil): .starred(login: login)
            case ("login", nil, let code?): .login(code: code)
            case ("login", nil, nil): throw Misuse(description: "login needs --code CODE")
            case ("search", _, _): throw Misuse(description: "search takes a KEYWORD, and nothing else")
            case ("user", _, _), ("starred", _, _): throw Misuse(description: "\(words[0]) takes a LOGIN, and nothing else")
            case ("login", _, _): throw Misuse(description: "login takes --code CODE, and nothing else")
            case (let word?, _, _): throw Misuse(description: "there is no command \(word)")
            case (nil, _, _): throw Misuse(description: "a command is missing")
            }
        guard words.count <= 2 else { throw Misuse(description: "\"\(words[2])\" is one argument too many; put quotes around spaces") }

        var result = Arguments(command: command, isLive: isLive || options["--base-url"] != nil)
        if let text = options["--base-url"] {
            guard let url = URL(string: text), url.host?.isEmpty == false, ["http", "https"].contains(url.scheme?.lowercased()) else {
                throw Misuse(description: "--base-url takes a URL like https://github.example.com/api/v3, and not \"\(text)\"")
            }
            result.baseURL = url
        }
        return result
    }
}
