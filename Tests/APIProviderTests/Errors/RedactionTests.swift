import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProvider
@testable import APIProviderTransport

@Suite("Redaction")
struct RedactionTests {
    @Test(
        "The words of others stay as they are, whatever they look like, and URLs in texts of the system are shown as those of requests",
        arguments: [
            ("Bad credentials for 4111111111111111 and abcdefghijk1", nil), ("", nil), ("パスワードが12文字より短いです", nil),
            ("see (https://u:p@h:8080/reset?t=1 now", "see (https://h:8080/reset?t=… now"),
            ("\"https://a/b?c=d\", <https://u@h/#e> and ftp://f", "\"https://a/b?c=…\", <https://h/> and ftp://f"),
            ("a URL without its scheme, h/a?t=letters", nil),
        ])
    func words(text: String, ofSystem: String?) {
        #expect(Redactor().redacted(text) == text && Redactor(.none).redactedURLs(in: text) == text)
        #expect(Redactor().redactedURLs(in: text) == ofSystem ?? text)
    }

    @Test("The URL in a text of the system is shown as that of a request, and a server's own stays")
    func signedLink() {
        let link = "https://bucket.example.com/a?X-Amz-Signature=abcdef123456"
        let request = PreparedRequest("GET", "https://api.example.com/a")
        for error in [
            URLError(.unknown, userInfo: [NSLocalizedDescriptionKey: "Could not load \(link)"]) as any Error,
            NSError(domain: "d", code: 1, userInfo: [NSLocalizedDescriptionKey: "Could not load \(link)"]),
        ] {
            let error = APIError.transport(request, underlying: error)
            for text in [error.description, error.localizedDescription, "\(error as NSError)"] {
                #expect(!text.contains("abcdef"), "\(text)")
            }
        }
        let said = APIResponse(to: request, statusCode: 400, data: Data(#"{"message":"see \#(link)"}"#.utf8))
        #expect(APIError.unacceptableStatus(said).description.contains(link))
    }

    @Test(
        "A word that the request has sent as a credential is left out of a message, and others that it has sent are not",
        arguments: [
            ("?page=second&api_key=letters", [:], "no letters on the second page", "no … on the second page"),
            ("?key=a%2Bletters", [:], "no a+letters", "no …"), ("", ["Authorization": "Bearer letters"], "Bearer letters", "Bearer …"),
            ("", ["X-Api-Key": "letters"], "no letters", "no …"), ("", ["Cookie": "a=letters; b=c"], "no letters", "no …"),
            ("", ["Cookie": "session=letters; theme=dark"], "Your session letters", "Your session …"),
            ("", ["Authorization": "Digest username=\"letters\", qop=auth"], "no username letters", "no username …"),
            ("", ["Authorization": "Basic letters=="], "no letters", "no …"),
            ("", .authorization(username: "client", password: "pass:word"), "client, no pass:word", "client, no …"),
            ("", .authorization(username: "a", password: "ab=cd,ef gh"), "no ab=cd,ef gh", "no …"),
            ("", ["Authorization": "basic  YTpsZXR0ZXI"], "no letter", "no …"),
            ("", ["Authorization": "Bearer letters=alphabet"], "no letters=alphabet", "no …"),
            ("", ["Cookie": "a=letters,alphabet=x"], "no letters or alphabet", "no … or …"),
            ("?q=letters", ["X-Kind": "letters"], "no letters", "no letters"), ("?key=abc", [:], "no abc", "no abc"),
        ] as [(String, HTTPHeaders, String, String)])
    func credentials(query: String, headers: HTTPHeaders, text: String, shown: String) {
        let request = PreparedRequest("GET", "https://api.example.com/\(query)", headers: headers)
        #expect(Redactor(for: request).redacted(text) == shown)
    }

    @Test(
        "What a server repeats is hidden if a word of its name in the request says that it is a credential",
        arguments: [
            "id_token_hint", "secret_id", "authorization_code", "passwordNew", "secretAnswer", "sessionData", "session_state", "X-API-Key",
        ])
    func nameOfCredential(name: String) {
        let request = PreparedRequest("GET", "https://api.example.com/a?\(name)=hunter2-of-a")
        let response = APIResponse(
            to: request, statusCode: 400, headers: ["Content-Type": "text/plain"], data: Data("no hunter2-of-a here".utf8))
        let text = "\(APIError.unacceptableStatus(response))"
        #expect(text.contains("no … here"), "\(text)")
    }

    @Test(
        "A secret is hidden whatever stands behind it, in each normal form, and whole as in its parts",
        arguments: ["", "\u{301}", "\u{FE0F}", "\u{200D}\u{2640}", "\u{1F3FB}", "\u{E0100}"])
    func marks(tail: String) {
        let secrets = ["abcdef123456", "s\u{E9}cret-of-a", "se\u{301}cret-of-b", "ab=cd=efgh"]
        var marked = PreparedRequest("GET")
        for secret in secrets { marked.hide(secret) }
        let sent = [
            marked, PreparedRequest("GET", headers: ["Cookie": "a=\(secrets[0]); b=\(secrets[1]); c=\(secrets[2]); sid=\(secrets[3])"]),
        ]
        for request in sent {
            for secret in secrets + ["se\u{301}cret-of-a", "s\u{E9}cret-of-b"] {
                let body = Data("no \u{600}\(secret)\(tail) here".utf8)
                let response = APIResponse(to: request, statusCode: 400, headers: ["Content-Type": "text/plain"], data: body)
                #expect(
                    "\(APIError.unacceptableStatus(response))".unicodeScalars.split(separator: "\"")[1].elementsEqual(
                        "no \u{600}…\(tail) here".unicodeScalars))
            }
        }
        #expect(!Redactor().redactedURLs(in: "see https://\(tail)u:password@\(tail)h/a?t=letters").contains("letters"))
        #expect(!Redactor().redactedURLs(in: "see https://u:password@\(tail)h/a").contains("password"))
        for text in ["\u{600}https://u:p@h/a?t=letters", "\"https://u:p@h/a?t=letters\u{600}\"", "https://u:p@h/?t=letters\"\(tail)"] {
            #expect(!Redactor().redactedURLs(in: text).contains("letters") && !Redactor().redactedURLs(in: text).contains("u:p"))
        }
        #expect("pass\(tail)-token\(tail)".namesCredential)
    }

    @Test(
        "A name is looked up by its bytes, also after another one that is an equal String",
        arguments: ["tenantApi~ey", "TENANT_API_~EY", "tenant_TO~EN", "TENANT-COO~IE"])
    func equalNames(name: String) {
        // A Kelvin sign is another scalar than K, and in no listed name.
        #expect(!CredentialNames.contains(name.replacingOccurrences(of: "~", with: "\u{212A}")))
        #expect(CredentialNames.contains(name.replacingOccurrences(of: "~", with: "K")))
    }

    @Test("Whole values of credentials are hidden, and not only their parts")
    func wholeValues() {
        for headers in [["Cookie": "sid=k1,k2,k3"], ["X-Api-Key": "k1,k2,k3"], ["Authorization": "Own k1,k2,k3"]] as [HTTPHeaders] {
            #expect(Redactor(for: PreparedRequest("GET", headers: headers)).redacted("no k1,k2,k3") == "no …", "\(headers)")
        }
    }

    @Test("After a redirect, no error says that its request has not reached a server")
    func afterRedirect() async throws {
        let answers = Answers(
            .status(303, headers: ["Location": "/b"]), .error(URLError(.cannotConnectToHost)), .error(URLError(.cannotConnectToHost)))
        for (path, happenedBefore) in [("/a", false), ("/b", true)] {
            let error = try await #require(throws: APIError.self) {
                try await answers.provider().request(Endpoint<Void>(.post, "\(path)")).value
            }
            #expect(error.requestWasNotSent == happenedBefore && error.isTransient)
        }
    }

