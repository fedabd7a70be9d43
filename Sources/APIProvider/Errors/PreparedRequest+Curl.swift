import Foundation

extension PreparedRequest {
    /// A command for a POSIX shell that sends this request with curl: the same method, URL, headers and body, byte for byte.
    ///
    /// With ``Redaction/standard``, values are `…`, and `FILE` stands for a file with the body. The command starts with lines that say so.
    /// With ``Redaction/none``, it runs unchanged: curl reads the files of a body, and gets from `printf` a body that a terminal would
    /// change. Headers that HTTP does not allow are left out.
    ///
    /// The same request always gives the same text. The headers, cookies and redirects of the session are missing.
    ///
    /// - Parameter redaction: The redaction of the command. ``Redaction/none`` shows everything, so take care where you paste it.
    public func curlCommand(redacting redaction: Redaction = .standard) -> String { CurlCommand(self, redaction).description }
}

// MARK: - The command

/// The lines of a command.
private struct CurlCommand: CustomStringConvertible {
    private(set) var description = ""
    private var arguments: [String] = []
    /// The lines before the command.
    private var notes: [String] = []
    /// The shell commands whose output is piped into curl.
    private var input = ""
    private var isRedacted = false
    private let redactor: Redactor

    init(_ request: PreparedRequest, _ redaction: Redaction) {
        redactor = Redactor(redaction, for: request)
        let method = request.method.rawValue
        let hasBody = request.body != nil || ["POST", "PUT", "PATCH"].contains(method)
        switch method {
        case "GET" where !hasBody: break
        // With --request, curl would wait for a body.
        case "HEAD" where !hasBody: arguments.append("--head")
        default: arguments.append("--request \(ShellText(method).word)")
        }
        for (name, value) in request.curlHeaders {
            let value = shown(redactor.header(name, value), insteadOf: value)
            arguments.append("--header \(ShellText(value.allSatisfy(\.isWhitespace) ? "\(name);" : "\(name): \(value)").word)")
        }
        if hasBody { addBody(of: request, method: method) }

        let address = shown(redactor.url(request.url), insteadOf: request.url.absoluteString)
        if address.contains(where: { "[]{}".contains($0) }) { arguments.append("--globoff") }
        arguments.append("--url \(ShellText(address).word)")
        if isRedacted { notes.insert("Values are left out: curlCommand(redacting: .none) shows them.", at: 0) }
        // Notes go to the null command `:`, because an interactive zsh does not accept # comments.
        description = notes.map { ": '\($0)'\n" }.joined() + input + "curl " + arguments.joined(separator: " \\\n  ")
    }

    private mutating func addBody(of request: PreparedRequest, method: String) {
        let type = request.headers["Content-Type"]
        // Without a Content-Type, curl adds the type of a form to any request with a body, and URLSession only to a POST with a body. For
        // all others, the empty field tells curl to add none.
        let count = request.body?.count ?? 0
        if type == nil, method != "POST" || count == 0 { arguments.append("--header 'Content-Type:'") }

        if count == 0 || redactor.redaction.showsEverything {
            add(request.body?.pieces ?? [])
        } else {
            isRedacted = true
            notes.append("The body of \(count) bytes is not shown: put the name of a file that holds it in place of FILE.")
            arguments.append("--data-binary @FILE")
        }
    }

    private mutating func add(_ pieces: [BodyPiece]) {
        switch pieces.first {
        case nil: arguments.append("--data-raw ''")
        case .data(let data)? where pieces.count == 1 && ShellText(data).isPlain: arguments.append("--data-raw \(ShellText(data).word)")
        case .file(let file, _)? where pieces.count == 1: arguments.append("--data-binary \(ShellText("@\(file.path)").word)")
        default:
            let commands = pieces.map { piece in
                switch piece {
                case .data(let data): ShellText(data).printf
                case .file(let file, _): "cat \(ShellText(file.path).word)"
                }
            }
            input = (commands.count == 1 ? commands[0] : "{ \(commands.joined(separator: "; ")); }") + " |\n  "
            arguments.append("--data-binary @-")
        }
    }

    /// Returns `text`, and notes whether it differs from the `original`.
    private mutating func shown(_ text: String, insteadOf original: String) -> String {
        isRedacted = isRedacted || text != original
        return text
    }
}

extension PreparedRequest {
    fileprivate var curlHeaders: [(name: String, value: String)] {
        headers.dictionary.sortedByName.filter { (try? HTTPHeaders.check($0, $1)) != nil }
    }
}
