import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

#if os(Linux) || os(macOS)
/// A shell that has a stand-in for curl: it notes each of its arguments, and what comes on its standard input where that is asked for.
private struct Shell: Sendable, CustomTestStringConvertible {
    let name: String
    var testDescription: String { name }

    /// `sh`, and what else there is.
    static let all = ["sh", "dash", "bash", "zsh", "ksh", "busybox"].map(Shell.init)
        .filter { shell in paths.contains { FileManager.default.isExecutableFile(atPath: "\($0)/\(shell.name)") } }

    /// `sh`, but on a system that has none.
    static let first = all.first ?? Shell(name: "sh")

    static let hasCurl = paths.contains { FileManager.default.isExecutableFile(atPath: "\($0)/curl") }

    private static let paths = (ProcessInfo.processInfo.environment["PATH"] ?? "/bin").split(separator: ":")

    struct Call: Equatable {
        var arguments: [Data]
        var input = Data()

        /// The one argument after the option.
        func value(of option: String) -> Data? {
            arguments.firstIndex(of: Data(option.utf8)).map { arguments[$0 + 1] }
        }

        var headers: [String] {
            zip(arguments, arguments.dropFirst()).filter { $0.0 == Data("--header".utf8) }.map { String(decoding: $0.1, as: UTF8.self) }
        }

        var body: Data? { value(of: "--data-binary") == Data("@-".utf8) ? input : value(of: "--data-raw") }
    }

    /// What curl would have been given.
    func call(_ command: String) throws -> Call {
        let curl = #"curl() { printf '%s\000' "$@"; printf 'end\000'; case "$*" in *'--data-binary @-'*) cat;; esac; }"#
        let output = try run(curl + "\n" + command)
        let end = try #require(output.range(of: Data("end\0".utf8), options: .backwards))
        let arguments = output[..<end.lowerBound].split(separator: 0, omittingEmptySubsequences: false).dropLast().map { Data($0) }
        return Call(arguments: arguments, input: Data(output[end.upperBound...]))
    }

    @discardableResult
    func run(_ script: String) throws -> Data {
        // As a file, since a script may be longer than an argument.
        let file = FileManager.default.temporaryDirectory.appendingPathComponent("curl-\(UUID().uuidString).sh")
        try Data(script.utf8).write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        let process = Process()
        process.executableURL = URL(fileURLWithPath: "/usr/bin/env")
        process.arguments = (name == "busybox" ? [name, "sh"] : [name]) + [file.path]
        process.standardInput = FileHandle.nullDevice
        let (output, errors) = (Pipe(), Pipe())
        (process.standardOutput, process.standardError) = (output, errors)
        try process.run()
        let data = output.fileHandleForReading.readDataToEndOfFile()
        #expect(String(decoding: errors.fileHandleForReading.readDataToEndOfFile(), as: UTF8.self) == "")
        process.waitUntilExit()
        #expect(process.terminationStatus == 0)
        return data
    }
}

@Suite("cURL", tenMinutes)
struct CurlTests {
    private static let hostile = [
        "plain", "a b", "'", "''", "\"", "it's \"$HOME\" `id` $(id) ${PATH}", #"\"#, #"\n \\ \' \0"#, "*", "?", "~", "#", "!!",
        "a;b|c&d<e>f",
        "é 한글 🙂", "-x", "--data", "@file", "@-", "%s%n%%", "=", "[a]{b,c}", "  padded  ", "a\tb",
    ]

    @Test("A shell hands curl every value as it is", arguments: Shell.all)
    fileprivate func quoting(shell: Shell) throws {
        for value in Self.hostile {
            let request = PreparedRequest("PUT", "https://api.example.com/\(value.count)", headers: ["X-A": value], body: Data(value.utf8))
            let call = try shell.call(request.curlCommand(redacting: .none))
            let body = value == "a\tb" ? ["--data-binary", "@-"] : ["--data-raw", value]
            let arguments =
                ["--request", "PUT", "--header", "X-A: \(value)", "--header", "Content-Type:"] + body
                + ["--url", "https://api.example.com/\(value.count)"]
            #expect(call.arguments == arguments.map { Data($0.utf8) }, "\(value)")
            #expect(call.body == Data(value.utf8))
        }
    }

    @Test("A body comes out as it went in, whatever its bytes", arguments: Shell.all)
    fileprivate func bodies(shell: Shell) throws {
        let bodies = [
            Data(), Data("\n".utf8), Data("a\n\n".utf8), Data("\n\na\r\nb\r\n".utf8), Data(0...255), Data([0]),
            Data([0xFF, 0xFE, 0x27, 0x25]),
            Data("-e \u{1B}[2J".utf8), Data("\u{0}01234567\u{1}8".utf8), Data("%s\u{0}\\n\\".utf8), Data("{\n  \"a\": 1\n}\n".utf8),
            Data(repeating: 0x61, count: 100_000), Data(String(repeating: "é", count: 50_000).utf8),
        ]
        for body in bodies {
            let call = try shell.call(PreparedRequest("POST", body: body).curlCommand(redacting: .none))
            #expect(call.body == body, "\(body.prefix(20).map { $0 })")
        }
    }