    @Test("Four times as much text takes at most twelve times as long", .longComputing, arguments: costTexts.keys.sorted())
    func cost(kind: String) throws {
        let text = try #require(costTexts[kind])
        let work: (Data) -> Void = { data in
            for type in ["text/plain", "application/json"] {
                let response = APIResponse(to: PreparedRequest("GET"), statusCode: 400, headers: ["Content-Type": type], data: data)
                _ = APIError.unacceptableStatus(response).description
            }
            _ = Redactor().redactedURLs(in: String(decoding: data, as: UTF8.self))
        }
        let (few, many) = (cpuSeconds(text, 4_000, work), cpuSeconds(text, 16_000, work))
        #expect(many < max(few * 12, 0.01), "\(few) s, and \(many) s")
    }

    @Test(
        "A secret segment is left out of its URL, alone or as a part, and no other segment is",
        arguments: [
            ("/bot\(secret: "7:ab")/x", "/bot…/x"), ("/\(secret: "Z")/Zebra", "/…/Zebra"), ("/\(secret: "é/ü")", "/…"),
            ("/a\(secret: "letters")/b", "/a…/b"),
        ] as [(RequestPath, String)])
    func secretSegments(path: RequestPath, shown: String) throws {
        var request = try Endpoint<Void>(.get, path, query: ["q": "letters"]).preparedRequest(relativeTo: example)
        #expect(Redactor(for: request).line(of: request) == "GET https://api.example.com\(shown)?q=…")
        #expect("\(path)" == shown)
        request.headers["Accept"] = "letters"
        #expect(request.curlCommand().contains("https://api.example.com\(shown)?q="))
    }

