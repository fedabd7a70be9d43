#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// A command for a POSIX shell that sends this request with curl: the same method, URL, headers and body, byte for byte.
    ///
    /// Secrets and all values of the URL's query are left out. See ``Redaction``. The command then starts with a line that says so. A body
    /// that a terminal would change is passed to curl with `printf`. A stream of yours is not read, and a body of more than 100,000 bytes
    /// is not shown. Then a line says what to do. Headers that HTTP does not allow are left out.
    ///
    /// The same request always gives the same text. The headers, cookies and redirects of the session are missing.
    ///
    /// - Parameter redaction: The secrets to leave out. ``Redaction/none`` shows everything, so take care where you paste it.
    public func curlCommand(redacting redaction: Redaction = .secrets) -> String {
        CurlCommand(self, Redactor(redaction, for: .sentence)).description
    }

    /// The command with or without secrets: ``curlCommand(redacting:)`` with ``Redaction/none`` or ``Redaction/secrets``.
    public func curlCommand(revealingSecrets: Bool) -> String { curlCommand(redacting: revealingSecrets ? .none : .secrets) }
}

/// The lines of a command.
private struct CurlCommand: CustomStringConvertible {
    private(set) var description = ""
    private var arguments: [String] = []
    private var isRedacted = false

    /// What is longer is neither read nor pasted by anyone.
    private static let maximumBodySize = 100_000

    init(_ request: URLRequest, _ redactor: Redactor) {
        let method = request.httpMethod ?? "GET"
        let body = request.bodyPrefix(Self.maximumBodySize)
        // Without data, curl would leave out the Content-Length that these have though it is 0 (RFC 9110, section 8.6).
        let data = body ?? (["POST", "PUT", "PATCH"].contains(method) ? Data() : nil)
        let hasBody = data != nil || request.httpBodyStream != nil
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
        let type = request.value(forHTTPHeaderField: "Content-Type")
        // URLSession adds the type of a form to a POST, but curl to every method.
        if hasBody, type == nil, method != "POST" || data?.isEmpty == true { arguments.append("--header 'Content-Type:'") }

        var before = ""
        if body == nil, request.httpBodyStream != nil {
            before = ": 'The body is a stream, which is not read here: give it to curl on its standard input.'\n"
            arguments.append("--data-binary @-")
        } else if let length = request.bodyLength, length > Self.maximumBodySize {
            before = ": 'The body of \(length) bytes is not shown: put the name of a file that holds it in place of FILE.'\n"
            arguments.append("--data-binary @FILE")
        } else if let data {
            let body = ShellText(shown(redactor.body(data, contentType: type), insteadOf: data))
            before = body.isPlain ? "" : "\(body.printf) |\n  "
            arguments.append(body.isPlain ? "--data-raw \(body.word)" : "--data-binary @-")
        }

        let address = request.url.map { shown(redactor.url($0), insteadOf: $0.absoluteString) } ?? ""
        if address.contains(where: { "[]{}".contains($0) }) { arguments.append("--globoff") }
        arguments.append("--url \(ShellText(address).word)")
        // The null command: the comments of a shell are an error where zsh is typed into.
        let note = isRedacted ? ": 'Secrets are left out: curlCommand(redacting: .none) shows them.'\n" : ""
        description = note + before + "curl " + arguments.joined(separator: " \\\n  ")
    }

    private mutating func shown<Text: Equatable>(_ text: Text, insteadOf original: Text) -> Text {
        isRedacted = isRedacted || text != original
        return text
    }
}

extension URLRequest {
    fileprivate var curlHeaders: [(name: String, value: String)] {
        (allHTTPHeaderFields ?? [:]).byName.filter { (try? HTTPHeaders.check($0, $1)) != nil }
    }
}
