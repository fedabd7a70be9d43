import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProvider
@testable import APIProviderTransport

@Suite("What servers say")
struct ServerWordsTests {
    private struct Thing: Decodable { let id: Int }

    private static let endpoint = Endpoint<Thing>(.get, "/v1/things", query: ["page": 1, "api_key": "correcthorse"])
        .adapting { $0.headers["Authorization"] = "Bearer hunter2" }

    private func error(
        _ status: Int, _ type: String, _ body: String, headers: HTTPHeaders = [:],
        errorMessage: (@Sendable (APIResponse) -> String?)? = nil
    ) async throws -> APIError {
        var fields = headers
        fields["Content-Type"] = type
        let transport = ClosureTransport { [fields] in
            .just(APIResponse(to: $0, statusCode: status, headers: fields, data: Data(body.utf8)))
        }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, errorMessage: errorMessage)
        return try await #require(throws: APIError.self) { try await provider.request(Self.endpoint).value }
    }

    // MARK: - Bodies

    @Test("Of the shapes in which APIs say what is wrong, a description has the message of these, and all can be read as text")
    func words() async throws {
        var found: Set<String> = []
        for body in ErrorBody.all {
            let error = try await error(body.status, body.type, body.text)
            let text = try #require(error.response?.text)
            for words in body.words { #expect(text.contains(words), "\(body.api): \(words)") }
            if error.description.contains(body.words[0]) { found.insert(body.api) }
        }
        let shown = [
            "GitHub", "Stripe", "RFC 9457", "Spring Boot", "Discord", "OAuth", "SendGrid", "Spring's validation", "Go", "ASP.NET Core",
        ]
        #expect(found == Set(shown))
    }

    @Test("With a line that says where an API has its message, each has it in both texts", arguments: ErrorBody.all)
    func errorMessage(body: ErrorBody) async throws {
        let words = body.words[0]
        let error = try await error(body.status, body.type, body.text) { $0.text?.contains(words) == true ? words : nil }
        #expect(error.description.contains("\"\(words)\"") && error.localizedDescription == words)
    }

    /// Both are tokens, one with digits. The request knows the others.
    private static let sent = ["hunter2", "correcthorse"]
    private static let received = ["sk_live_4eC39HqLyjWDarjtT1zdp7dc", "4111111111111111", "opensesame"]

    private enum AppError: Error { case network(any Error) }

    /// Each way in which a program prints an error without asking for a body.
    private func printed(_ error: APIError) -> [String] {
        var dumped = ""
        dump(error, to: &dumped)
        let result: Result<Int, APIError> = .failure(error)
        let optional: APIError? = error
        return [
            "\(error)", String(reflecting: error), error.localizedDescription, "\(error as NSError)", "\((error as NSError).userInfo)",
            dumped,
            "\(result)", "\(String(describing: optional))", "\([error])", "\(AppError.network(error))", "\(["error": error])",
            "\(APIError.invalidRequest(reason: "no", underlying: error))",
        ]
    }

    @Test("No secret that the request holds shows, in whichever text of the body it stands", arguments: ErrorBody.all, sent)
    func sentSecrets(body: ErrorBody, secret: String) async throws {
        let text = try body.planting(secret)
        #expect(text.contains(secret))
        for text in printed(try await error(body.status, body.type, text)) { #expect(!text.contains(secret), "\(text)") }
        // Also in the words of the app.
        for text in printed(try await error(body.status, body.type, text, errorMessage: { $0.text })) {
            #expect(!text.contains(secret), "\(text)")
        }
    }

    @Test("No text has a body: of a response that was accepted and does not decode, nothing shows", arguments: ErrorBody.all, received)
    func accepted(body: ErrorBody, secret: String) async throws {
        for text in printed(try await error(200, body.type, try body.planting(secret))) {
            #expect(!text.contains(secret), "\(text)")
            for words in body.words where words.count > 12 { #expect(!text.contains(words), "\(text)") }
        }
    }

    @Test("Of a refused response, only the message shows, and not what stands beside it", arguments: received)
    func beside(secret: String) async throws {
        for body in [
            #"{"message":"No.","token":"§"}"#, #"{"error":{"message":"No.","input":"§"}}"#, #"{"detail":[{"msg":"short","input":"§"}]}"#,
            #"{"errors":[{"message":"No.","value":"§"},{"message":"§"}]}"#, #"{"title":"§","isbn":"§"}"#, #"["§"]"#, "<p>§</p>",
            #"{"errors":{"password":["§ is too short"]}}"#, #""§""#,
        ] {
            let text = body.replacingOccurrences(of: "§", with: secret)
            for type in ["application/json", "text/plain"] {
                for shown in printed(try await error(422, type, text)) { #expect(!shown.contains(secret), "\(shown)") }
            }
        }
    }

    // MARK: - Places

    @Test(
        "The message of a refused response is the first of these, and of no other",
        arguments: [
            ("application/problem+json", #"{"title":"t","detail":"d","message":"m"}"#, "d"),
            ("application/problem+json", #"{"title":"t","message":"m"}"#, "t"), ("application/problem+json", #"{"message":"m"}"#, "m"),
            ("application/json", #"{"error":"code","error_description":"e","message":"m"}"#, "code: e"),
            ("application/json", #"{"detail":"d","error":"e","message":"m"}"#, "m"), ("", #"{"detail":"d","error":"e"}"#, "e"),
            ("", #"{"detail":"d","error":{"message":"i"}}"#, "d"), ("", #" {"error":{"message":"i"}}"#, "i"),
            ("", #"{"errors":[{"message":"a"},{"message":"b"}],"error":{"message":"i"}}"#, "i"),
            ("", #"{"errors":[{"message":"a"}]}"#, "a"),
            ("text/plain; charset=utf-8", "\n first \nsecond", "first"), ("", #"{"message":" "}"#, nil), ("", #"{"message":7}"#, nil),
            ("", #"{"msg":"m","reason":"r","description":"d"}"#, nil), ("", #"[{"message":"m"}]"#, nil), ("", #"{"message":"m"#, nil),
            ("text/plain", #"{"token":"t"}"#, nil), ("text/plain", "[1]", nil), ("text/plain", "<a>", nil),
            ("text/html", "<title>t</title>", nil),
            ("application/xml", "<Error><Message>m</Message></Error>", nil), ("", "m", nil), ("", "", nil),
        ] as [(String, String, String?)])
    func places(type: String, body: String, message: String?) async throws {
        let text = try await error(404, type, body).description
        #expect(text.contains(" failed: 404 Not Found\(message.map { ": \"\($0)\"" } ?? "")"), "\(text)")
        // A success that does not decode has no message, and neither has a redirect.
        for status in [200, 302] {
            let error = try await error(status, type, body)
            #expect(message.map { !error.description.contains("\"\($0)\"") } ?? true, "\(error)")
        }
    }

    @Test("The error of a challenge is the message of a response without another one (RFC 6750, section 3)")
    func challenge() async throws {
        let challenge = #"Basic realm="a", Bearer realm="b", error="invalid_token", error_description="The token, of May, expired""#
        #expect(
            try await error(401, "", "", headers: ["WWW-Authenticate": challenge]).description.contains(
                "401 Unauthorized: \"invalid_token: The token, of May, expired\""))
        #expect(
            try await error(401, "", #"{"message":"m"}"#, headers: ["WWW-Authenticate": challenge]).description.contains(": \"m\""))
        let plain = try await error(401, "", "", headers: ["WWW-Authenticate": #"Basic realm="secrets""#]).description
        #expect(plain.contains("401 Unauthorized.") && !plain.contains("secrets"), "\(plain)")
    }

    @Test(
        "The server's sentence stands on the screen where the app or the type vouches for it",
        arguments: [
            (403, "application/problem+json", #"{"title":"t","detail":"余额不足"}"#, "余额不足"),
            (403, "application/problem+json", #"{"title":"ยอดเงินไม่พอ","type":"https://a/b"}"#, "ยอดเงินไม่พอ"),
            (403, "application/problem+json", #"{"title":"Forbidden"}"#, "You are not allowed to do this."),
            (403, "application/problem+json", #"{"title":"Forbidden","type":"about:blank"}"#, "You are not allowed to do this."),
            (503, "application/problem+json", #"{"detail":"d"}"#, "The server is not available."),
            (409, "application/json", #"{"title":"The Great Gatsby","status":"lent"}"#, "This was changed in the meantime."),
            (402, "application/json", #"{"error":{"message":"Your card has insufficient funds."}}"#, "The server could not do this."),
        ])
    func sentences(status: Int, type: String, body: String, sentence: String) async throws {
        #expect(try await error(status, type, body).localizedDescription == sentence)
    }

    @Test("A body of more than 1 MB is not read, and a deep one does no harm")
    func large() async throws {
        let large = try await error(400, "application/json", #"{"message":"m","rest":"\#(String(repeating: "a", count: 1_000_000))"}"#)
        #expect(!large.description.contains("\"m\"") && large.description.contains("1,000,0"))
        for (open, close) in [(#"{"errors":["#, "]}"), (#"{"error":"#, "}"), ("[", "]")] {
            let deep = String(repeating: open, count: 5_000) + "1" + String(repeating: close, count: 5_000)
            #expect(try await error(400, "application/json", deep).description.contains("400 Bad Request ("))
        }
    }

    // MARK: - The app's words

    @Test("The app is asked once for each error that is made, with a response that it can decode, and nothing visible counts as none")
    func asked() async throws {
        struct Failure: Decodable { let reason: String }
        let asked = Log<Int>()
        let find: @Sendable (APIResponse) -> String? = { response in
            asked.append(response.statusCode)
            return try? response.decode(Failure.self).reason
        }
        let refused = try await error(422, "", #"{"reason":"密码太短。"}"#, errorMessage: find)
        #expect(refused.localizedDescription == "密码太短。" && refused.description.contains("\"密码太短。\""))
        _ = (refused.description, refused.localizedDescription, refused.errorUserInfo)
        let slack = try await error(200, "", #"{"reason":"channel_not_found"}"#, errorMessage: find)
        #expect(slack.localizedDescription == "channel_not_found" && slack.description.contains("says \"channel_not_found\""), "\(slack)")
        #expect(asked.entries == [422, 200])
        for body in [#"{"reason":" \n"}"#, "{}"] {
            #expect(try await error(404, "", body, errorMessage: find).localizedDescription == "This was not found.")
        }
        // Errors of the app itself are not asked about.
        let own = Self.endpoint.validating { _ in throw TestError() }
        let provider = Answers(.status(400)).provider()
        await #expect(throws: TestError.self) { try await provider.request(own.option(\.errorMessage, find)).value }
        #expect(asked.count == 4)
    }

    @Test("An endpoint's own place comes before the provider's, and is used without a provider, too")
    func ofEndpoint() async throws {
        let transport = ClosureTransport { .just(APIResponse(to: $0, statusCode: 400)) }
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, errorMessage: { _ in "provider" })
        let endpoint = Self.endpoint.option(\.errorMessage, { _ in "endpoint" })
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(error.localizedDescription == "endpoint")
        let other = try #require(throws: APIError.self) {
            try endpoint.value(of: APIResponse(to: PreparedRequest("GET"), statusCode: 400))
        }
        #expect(other.localizedDescription == "endpoint")
    }

    @Test("Words are one line of 200 characters: no server forges a line of a log or fills a screen")
    func oneLine() async throws {
        let words = "no\n\u{1b}[2J\u{202E}you\u{2028}GET https://forged.example.com\u{200c}👩‍👩‍👧"
        let shown = try await error(400, "", "", errorMessage: { _ in words }).localizedDescription
        #expect(shown == "no  [2J you GET https://forged.example.com\u{200c}👩‍👩‍👧")
        let long = try await error(400, "", "", errorMessage: { _ in String(repeating: "界", count: 1_000) })
        #expect(long.localizedDescription == String(repeating: "界", count: 199) + "…")
        // A character may be of any length.
        let zalgo = try await error(400, "", "", errorMessage: { _ in "a" + String(repeating: "\u{301}", count: 100_000) })
        #expect(zalgo.localizedDescription.utf8.count <= 1_000)
        // Secrets are replaced first, so that the cut shows no part of one.
        for shift in 0...12 {
            let text = String(repeating: "b", count: 200 - shift) + "correcthorse"
            #expect(!(try await error(400, "", "", errorMessage: { _ in text }).description.contains("corr")))
        }
    }
}

extension ErrorBody {
    /// The body with the secret in each text of its JSON, or at the end of each line and element.
    fileprivate func planting(_ secret: String) throws -> String {
        guard let json = try? JSONSerialization.jsonObject(with: Data(text.utf8)) else {
            return text.replacingOccurrences(of: #"([^>\n])(<|\n|$)"#, with: "$1 \(secret)$2", options: .regularExpression)
        }
        func planted(_ value: Any) -> Any {
            switch value {
            case let text as String: "\(text) \(secret), \(secret)"
            case let list as [Any]: list.map(planted)
            case let object as [String: Any]: object.mapValues(planted)
            default: value
            }
        }
        return String(decoding: try JSONSerialization.data(withJSONObject: planted(json)), as: UTF8.self)
    }
}
