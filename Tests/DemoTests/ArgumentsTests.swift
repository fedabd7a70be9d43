import Foundation
import Testing

@testable import github_demo

@Suite("The arguments of github-demo")
struct ArgumentsTests {
    @Test(
        "Options may stand anywhere, with their values after a space or \"=\"",
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

    @Test("Without options, defaults count; no option follows --, and a single - is a word")
    func defaults() throws {
        let arguments = try parse("search", "--", "--help")
        #expect(arguments.command == .search && arguments.operand == "--help")
        #expect(arguments.page == 1 && arguments.perPage == 30)
        #expect(!arguments.isLive && !arguments.isJSON && !arguments.isVerbose)
        #expect(try parse("search", "-").operand == "-")
        #expect(try parse("login", "--code=--x").code == "--x")
    }

    @Test("A base URL asks the network")
    func network() throws {
        let live = try parse("user", "--base-url", "https://github.example.com/api/v3")
        #expect(live.isLive)
        #expect(live.baseURL?.path == "/api/v3")
    }

    @Test(
        "The token is that of --token, or else that of the environment",
        arguments: [
            ([], [:], nil), ([], ["GITHUB_TOKEN": " e\n"], "e"), ([], ["GITHUB_TOKEN": ""], nil),
            (["--token", "a"], ["GITHUB_TOKEN": "e"], "a"),
        ] as [([String], [String: String], String?)])
    func token(words: [String], environment: [String: String], token: String?) throws {
        #expect(try parse(["user"] + words, environment: environment).token == token)
    }

    @Test(
        "An error says what is wrong, and knows the command if the error is about one",
        arguments: [
            ("", "a command is missing; see github-demo --help", nil),
            ("help", "no command help; see github-demo --help", nil),
            ("serch x", "no command serch; did you mean search?", nil),
            ("uesr x", "no command uesr; did you mean user?", nil),
            ("user x --verbos=ghp_secret", "no option --verbos; did you mean --verbose?", nil),
            ("user x --verbos=\u{301}ghp_secret", "no option --verbos; did you mean --verbose?", nil),
            ("user x -v", "no option -v", nil),
            ("search", "needs a KEYWORD", .search),
            ("user a ghp_secret", "put quotes around spaces", .user),
            ("starred x --page 0", "--page takes a number from 1", .starred),
            ("search x --per-page 101", "--per-page takes a number from 1 to 100", .search),
            ("user x --page 2", "user takes no --page", .user),
            ("login", "needs --code CODE", .login),
            ("login x --code y", "takes options alone", .login),
            ("login --code", "--code needs a value", nil),
            ("user --token --live", "--token needs a value", nil),
            ("user x --live=yes", "--live takes no value", nil),
            ("login --code x --live", "GITHUB_CLIENT_ID and GITHUB_CLIENT_SECRET", .login),
            ("user --base-url x", "--base-url takes a URL", .user),
            ("user --base-url https://", "--base-url takes a URL", .user),
            ("user --base-url https://me:pa55@github.com", "--base-url takes a URL", .user),
        ] as [(String, String, Command?)])
    func misuse(words: String, message: String, command: Command?) throws {
        let misuse = try #require(throws: Arguments.Misuse.self) { try parse(words.split(separator: " ").map(String.init)) }
        #expect(misuse.message.contains(message))
        #expect(misuse.command == command)
        for secret in ["ghp_secret", "pa55"] { #expect(!misuse.message.contains(secret)) }
    }

    @Test("Each help fits 80 columns and lists each option of its command", arguments: [nil] + Command.allCases)
    func help(command: Command?) {
        let text = Command.help(for: command)
        #expect(text.hasPrefix("usage: github-demo "))
        #expect(text.split(separator: "\n").allSatisfy { $0.count <= 80 })
        for option in command?.options ?? [] { #expect(text.contains("\n  \(option.synopsis)  ")) }
        #expect(command == nil || text.contains("--base-url URL  --live from another server"))
        for command in Command.allCases where text.contains("COMMAND --help") { #expect(text.contains("\n  \(command.rawValue) ")) }
    }

    private func parse(_ words: String...) throws -> Arguments { try parse(words) }

    private func parse(_ words: [String], environment: [String: String] = [:]) throws -> Arguments {
        try Arguments(Words(words), environment: environment)
    }
}