    @Test("A secret is left out of a path however it is escaped", arguments: ["letters é", "\u{FEFF}letters", "\u{301}letters/"])
    func escapedSegment(secret: String) {
        var secrets = RequestSecrets()
        secrets.add([secret])
        for escaped in [secret.escapedAsValue, secret.escapedAsValue.lowercased()] {
            #expect(secrets.redacted(path: "/a/\(escaped)/b") == "/a/…/b", "\(escaped)")
        }
    }

    @Test("A secret segment is left out of messages and headers, also if another secret begins with it, unless all is shown")
    func secretTexts() throws {
        let request = try Endpoint<Void>(.get, "/\(secret: "letters")/a").preparedRequest(relativeTo: example)
        #expect(Redactor(for: request).redacted("no letters at /letters/a") == "no … at /…/a")
        #expect(Redactor(for: request).header("Accept", "letters") == "…")
        #expect(Redactor(.none, for: request).line(of: request) == "GET https://api.example.com/letters/a")
        let part = try Endpoint<Void>(.get, "/key\(secret: "one two/3")").preparedRequest(relativeTo: example)
        #expect(Redactor(for: part).redacted("no one two/3 at one%20two%2F3") == "no … at …")
        // There are enough that no order of a dictionary is right by chance.
        for (short, long) in (10..<40).map({ ("supersecret\($0)", "supersecret\($0)word") }) {
            let request = try Endpoint<Void>(.get, "/\(secret: short)/\(secret: long)").preparedRequest(relativeTo: example)
            #expect(Redactor(for: request).redacted("no \(long) at \(short)") == "no … at …")
        }
    }

