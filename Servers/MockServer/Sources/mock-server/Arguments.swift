import Foundation
import MockServer

/// The command line.
struct Arguments {
    static let usage =
        "usage: mock-server [FILE.har | STUBS.json | FOLDER] [--port N] [--host HOST] [--origin URL] [--allow-origin URL]... "
        + "[--replace-origin] [--record URL]"
    static let help = """
        \(usage)

        Answers HTTP requests from a recording, from a list of stubs, or from a folder of fixtures: GET /a/b from a/b.json. Other programs
        add stubs by POST /__mock/stubs; GET /__mock/openapi.json describes that.

          --port N             the port, 8080 by default; 0 takes any free port
          --host HOST          an IP address of this machine, or a name of it for all addresses; without it, or with localhost, only
                               this machine can connect
          --origin URL         the origin that is served, where a recording has several
          --allow-origin URL   an origin whose web pages may send requests, too
          --replace-origin     replaces the served origin in textual bodies, too
          --record URL         asks this server, and writes FILE.har at the end
        """

    var file: URL?
    var options = MockServer.Options()
    var origin: String?
    var recordedOrigin: String?
    var needsHelp = false

    /// - Throws: A sentence about the argument that is wrong.
    init(_ arguments: [String]) throws {
        options.port = 8080
        var rest = arguments[...]
        func value(_ option: String) throws -> String {
            guard let value = rest.popFirst() else { throw ServerError("\(option) needs a value.") }
            return value
        }
        while let argument = rest.popFirst() {
            switch argument {
            case "--help", "-h": needsHelp = true
            case "--port":
                let text = try value(argument)
                guard let port = UInt16(text) else { throw ServerError("\"\(text)\" is no port. Choose one from 0 to 65535.") }
                options.port = port
            case "--host": options.host = try value(argument)
            case "--origin": origin = try value(argument)
            case "--allow-origin":
                let text = try value(argument)
                guard text == "null" || ["", "/"].contains(URLComponents(string: text).flatMap { $0.host == nil ? nil : $0.path }) else {
                    throw ServerError("\"\(text)\" is no origin. Write a scheme and a host, such as https://app.example.com.")
                }
                options.allowedOrigins.insert(text)
            case "--replace-origin": options.replacesOrigin = true
            case "--record": recordedOrigin = try value(argument)
            case _ where argument.hasPrefix("-"): throw ServerError("There is no option \(argument).")
            case _ where file != nil: throw ServerError("Name one file or folder. \"\(argument)\" is a second one.")
            default: file = URL(fileURLWithPath: argument)
            }
        }
        guard recordedOrigin != nil else { return }
        guard let file, file.pathExtension == "har" else { throw ServerError("--record needs the FILE.har to write.") }
        guard origin == nil else { throw ServerError("--record names the origin, so --origin is one too many.") }
    }
}
