import Foundation

/// What the program was asked to do.
struct Arguments {
    let command: Command
    /// The keyword or the login.
    let operand: String?
    let page: Int
    let perPage: Int
    /// Whether answers come over the network, and not from samples.
    let isLive: Bool
    let baseURL: URL?
    let token: String?
    /// The path of a recording that answers; `nil` if none does.
    let recording: String?
    let clientID: String
    let clientSecret: String
    private let options: [Option: String]

    /// Wrong arguments. The message shows no operands and values, because one may be a secret.
    struct Misuse: Error {
        let message: String
        var command: Command?
    }

    init(_ words: Words, environment: [String: String]) throws {
        guard let name = words.operands.first else { throw Misuse(message: "a command is missing; see github-demo --help") }
        guard let command = Command(rawValue: name) else {
            throw Misuse(message: "there is no command \(name.printable); \(Command.suggestion(for: name) ?? "see github-demo --help")")
        }
        let (options, operands) = (words.options, words.operands.dropFirst())
        func check(_ isRight: Bool, _ message: @autoclosure () -> String) throws {
            if !isRight { throw Misuse(message: "\(command.rawValue) \(message())", command: command) }
        }
        func number(_ option: Option, upTo maximum: Int, default standard: Int) throws -> Int {
            guard let text = options[option] else { return standard }
            let number = Int(text) ?? 0
            try check(1...maximum ~= number, "\(option.rawValue) takes a number from 1\(maximum == .max ? "" : " to \(maximum)")")
            return number
        }

        for option in options.keys { try check(command.options.contains(option), "takes no \(option.rawValue)") }
        for option in command.options where option.isRequired { try check(options[option] != nil, "needs \(option.synopsis)") }
        try check(operands.isEmpty || command.operand != nil, "takes options alone")
        try check(operands.count <= 1, "takes one argument; put quotes around spaces")
        try check(!operands.isEmpty || command.operand?.hasPrefix("[") != false, "needs a \(command.operand ?? "")")
        page = try number(.page, upTo: .max, default: 1)
        perPage = try number(.perPage, upTo: 100, default: 30)
        baseURL = options[.baseURL].flatMap { URL(string: $0) }
        let isURL = ["http", "https"].contains(baseURL?.scheme) && baseURL?.host?.isEmpty == false && baseURL?.user == nil
        try check(isURL || options[.baseURL] == nil, "--base-url takes a URL like https://github.example.com/api/v3")
        isLive = options[.live] != nil || baseURL != nil

        let token = (options[.token] ?? environment["GITHUB_TOKEN"] ?? "").trimmingCharacters(in: .whitespacesAndNewlines)
        self.token = token.isEmpty ? nil : token
        recording = environment["RECORDING"].flatMap { $0.isEmpty ? nil : $0 }
        let (clientID, clientSecret) = (environment["GITHUB_CLIENT_ID"], environment["GITHUB_CLIENT_SECRET"])
        try check(
            command != .login || !isLive || clientID != nil && clientSecret != nil,
            "over the network needs GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET in the environment")
        (self.clientID, self.clientSecret) = (clientID ?? "", clientSecret ?? "")
        (self.command, self.options, operand) = (command, options, operands.first)
    }

    var code: String { options[.code] ?? "" }
    var isJSON: Bool { options[.json] != nil }
    var isVerbose: Bool { options[.verbose] != nil }
}

/// The arguments, split into operands and options.
struct Words {
    private(set) var operands: [String] = []
    /// The value of each option: that of the last, if it is given twice, and an empty one if it takes none.
    private(set) var options: [Option: String] = [:]

    init(_ arguments: some Sequence<String>) throws {
        var rest = Array(arguments)[...]
        while let word = rest.popFirst() {
            guard word != "--" else { break }
            guard word.hasPrefix("-"), word != "-" else {
                operands.append(word)
                continue
            }
            // By bytes: a combining mark behind the sign makes another character of it.
            let parts = word.utf8.split(separator: UInt8(ascii: "="), maxSplits: 1, omittingEmptySubsequences: false).map {
                String(Substring($0))
            }
            guard let option = Option(rawValue: parts[0] == "-h" ? "--help" : parts[0]) else {
                // The text after "=" may be a secret.
                let suggestion = Option.suggestion(for: parts[0]).map { "; \($0)" } ?? ""
                throw Arguments.Misuse(message: "there is no option \(parts[0].printable)\(suggestion)")
            }
            if option.value == nil {
                guard parts.count == 1 else { throw Arguments.Misuse(message: "\(option.rawValue) takes no value") }
                options[option] = ""
            } else if parts.count == 2 {
                options[option] = parts[1]
            } else if let next = rest.first, !next.hasPrefix("--") {
                options[option] = rest.removeFirst()
            } else {
                throw Arguments.Misuse(message: "\(option.rawValue) needs a value: \(option.synopsis)")
            }
        }
        operands += rest
    }

    /// The command to help with, if one is named.
    var command: Command? { operands.first.flatMap(Command.init) }
}

extension CaseIterable where Self: RawRepresentable<String> {
    /// A question about the name that was probably meant. `nil` if none differs by two letters or fewer.
    fileprivate static func suggestion(for name: String) -> String? {
        let distances = allCases.map { (name: $0.rawValue, distance: $0.rawValue.difference(from: name).count) }
        return distances.filter { $0.distance <= 2 }.min { $0.distance < $1.distance }.map { "did you mean \($0.name)?" }
    }
}