    @Test(
        "The text of a form is decoded as the WHATWG URL standard says (5.1)",
        arguments: [
            ("a+b%20c", "a b c"), ("%zz%41", "%zzA"), ("100%&", "100%&"), ("%4", "%4"), ("%C3%A9%FF", "é\u{FFFD}"),
            ("%F0%9F%98", "\u{FFFD}"), ("%-0%-f", "%-0%-f"), ("%EF%BB%BFa", "\u{FEFF}a"), ("é%2B", "é+"), ("", ""), ("%2525", "%25"),
        ])
    func form(text: String, decoded: String) { #expect(Array(text.formDecoded.unicodeScalars) == Array(decoded.unicodeScalars)) }

    typealias Change = @Sendable (inout PreparedRequest) -> Void

    /// The other endpoint has a secret of its own.
    private static let byAnotherEndpoint: Change = { request in
        let other = Endpoint<Data>(.get, .url(request.url, "new/key\(secret: "letters9")"), headers: request.headers)
        request = (try? other.preparedRequest()) ?? request
    }

    @Test(
        "A changed request keeps its options, one made anew has none, and the secrets of both show in no error, log line or curl command",
        arguments: [
            ("name", false, { $0.urlRequest.mainDocumentURL = example } as Change),
            ("name", true, { $0.urlRequest.mainDocumentURL = example } as Change),
            (nil, false, { $0 = PreparedRequest(.get, $0.url.appendingPathComponent("new"), headers: $0.headers) } as Change),
            (nil, true, { $0 = PreparedRequest(.get, $0.url.appendingPathComponent("new"), headers: $0.headers) } as Change),
            (nil, false, byAnotherEndpoint), (nil, true, byAnotherEndpoint),
        ])
    func keptSecrets(name: String?, isMiddleware: Bool, change: @escaping Change) async throws {
        let log = Log<String>()
        let sent = Answers(.status(404, headers: ["ETag": "letters"], body: #"{"message":"no bot7:letters"}"#))
        let changing = ClosureMiddleware { request, next in
            var request = request
            if isMiddleware { change(&request) }
            return next(request)
        }
        let authentication = AuthenticationMiddleware(
            token: "letters",
            apply: { token, request in
                request.url = URL(string: "\(request.url)/of-\(token)?page=\(token)") ?? example
                request.headers["X-Caller"] = "v1;\(token)"
                request.headers["User-Agent"] = "app \(token)"
            }
        ) { _ in .never() }
        let provider = sent.provider(changing, authentication, LoggingMiddleware(.bodies, log: log.append))
        let plain = Endpoint<Data>(.get, "/bot\(secret: "7:letters")/a").option(\.name, "name")
        let endpoint = isMiddleware ? plain : plain.adapting(change)
        let error = try await #require(throws: APIError.self) { try await provider.request(endpoint).value }
        let request = try #require(sent.requests.first)
        #expect(request.url.absoluteString.hasPrefix("https://api.example.com/bot7%3Aletters/a"))
        #expect(request.options.name == name)
        for text in ["\(error)", "\(error as NSError)", request.curlCommand()] + log.entries {
            #expect(!text.contains("letters"), "\(text)")
        }
        #expect(error.description.hasPrefix("GET https://api.example.com/bot…/a"))
        #expect(error.description.contains("/of-…?page=…"))
        #expect(request.curlCommand().contains("X-Caller: …") && request.curlCommand(redacting: .none).contains("X-Caller: v1;letters"))
    }

    @Test("A credential that is applied with a new request keeps the secrets of the request")
    func appliedWithNewRequest() async throws {
        let sent = Answers(.status(404))
        let authentication = AuthenticationMiddleware(
            token: "letters",
            apply: { $1 = PreparedRequest(.get, $1.url, headers: ["X-Token": $0]) },
            refresh: { _ in .never() })
        let changing = ClosureMiddleware { request, next in
            var request = request
            request.headers["X-A"] = "b"
            return next(request)
        }
        let error = try await #require(throws: APIError.self) {
            try await sent.provider(authentication, changing).request(Endpoint<Data>(.get, "/bot\(secret: "7:digits")/a")).value
        }
        let request = try #require(sent.requests.first)
        #expect(!"\(error)".contains("digits"))
        #expect(!request.curlCommand().contains("letters") && !request.curlCommand().contains("digits"))
    }
}
