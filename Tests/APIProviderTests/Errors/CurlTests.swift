import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

#if os(Linux) || os(macOS)
private struct Shell: Sendable, CustomTestStringConvertible {
    let name: String
    var testDescription: String { name }

    /// `sh`, and other shells of this system.
    static let all = ["sh", "bash", "zsh", "ksh", "busybox"].filter(isInstalled).map(Shell.init)
    static let first = all.first ?? Shell(name: "sh")
    static let hasCurl = isInstalled("curl")

    private static func isInstalled(_ command: String) -> Bool {
        (ProcessInfo.processInfo.environment["PATH"] ?? "/bin").split(separator: ":")
            .contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(command)") }
    }

    /// Runs the command with a function in place of curl. Returns what curl gets.
    func call(_ command: String) throws -> (arguments: [Data], body: Data?) {
        let output = try run(#"curl() { printf '%s\000' "$@"; }"# + "\n" + command)
        let arguments = output.split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Data($0) }
        return (arguments, arguments.firstIndex(of: Data("--data-raw".utf8)).map { arguments[$0 + 1] })
    }

    @discardableResult
    func run(_ script: String) throws -> Data {
        // A script may be longer than an argument.
        let folder = TemporaryFolder()
        try Data(script.utf8).write(to: folder.url("script"))
        let shell = name == "busybox" ? [name, "sh"] : [name]
        let outcome = try Program("/usr/bin/env", shell + [folder.url("script").path]).run()
        #expect(String(decoding: outcome.error, as: UTF8.self) == "" && outcome.status == 0)
        return outcome.output
    }
}

@Suite("cURL", tenMinutes)
struct CurlTests {
    private let folder = TemporaryFolder()

    private static let texts = [
        "plain", "a b", "'", "''", "'\u{301}; echo x; '\u{FE0F}", "\"", "it's \"$HOME\" `id` $(id) ${PATH}", #"\"#, #"\n \\ \' \0"#, "*",
        "?", "~", "#", "!!",
        "a;b|c&d<e>f", "é 한글 🙂", "-x", "--data", "@file", "@-", "%s%n%%", "=", "[a]{b,c}", "  padded  ", "a\tb",
    ]

    private static let bodies = [
        texts.joined(separator: " "), "", "\n", "a\n\n", "{\n\t\"a\": 1\n}\n", "\u{FEFF}a", String(repeating: "é", count: 49_000),
    ].map { Data($0.utf8) }

    private static let bodiesOfFiles = [
        Data("\n\na\r\nb\r\n".utf8), Data(0...255), Data([0]), Data([0xFF, 0xFE, 0x27, 0x25]), Data("-e \u{1B}[2J".utf8),
        // Too long for an argument.
        Data(repeating: 0x61, count: 300_000), Data(String(repeating: "é", count: 50_000).utf8),
    ]

