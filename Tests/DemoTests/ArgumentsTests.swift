import Foundation
import Testing

@testable import github_demo

@Suite("The arguments of github-demo")
struct ArgumentsTests {
    @Test("A command with an operand, and the standard values")
    func standard() throws {
        let arguments = try parse("search", "swift & 한글")
        #expect(arguments.command == .search)
        #expect(arguments.operand == "swift & 한글")
        #expect(arguments.page == 1)
        #expect(arguments.perPage == 30)
        #expect(!arguments.isLive && !arguments.isJSON && !arguments.isVerbose)
        #expect(arguments.token == nil)
    }

    @Test(
        "Options stand anywhere, with their values behind a space or \"=\"",
        arguments: [
            ["search", "x", "--page", "2", "--per-page", "100", "--json", "--verbose"],
            ["--verbose", "--page=2", "search", "--json", "x", "--per-page=100"],
            ["--page=9", "--page=2", "--per-page=100", "--json", "--verbose", "--", "search", "x"],
        ])
    func options(words: [String]) throws {
        let arguments = try parse(words)
        #expect(arguments.operand == "x")
        #expect(arguments.page == 2)
        #expect(arguments.perPage == 100)
        #expect(arguments.isJSON && arguments.isVerbose)
    }

    @Test("What follows -- is no option, and a lone - is a word")
    func endOfOptions() throws {
        #expect(try parse("search", "--", "--help").operand == "--help")
        #expect(try parse("search", "-").operand == "-")
        #expect(try parse("login", "--code=--x").code == "--x")
    }

    @Test("A base URL means the network")
    func baseURL() throws {
        let arguments = try parse("user", "--base-url", "https://github.example.com/api/v3")
        #expect(arguments.isLive)
        #expect(arguments.baseURL?.path == "/api/v3")
        #expect(arguments.operand == nil)
    }

    @Test("A recording is answered from without the network, whatever the base URL")
    func replay() throws {
        let arguments = try parse("user", "--base-url", "https://github.example.com", "--replay", "session.har")
        #expect(!arguments.isLive)
        #expect(arguments.replay?.lastPathComponent == "session.har")
        #expect(try parse("user", "--record", "session.har").record?.lastPathComponent == "session.har")
        for option in ["--record", "--replay"] {
            let misuse = #expect(throws: Arguments.Misuse.self) { try parse("user", option, "") }
            #expect(misuse?.message == "user \(option) takes the name of a file")
        }
    }

    @Test(
        "The token is that of --token, else that of the environment",
        arguments: [
            ([], [:], nil), ([], ["GITHUB_TOKEN": " e\n"], "e"), ([], ["GITHUB_TOKEN": ""], nil),
            (["--token", "a"], ["GITHUB_TOKEN": "e"], "a"),
        ] as [([String], [String: String], String?)])
    func token(words: [String], environment: [String: String], token: String?) throws {
        #expect(try parse(["user"] + words, environment: environment).token == token)
    }

    @Test(
        "What makes no sense is said, with the usage of the command where that is known",
        arguments: [
            ("", "a command is missing", nil),
            ("serch x", "there is no command serch", nil),
            ("user x --verbos", "there is no option --verbos", nil),
            ("user x --tokne=ghp_secret", "there is no option --tokne", nil),
            ("user x -v", "there is no option -v", nil),
            ("search", "search needs a KEYWORD", .search),
            ("search a b", "search takes one argument; put quotes around spaces", .search),
            ("user a ghp_secret", "user takes one argument; put quotes around spaces", .user),
            ("starred", "starred needs a LOGIN", .starred),
            ("starred x --page 0", "starred --page takes a number from 1", .starred),
            ("search x --per-page 101", "search --per-page takes a number from 1 to 100", .search),
            ("search x --page two", "search --page takes a number from 1", .search),
            ("user x --page 2", "user takes no --page", .user),
            ("search x --code y", "search takes no --code", .search),
            ("login", "login needs --code CODE", .login),
            ("login x --code y", "login takes options alone", .login),
            ("login --code", "--code needs a value: --code CODE", nil),
            ("user --token --live", "--token needs a value: --token TOKEN", nil),
            ("user x --replay f --live", "user takes --live or --replay, and not both", .user),
            ("user x --live=yes", "--live takes no value", nil),
            (
                "login --code x --live", "login over the network needs GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET in the environment",
                .login
            ),
        ] as [(String, String, Command?)])
    func misuse(words: String, message: String, command: Command?) throws {
        let misuse = try #require(throws: Arguments.Misuse.self) { try parse(words.split(separator: " ").map(String.init)) }
        #expect(misuse.message == message)
        #expect(misuse.command == command)
    }

    @Test(
        "A base URL has a scheme and a host, and no password that would show",
        arguments: ["x", "github.com", "ftp://github.com", "https://", "https://me:pa55@github.com"])
    func badBaseURL(text: String) throws {
        let misuse = try #require(throws: Arguments.Misuse.self) { try parse("user", "--base-url", text) }
        #expect(misuse.message == "user --base-url takes a URL like https://github.example.com/api/v3")
    }

    @Test("Each help fits 80 columns and tells of each option that its command takes", arguments: [nil] + Command.allCases)
    func help(command: Command?) {
        let text = Command.help(for: command)
        #expect(text.hasPrefix("usage: github-demo "))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        for option in command?.options ?? [] { #expect(text.contains("\n  \(option.synopsis)  ")) }
        for command in Command.allCases where text.contains("COMMAND --help") { #expect(text.contains("\n  \(command.rawValue) ")) }
    }

    private func parse(_ words: String...) throws -> Arguments { try parse(words) }

    private func parse(_ words: [String], environment: [String: String] = [:]) throws -> Arguments {
        try Arguments(Words(words), environment: environment)
    }
}
