import Foundation

extension PreparedRequest {
    /// A POSIX shell command to send this request with curl: the same method, URL, headers and body.
    ///
    /// With ``Redaction/standard``, values are `…`, and `FILE` stands for a file with the body. The command's first lines say so. With
    /// ``Redaction/none``, the command contains a text body below 100 KB, or a file's path. `FILE` stands for any other body, such as a
    /// multipart one. Invalid headers are left out.
    ///
    /// The same request always gives the same text. The session's headers, cookies and redirects are missing.
    ///
    /// - Parameter redaction: The command's redaction. ``Redaction/none`` shows everything: take care where you paste the command.
    public func curlCommand(redacting redaction: Redaction = .standard) -> String { CurlCommand(self, redaction).description }
}

// MARK: - The command

/// A command's lines.
private struct CurlCommand: CustomStringConvertible {
    private(set) var description = ""
    private var arguments: [String] = []
    /// The lines before the command.
    private var notes: [String] = []
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
        default: arguments.append("--request \(method.shellWord)")
        }
        for (name, value) in request.curlHeaders {
            let value = shown(redactor.header(name, value), insteadOf: value)
            arguments.append("--header \((value.allSatisfy(\.isWhitespace) ? "\(name);" : "\(name): \(value)").shellWord)")
        }
        if hasBody { addBody(of: request, method: method) }

        let address = shown(redactor.url(request.url), insteadOf: request.url.absoluteString)
        if address.contains(where: { "[]{}".contains($0) }) { arguments.append("--globoff") }
        arguments.append("--url \(address.shellWord)")
        if isRedacted { notes.insert("Values are left out: curlCommand(redacting: .none) shows them.", at: 0) }
        // Notes go to the null command `:`, because an interactive zsh does not accept # comments.
        description = notes.map { ": '\($0)'\n" }.joined() + "curl " + arguments.joined(separator: " \\\n  ")
    }

    private mutating func addBody(of request: PreparedRequest, method: String) {
        let type = request.headers["Content-Type"]
        // Without a Content-Type, curl adds the form type to any request with a body, and URLSession only to a POST with a body. For all
        // others, an empty field keeps curl from adding one.
        let count = request.body?.count ?? 0
        if type == nil, method != "POST" || count == 0 { arguments.append("--header 'Content-Type:'") }

        let isShown = redactor.redaction.showsEverything
        let pieces = request.body?.pieces ?? []
        switch (pieces.first, isShown && pieces.count == 1) {
        case _ where count == 0: arguments.append("--data-raw ''")
        case (.data(let data)?, true) where data.textInCommand != nil:
            arguments.append("--data-raw \((data.textInCommand ?? "").shellWord)")
        case (.file(let file, _)?, true): arguments.append("--data-binary \("@\(file.path)".shellWord)")
        default:
            isRedacted = isRedacted || !isShown
            let reason = isShown ? "does not fit into a command" : "is not shown"
            notes.append("The body of \(count) bytes \(reason): put the name of a file that holds it in place of FILE.")
            arguments.append("--data-binary @FILE")
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

// MARK: - Shells

extension String {
    /// The text as one POSIX shell word (POSIX.1-2017, Shell Command Language, section 2.2). Must contain no NUL.
    package var shellWord: String { "'\(replacingOccurrences(of: "'", with: #"'\''"#, options: .literal))'" }
}

extension Data {
    /// The text, if a command may contain it: a terminal acts on pasted control characters, and a system limits a word to 128 KiB.
    fileprivate var textInCommand: String? {
        guard count < 100_000, let text = String(utf8: self) else { return nil }
        let isPlain = text.unicodeScalars.allSatisfy { $0 == "\n" || $0 == "\t" || $0.properties.generalCategory != .control }
        return isPlain ? text : nil
    }
}