    @Test("A shell gives curl every header and body as it is", arguments: Shell.all)
    fileprivate func quoting(shell: Shell) throws {
        let headers = Self.texts.enumerated().map { (key: "X-\($0)", value: $1) }
        let call = try shell.call(PreparedRequest("PUT", headers: HTTPHeaders(headers)).curlCommand(redacting: .none))
        for (name, text) in headers { #expect(call.arguments.contains(Data("\(name): \(text)".utf8)), "\(text)") }
        for body in Self.bodies {
            let call = try shell.call(PreparedRequest("POST", body: body).curlCommand(redacting: .none))
            #expect(call.body == body, "\(body.prefix(20).map { $0 })")
        }
        for body in Self.bodiesOfFiles {
            let command = PreparedRequest("POST", body: body).curlCommand(redacting: .none)
            let note = "The body of \(body.count) bytes does not fit into a command: put the name of a file that holds it in place of FILE."
            #expect(command.hasPrefix(": '\(note)'\ncurl "), "\(command.prefix(200))")
            #expect(try shell.call(command).arguments.contains(Data("@FILE".utf8)))
        }
    }

    @Test(
        "The options are those that curl needs for the same request",
        arguments: [
            (PreparedRequest("GET"), []), (PreparedRequest("HEAD"), ["--head"]), (PreparedRequest("DELETE"), ["--request", "DELETE"]),
            // RFC 9110, section 8.6: they say that there is nothing.
            (PreparedRequest("POST"), ["--request", "POST", "--header", "Content-Type:", "--data-raw", ""]),
            (PreparedRequest("PUT"), ["--request", "PUT", "--header", "Content-Type:", "--data-raw", ""]),
            // URLSession and curl both call it a form.
            (PreparedRequest("POST", body: Data("a=1".utf8)), ["--request", "POST", "--data-raw", "a=1"]),
            (PreparedRequest("GET", body: Data("a".utf8)), ["--request", "GET", "--header", "Content-Type:", "--data-raw", "a"]),
            (PreparedRequest("HEAD", body: Data("a".utf8)), ["--request", "HEAD", "--header", "Content-Type:", "--data-raw", "a"]),
            (PreparedRequest("$(id)'"), ["--request", "$(id)'"]),
            // Headers are sorted, and those that HTTP does not allow are left out.
            (
                PreparedRequest(
                    "GET", headers: ["x-b": "2", "X-A": "1", "Accept": "", "X-C": ";", "X-D": "a\r\nX-E: b", "@/etc/hosts": "c"]),
                ["--header", "Accept;", "--header", "X-A: 1", "--header", "x-b: 2", "--header", "X-C: ;"]
            ),
            // With --globoff if curl would read brackets or braces as a pattern.
            (PreparedRequest("GET", "https://h/p?q=a%20b&c='$x'"), []), (PreparedRequest("GET", "https://h/p?a%5B%5D=1"), []),
            (PreparedRequest("GET", "https://h/p?b={c}"), []), (PreparedRequest("GET", "http://[::1]:8080/p"), []),
            (PreparedRequest("GET", "https://u:p@h/p;v=1,2!*()#fragment"), []),
        ] as [(PreparedRequest, [String])])
    fileprivate func options(request: PreparedRequest, options: [String]) throws {
        let address = request.url.absoluteString
        let expected = options + (address.contains { "[]{}".contains($0) } ? ["--globoff"] : []) + ["--url", address]
        #expect(try Shell.first.call(request.curlCommand(redacting: .none)).arguments == expected.map { Data($0.utf8) })
    }

    @Test("A command has an option on each line, and shows only what is harmless unless all is asked for")
    fileprivate func text() {
        let request = PreparedRequest(
            "POST", "https://u:s3cret@api.example.com/p?page=s3cret",
            headers: ["Authorization": "Bearer s3cret", "Cookie": "a=s3cret", "Accept": "a/b"], body: Data(#"{"name":"it's"}"#.utf8))
        #expect(
            request.curlCommand() == #"""
                : 'Values are left out: curlCommand(redacting: .none) shows them.'
                : 'The body of 15 bytes is not shown: put the name of a file that holds it in place of FILE.'
                curl --request 'POST' \
                  --header 'Accept: a/b' \
                  --header 'Authorization: …' \
                  --header 'Cookie: …' \
                  --data-binary @FILE \
                  --url 'https://api.example.com/p?page=…'
                """#)
    }

    @Test("curl reads bodies of files from the files", arguments: Shell.all)
    fileprivate func files(shell: Shell) throws {
        let file = folder.url("it's a file")
        try Data("a\0b\n".utf8).write(to: file)
        let single = try Endpoint<Void>(.put, "", body: .file(file, contentType: "a/b")).preparedRequest(relativeTo: example)
        let arguments = try shell.call(single.curlCommand(redacting: .none)).arguments
        #expect(arguments.contains(Data("@\(file.path)".utf8)))
        let parts = [MultipartPart(name: "a", value: "1"), MultipartPart(name: "f", file: file, contentType: "a/b")]
        let multipart = try Endpoint<Void>(.post, "", body: .multipart(parts)).preparedRequest(relativeTo: example)
        #expect(try shell.call(multipart.curlCommand(redacting: .none)).arguments.contains(Data("@FILE".utf8)))
        #expect(!multipart.curlCommand().contains(file.path))
    }

    @Test("curl itself sends what the provider sends", .enabled(if: Shell.hasCurl))
    fileprivate func sent() async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let file = folder.url("a file")
        try Data(0...255).write(to: file)
        let requests: [Endpoint<Void>] = [
            Endpoint(.get, .url(server.url, "/a/\("b c")"), query: ["q": "[1-3]{x}'$"], headers: ["X-Empty": "", "X-A": "'\"$`\\é"]),
            Endpoint(.head, .url(server.url)),
            Endpoint(.post, .url(server.url), body: .json(["a": "@it's\n\"$HOME\""])),
            Endpoint(.put, .url(server.url), body: .data(Data(0...255), contentType: "application/octet-stream")),
            Endpoint(.patch, .url(server.url), body: .form(["a b": "@c&d"])),
            Endpoint(.post, .url(server.url)),
            Endpoint(.put, .url(server.url), body: .data(Data(), contentType: "a/b")),
            Endpoint(.put, .url(server.url), body: .file(file, contentType: "a/b")),
            Endpoint(
                .post, .url(server.url, "/bot\(secret: "7:s3cret")/x"), headers: ["Authorization": "Bearer s3cret"],
                body: .multipart([MultipartPart(name: "f", file: file, contentType: "a/b")])),
        ]
        let names = ["content-type", "content-length", "x-empty", "x-a", "accept", "authorization"]
        let provider = DefaultAPIProvider(configuration: .ephemeral)
        for request in requests {
            let sent = try await provider.request(request.withResponse()).value.response.request
            try sent.bodyData?.write(to: folder.url("body"))
            let command = sent.curlCommand(redacting: .none).replacingOccurrences(of: "@FILE", with: "@'\(folder.url("body").path)'")
            try Shell.first.run(command + " --silent")
            let pair = server.requests.suffix(2).map { request in
                ["\(request.method) \(request.target)", String(decoding: request.body, as: UTF8.self)]
                    + names.map { request.headers[$0] ?? "-" }
            }
            #expect(pair.first == pair.last, "\(request)")
        }
    }
}
#endif
