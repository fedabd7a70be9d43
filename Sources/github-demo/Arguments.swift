import Foundation

/// What the program was asked to do.
struct Arguments {
    let command: Command
    /// The keyword or the login.
    let operand: String?
    let code: String?
    let page: Int
    let perPage: Int
    /// Whether answers come over the network, and not from the bundled fixtures.
    let isLive: Bool
    let baseURL: URL?
    /// A secret, like that of the app.
    let token: String?
    let clientID: String?
    let clientSecret: String?
    let record: URL?
    let replay: URL?
    let isJSON: Bool
    let isVerbose: Bool

    /// Wrong arguments. The message shows names of options and commands, and no other argument, because one may be a secret.
    struct Misuse: Error {
        let message: String
        var command: Command?
    }

    init(_ words: Words, environment: [String: String]) throws {
        guard let name = words.operands.first else { throw Misuse(message: "a command is missing") }
        guard let command = Command(rawValue: name) else {
            throw Misuse(message: "there is no command \(name.printable)" + suggestion(for: name, among: Command.allCases.map(\.rawValue)))
        }
        func misuse(_ message: String) -> Misuse { Misuse(message: "\(command.rawValue) \(message)", command: command) }
        func number(_ option: Option, in range: ClosedRange<Int>, default standard: Int) throws -> Int {
            guard let text = words.options[option] else { return standard }
            guard let number = Int(text), range.contains(number) else {
                throw misuse("\(option.rawValue) takes a number from 1\(range.upperBound == .max ? "" : " to \(range.upperBound)")")
            }
            return number
        }

        for option in Option.allCases where words.options[option] != nil && !command.options.contains(option) {
            throw misuse("takes no \(option.rawValue)")
        }
        for option in command.options where option.isRequired && words.options[option] == nil { throw misuse("needs \(option.synopsis)") }
        self.command = command
        operand = words.operands.dropFirst().first
        if let expected = command.operand, expected.isRequired, operand == nil { throw misuse("needs a \(expected.name)") }
        guard words.operands.count <= (command.operand == nil ? 1 : 2) else {
            throw misuse(command.operand.map { "takes one \($0.name); put quotes around spaces" } ?? "takes options alone")
        }
        page = try number(.page, in: 1...Int.max, default: 1)
        perPage = try number(.perPage, in: 1...100, default: 30)
        code = words.options[.code]
        baseURL = try words.options[.baseURL].map { text in
            guard let url = URL(string: text), url.host?.isEmpty == false, ["http", "https"].contains(url.scheme?.lowercased()),
                url.user == nil, url.password == nil
            else { throw misuse("--base-url takes a URL like https://github.example.com/api/v3, without a user name") }
            return url
        }
        func file(_ option: Option) throws -> URL? {
            guard let path = words.options[option] else { return nil }
            guard !path.isEmpty else { throw misuse("\(option.rawValue) takes the name of a file") }
            return URL(fileURLWithPath: path)
        }
        record = try file(.record)
        replay = try file(.replay)
        if replay != nil, words.options[.live] != nil { throw misuse("takes --live or --replay, and not both") }
        isLive = replay == nil && (words.options[.live] != nil || baseURL != nil)
        isJSON = words.options[.json] != nil
        isVerbose = words.options[.verbose] != nil

        let token = (words.options[.token] ?? environment["GITHUB_TOKEN"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        self.token = token.isEmpty ? nil : token
        clientID = environment["GITHUB_CLIENT_ID"]
        clientSecret = environment["GITHUB_CLIENT_SECRET"]
        if command == .login, isLive, clientID == nil || clientSecret == nil {
            throw misuse("over the network needs GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET in the environment")
        }
    }
}
