#if canImport(FoundationNetworking)
import Foundation
public import FoundationNetworking
#else
public import Foundation
#endif

extension URLRequest {
    /// A command for a POSIX shell that sends this request by curl: the same method, URL, headers and body, byte for byte.
    ///
    /// Secrets are masked: the values of the query, of headers and body fields that are named like secrets, and a password in the URL. The
    /// command then begins with a line that says so. A body that no terminal would take as it is goes to curl through `printf`; a stream is
    /// not read, and a line says so. Headers that HTTP does not allow are left out.
    ///
    /// The same request always gives the same text. The session's own headers, cookies and redirects are not in it.
    ///
    /// - Parameter revealingSecrets: Whether to show everything. Mind where you paste it.
    public func curlCommand(revealingSecrets: Bool = false) -> String {
        let revealed = curl(masked: false)
        guard !revealingSecrets else { return revealed }
        let masked = curl(masked: true)
        // The null command: the comments of a shell are an error where zsh is typed into.
        return masked == revealed ? masked : ": 'Secrets are masked: curlCommand(revealingSecrets: true) shows them.'\n" + masked
    }

    private func curl(masked: Bool) -> String {
        let method = httpMethod ?? "GET"
        // Without data, curl would leave out the Content-Length that these have though it is 0 (RFC 9110, section 8.6).
        let data = httpBody ?? (["POST", "PUT", "PATCH"].contains(method) ? Data() : nil)
        let body = data.map { ShellText(masked ? $0.maskingSecrets : $0) }
        var (before, arguments) = ("", [String]())

        switch (method, body) {
        case ("GET", nil) where httpBodyStream == nil: break
        // With --request, curl would wait for a body.
        case ("HEAD", nil) where httpBodyStream == nil: arguments.append("--head")
        default: arguments.append("--request \(ShellText(method).word)")
        }

        for (name, value) in curlHeaders {
            let value = masked ? Secret.masked(value, ofHeader: name) : value
            arguments.append("--header \(ShellText(value.allSatisfy(\.isWhitespace) ? "\(name);" : "\(name): \(value)").word)")
        }
        // URLSession adds the type of a form to a POST, but curl to every method.
        let hasBody = data != nil || httpBodyStream != nil
        if hasBody, value(forHTTPHeaderField: "Content-Type") == nil, method != "POST" || data?.isEmpty == true {
            arguments.append("--header 'Content-Type:'")
        }

        if httpBodyStream != nil {
            before = ": 'The body is a stream, which is not read here: give it to curl on its standard input.'\n"
            arguments.append("--data-binary @-")
        } else if let body, body.isPlain {
            arguments.append("--data-raw \(body.word)")
        } else if let body {
            before = "\(body.printf) |\n  "
            arguments.append("--data-binary @-")
        }

        let address = (masked ? url?.redacted : url?.absoluteString) ?? ""
        if address.contains(where: { "[]{}".contains($0) }) { arguments.append("--globoff") }
        arguments.append("--url \(ShellText(address).word)")
        return before + "curl " + arguments.joined(separator: " \\\n  ")
    }

    private var curlHeaders: [(String, String)] {
        (allHTTPHeaderFields ?? [:]).sorted { $0.key.lowercased() < $1.key.lowercased() }
            .filter { (try? HTTPHeaders.check($0.key, $0.value)) != nil }
            .map { ($0.key, $0.value) }
    }
}

extension Data {
    /// The bytes with secrets masked. Each is taken for one character, so that a body that is text only in part is searched, too.
    fileprivate var maskingSecrets: Data {
        let text = String(String.UnicodeScalarView(map { Unicode.Scalar($0) }))
        return Data(Secret.masked(in: text).unicodeScalars.flatMap { UInt8(exactly: $0.value).map { [$0] } ?? Array("\($0)".utf8) })
    }
}