    @Test("The URL is the request's, without curl's own globbing")
    fileprivate func url() throws {
        for url in [
            "https://h/p?q=a%20b&c='$x'", "https://h/p?a%5B%5D=1&b={c}", "http://[::1]:8080/p", "https://u:p@h/p;v=1,2!*()#fragment",
        ] {
            let request = PreparedRequest("GET", url)
            let call = try Shell.first.call(request.curlCommand(redacting: .none))
            let address = request.url.absoluteString
            #expect(call.value(of: "--url") == Data(address.utf8))
            #expect(call.arguments.contains(Data("--globoff".utf8)) == address.contains { "[]{}".contains($0) })
        }
    }

    @Test(
        "A method and a body go together as curl takes them",
        arguments: [
            ("GET", nil, []), ("HEAD", nil, ["--head"]), ("DELETE", nil, ["--request", "DELETE"]),
            // RFC 9110, section 8.6: they say that there is nothing.
            ("POST", nil, ["--request", "POST", "--header", "Content-Type:", "--data-raw", ""]),
            ("PUT", nil, ["--request", "PUT", "--header", "Content-Type:", "--data-raw", ""]),
            // URLSession and curl both call it a form.
            ("POST", "a=1", ["--request", "POST", "--data-raw", "a=1"]),
            ("PATCH", "a=1", ["--request", "PATCH", "--header", "Content-Type:", "--data-raw", "a=1"]),
            ("DELETE", "a=1", ["--request", "DELETE", "--header", "Content-Type:", "--data-raw", "a=1"]),
            ("GET", "a=1", ["--request", "GET", "--header", "Content-Type:", "--data-raw", "a=1"]),
            ("HEAD", "a=1", ["--request", "HEAD", "--header", "Content-Type:", "--data-raw", "a=1"]),
            ("$(id)'", nil, ["--request", "$(id)'"]),
        ] as [(String, String?, [String])])
    fileprivate func methods(method: String, body: String?, arguments: [String]) throws {
        let request = PreparedRequest(HTTPMethod(rawValue: method), "https://h/p", body: body.map { Data($0.utf8) })
        #expect(
            try Shell.first.call(request.curlCommand(redacting: .none)).arguments
                == (arguments + ["--url", "https://h/p"]).map { Data($0.utf8) })
    }

    @Test("Headers are in order, and an empty one is sent empty")
    fileprivate func headers() throws {
        let request = PreparedRequest("GET", headers: ["x-b": "2", "X-A": "1", "Accept": "", "X-C": ";", "X-D": ":"])
        let headers = ["Accept;", "X-A: 1", "x-b: 2", "X-C: ;", "X-D: :"]
        #expect(try Shell.first.call(request.curlCommand(redacting: .none)).headers == headers)
        for _ in 0..<20 {
            #expect(
                PreparedRequest("GET", headers: request.headers).curlCommand(redacting: .none)
                    == request.curlCommand(redacting: .none))
        }
    }

    @Test("A header that HTTP does not allow is left out")
    fileprivate func illegalHeaders() throws {
        let request = PreparedRequest("GET", headers: ["X-A": "a\r\nX-B: b", "@/etc/hosts": "c", "X-D": "d"])
        #expect(try Shell.first.call(request.curlCommand(redacting: .none)).headers == ["X-D: d"])
    }

    @Test("A command for people has an option on each line")
    fileprivate func text() {
        let request = PreparedRequest("POST", headers: ["Content-Type": "application/json"], body: Data(#"{"name":"it's"}"#.utf8))
        #expect(
            request.curlCommand(redacting: .none) == #"""
                curl --request 'POST' \
                  --header 'Content-Type: application/json' \
                  --data-raw '{"name":"it'\''s"}' \
                  --url 'https://api.example.com/items'
                """#)
        let binary = PreparedRequest("POST", headers: ["Content-Type": "a/b"], body: Data("--b\r\n100% \u{0}'".utf8))
        #expect(
            binary.curlCommand(redacting: .none) == #"""
                printf '\055-b\015\012100%% \000\047' |
                  curl --request 'POST' \
                  --header 'Content-Type: a/b' \
                  --data-binary @- \
                  --url 'https://api.example.com/items'
                """#)
    }

    @Test("Only what is known to be harmless is shown unless all is asked for, and the command says so")
    fileprivate func masked() throws {
        let request = PreparedRequest(
            "POST", "https://u:s3cret@api.example.com/p?page=s3cret",
            headers: ["Authorization": "Bearer s3cret", "Cookie": "a=s3cret", "X-Api-Key": "s3cret", "Accept": "a/b"],
            body: Data(#"{"name":"me","password":"s3cret"}"#.utf8))
        #expect(
            request.curlCommand() == #"""
                : 'Values are left out: curlCommand(redacting: .none) shows them.'
                : 'The body of 33 bytes is not shown: put the name of a file that holds it in place of FILE.'
                curl --request 'POST' \
                  --header 'Accept: a/b' \
                  --header 'Authorization: …' \
                  --header 'Cookie: …' \
                  --header 'X-Api-Key: …' \
                  --data-binary @FILE \
                  --url 'https://api.example.com/p?page=…'
                """#)
        let revealed = request.curlCommand(redacting: .none)
        #expect(revealed.components(separatedBy: "s3cret").count == 7)
        #expect(!revealed.contains("left out"))
        #expect(try Shell.first.call(request.curlCommand()).headers.count == 4)
    }

    @Test("Of a body, the command says how long it is")
    fileprivate func otherBody() throws {
        let request = PreparedRequest("POST", headers: ["Content-Type": "text/csv"], body: Data("me,s3cret7".utf8))
        let command = request.curlCommand()
        let notes = [
            "Values are left out: curlCommand(redacting: .none) shows them.",
            "The body of 10 bytes is not shown: put the name of a file that holds it in place of FILE.",
        ]
        #expect(command.hasPrefix(notes.map { ": '\($0)'\n" }.joined() + "curl "), "\(command)")
        #expect(try Shell.first.call(command).value(of: "--data-binary") == Data("@FILE".utf8))
        #expect(try Shell.first.call(request.curlCommand(redacting: .none)).body == request.bodyData)
    }

    @Test("A body that is too long to paste is in the command only if all is asked for")
    fileprivate func longBody() throws {
        for byte in [UInt8(ascii: "a"), 0] {
            let body = Data(repeating: byte, count: 300_000)
            let request = PreparedRequest("PUT", body: body)
            #expect(
                request.curlCommand().contains(
                    ": 'The body of 300000 bytes is not shown: put the name of a file that holds it in place of FILE.'"))
            #expect(try Shell.first.call(request.curlCommand()).value(of: "--data-binary") == Data("@FILE".utf8))
            #expect(try Shell.first.call(request.curlCommand(redacting: .none)).body == body)
        }
    }

    @Test("curl reads bodies of files from the files", arguments: Shell.all)
    fileprivate func files(shell: Shell) throws {
        let folder = TemporaryFolder()
        let file = folder.url("it's a file")
        try Data("a\0b\n".utf8).write(to: file)
        let endpoint = Endpoint<Void>(.put, .url(example), body: .file(file, contentType: "a/b"))
        func request(_ endpoint: Endpoint<Void>) throws -> PreparedRequest {
            try endpoint.preparedRequest(relativeTo: nil, encoder: JSONEncoder(), mediaType: nil)
        }
        let call = try shell.call(try request(endpoint).curlCommand(redacting: .none))
        #expect(call.value(of: "--data-binary") == Data("@\(file.path)".utf8))
        let parts = [MultipartPart(name: "a", value: "1"), MultipartPart(name: "f", file: file, contentType: "a/b")]
        let multipart = try request(Endpoint<Void>(.post, .url(example), body: .multipart(parts)))
        #expect(try shell.call(multipart.curlCommand(redacting: .none)).body == multipart.bodyData)
        #expect(!multipart.curlCommand().contains(file.path))
    }

    @Test("A real curl sends what the provider sends", .enabled(if: Shell.hasCurl))
    fileprivate func sent() async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let folder = TemporaryFolder()
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
                .post, .url(server.url, "/bot\(secret: "7:s3cret")/x"), query: ["token": "s3cret"],
                headers: ["Authorization": "Bearer s3cret"],
                body: .multipart([
                    MultipartPart(name: "password", value: "s3cret"), MultipartPart(name: "f", file: file, contentType: "a/b"),
                ])),
        ]
        let names = ["content-type", "content-length", "x-empty", "x-a", "accept", "authorization"]
        for request in requests {
            let provider = DefaultAPIProvider(baseURL: example, configuration: .ephemeral)
            let sent = try await provider.request(request.withResponse()).value.response.request
            try Shell.first.run(sent.curlCommand(redacting: .none) + " --silent")
            let pair = server.requests.suffix(2)
            #expect(pair.first?.method == pair.last?.method)
            #expect(pair.first?.target == pair.last?.target)
            #expect(pair.first?.body == pair.last?.body)
            #expect(names.map { pair.first?.headers[$0] } == names.map { pair.last?.headers[$0] }, "\(request)")
        }
    }
}
#endif
