import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// Each sentence of SECURITY.md about texts has a check here. A sentence that changes there fails a test here, and so does one that is new.
@Suite("What SECURITY.md promises of texts")
struct SecurityPageTests {
    /// The texts of an exchange in which each value that may be a secret is one.
    private static func texts(_ redaction: Redaction = .standard, status: Int = 422) async throws -> [String] {
        let log = Log<String>()
        let url = try #require(URL(string: "https://api.example.com/v1?q=query-value&api_key=key-value"))
        let transport = ClosureTransport { request in
            let headers: HTTPHeaders = ["Content-Type": "application/json", "Retry-After": "7", "X-Trace": "trace-value"]
            let body = #"{"message":"Not with token-value and key-value and body-value.","other":"body-value2"}"#
            return .just(APIResponse(to: request, statusCode: status, headers: headers, data: Data(body.utf8)))
        }
        let authentication = AuthenticationMiddleware(token: "token-value", hosts: ["api.example.com"]) { _ in .never() }
        let provider = DefaultAPIProvider(
            transport: transport, middlewares: [authentication, LoggingMiddleware(.bodies, redacting: redaction, log: log.append)],
            errorMessage: { $0.statusCode == 200 ? "app-words" : nil })
        let endpoint = Endpoint<Int>(
            .post, .url(url, "/\(secret: "path-value")"), headers: ["Cookie": "a=cookie-value", "X-Own": "own-value"],
            body: .json(["password": "sent-value"]))
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        var dumped = ""
        dump(error, to: &dumped)
        let request = try #require(error.response?.request)
        return ["\(error)", "\(error as NSError)", dumped, request.curlCommand(redacting: redaction)] + log.entries
    }

    private static let promises: [String: @Sendable () async throws -> Void] = [
        "No text of an error has a body. Errors, log lines, `curl` commands and dumps show:": {
            for text in try await texts() { #expect(!text.contains("body-value2") && !text.contains("sent-value"), "\(text)") }
        },
        "The method, and the URL with `…` for each value of its query, without user, password, fragment and `\\(secret:)` segments.":
            {
                for text in try await texts() {
                    #expect(text.contains("https://api.example.com/v1/…?q=…&api_key=…"), "\(text)")
                    #expect(!text.contains("query-value") && !text.contains("path-value"), "\(text)")
                }
            },
        "The status, and the media type and size of the body.": {
            let text = try await texts()[0]
            #expect(text.contains("422 Unprocessable Content") && text.hasSuffix("(application/json, 86 bytes)."), "\(text)")
        },
        "The names of headers, and the values of some thirty, such as `Content-Type` and `Retry-After`.": {
            let log = try await texts().joined(separator: "\n")
            #expect(log.contains("Retry-After: 7") && log.contains("X-Trace: …") && log.contains("X-Own: …"), "\(log)")
            for text in try await texts() { #expect(!text.contains("trace-value") && !text.contains("own-value"), "\(text)") }
        },
        "With a status of 400 or more, the server's own message: one line of at most 200 characters.": {
            let (refused, accepted) = (try await texts()[0], try await texts(status: 200)[0])
            #expect(refused.contains("\"Not with … and … and body-value.\"") && !accepted.contains("Not with"))
        },
        "The text of the app's `errorMessage`.": {
            let text = try await texts(status: 200)[0]
            #expect(text.contains("app-words"))
        },
        "A request's secrets of six bytes or more are `…` in each of these texts: `\\(secret:)` segments, the credential of an "
            + "`AuthenticationMiddleware`, `Authorization` and cookies, and values in its headers and query under a name such as `api_key`.":
            {
                for text in try await texts() {
                    for secret in ["path-value", "token-value", "cookie-value", "key-value"] { #expect(!text.contains(secret), "\(text)") }
                }
            },
        "`Redaction.none` shows everything, and `LoggingMiddleware(.bodies, redacting: .none)` the bodies, too.": {
            let log = try await texts(.none).joined(separator: "\n")
            for word in ["query-value", "token-value", "body-value2", "sent-value", "trace-value"] { #expect(log.contains(word), "\(log)") }
        },
    ]

    @Test("Each sentence is true", arguments: promises.keys.sorted())
    func promise(sentence: String) async throws {
        #expect(try Self.sentences().contains(sentence), "SECURITY.md no longer says: \(sentence)")
        let check = try #require(Self.promises[sentence])
        try await check()
    }

    @Test("Each sentence about texts has its check")
    func sentences() throws {
        let all = try Self.sentences()
        #expect(Set(all.prefix(while: { !$0.hasPrefix("Recordings") })) == Set(Self.promises.keys))
    }

    /// The promises of SECURITY.md, in their order.
    private static func sentences() throws -> [String] {
        let page = try PackageFile("SECURITY.md").text
        let section = try #require(page.components(separatedBy: "## ").first { $0.hasPrefix("What the package promises") })
        let lines = section.components(separatedBy: "\n").dropFirst().map { $0.trimmingCharacters(in: .whitespaces) }.filter { !$0.isEmpty }
        return lines.reduce(into: []) { sentences, line in
            if line.hasPrefix("- ") { sentences.append(String(line.dropFirst(2))) } else { sentences[sentences.count - 1] += " " + line }
        }
    }
}
