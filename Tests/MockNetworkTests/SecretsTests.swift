import APIProvider
import Foundation
import MiniRx
import MockNetwork
import TestSupport
import Testing

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

@Suite("One list of secrets", tenMinutes)
struct SecretsTests {
    private let folder = TemporaryFolder()

    @Test("A secret shows in no error, log, cURL text, dump, report or recording", arguments: Planted.all)
    func planted(row: Planted) async throws {
        let (request, answer) = try row.exchange()
        for (name, text) in try await shown(request, answer) {
            #expect(!text.contains(row.secret), "\(name): \(text)")
        }
    }

    @Test("What is harmless is shown and recorded as it is")
    func harmless() async throws {
        let log = Log<String>()
        for json in Harmless.json {
            let request = try URLRequest(posting: Data(json.utf8), to: "https://a.example/a", headers: Harmless.headers)
            let answer = APIResponse(to: request, headers: HTTPHeaders(Harmless.headers), data: Data(json.utf8))
            let recording = folder.url("harmless.har")
            let provider = DefaultAPIProvider(
                transport: ClosureTransport { _ in .just(answer) },
                middlewares: [Sending(request), LoggingMiddleware(.bodies, log: log.append), RecordingMiddleware(to: recording)])
            _ = try await provider.request(Endpoint<Data>(.get, .url(example))).value
            let recorded = try RecordedFile(recording)
            #expect(recorded.value("response.content.text") as? String == json)
            #expect(recorded.value("request.postData.text") as? String == json)
            let headers = try #require(recorded.value("request.headers") as? Fields)
            let command = request.curlCommand()
            for (name, value) in Harmless.headers {
                #expect(headers.contains(["name": name, "value": value]), "\(headers)")
                #expect(command.contains("'\(name): \(value)'"), "\(command)")
                #expect(log.entries.last?.contains("> \(name): \(value)\n") == true)
            }
            #expect(command == request.curlCommand(redacting: .none))
            #expect(command.contains(json), "\(command)")
            #expect(log.entries.last?.hasSuffix("< \(json)") == true, "\(log.entries.last ?? "")")
            #expect(
                "\(APIError.unacceptableStatus(APIResponse(to: request, status: 400, data: Data(json.utf8))))".hasSuffix("Body: \(json)"))
        }
    }

    /// All that this package may show of an exchange.
    private func shown(_ request: URLRequest, _ answer: APIResponse) async throws -> [(String, String)] {
        var shown: [(String, String)] = [("cURL", request.curlCommand())]
        func add(_ name: String, _ value: Any) {
            var dumped = ""
            dump(value, to: &dumped)
            shown += [(name, "\(value)"), ("\(name), debug", String(reflecting: value)), ("\(name), dump", dumped)]
        }
        let log = Log<String>()
        let file = folder.url("\(UUID()).har")
        let recording = RecordingMiddleware(to: file)
        // No endpoint has a user in its URL, but a middleware may put one there.
        let endpoint = Endpoint<[Int]>(.get, .url(example))
        for answer in [answer, APIResponse(to: request, status: 200, headers: answer.allHeaders, data: answer.data)] {
            let provider = DefaultAPIProvider(
                baseURL: request.url, transport: ClosureTransport { _ in .just(answer) },
                middlewares: [Sending(request), LoggingMiddleware(.bodies, log: log.append), recording])
            add("response", answer)
            add("provider", provider)
            do { _ = try await provider.request(endpoint).value } catch {
                add("error", error)
                add("NSError", error as NSError)
                shown.append(("localized", error.localizedDescription))
            }
        }
        let words = String(decoding: answer.data, as: UTF8.self)
        add("foreign error", APIError.transport(request, underlying: Words(words)))
        add("invalid", APIError.invalidRequest(reason: words))
        shown.append(("log", log.entries.joined(separator: "\n")))
        let recorded = try RecordedFile(file)
        shown.append(("recording", recorded.text))
        // A recording has in Base64 what is no text.
        for index in recorded.entries.indices {
            for path in ["request.postData.text", "response.content.text"] {
                let data = (recorded.value(path, of: index) as? String).flatMap { Data(base64Encoded: $0) }
                shown.append(("recorded Base64", String(decoding: data ?? Data(), as: UTF8.self)))
            }
        }
        try await MockURLProtocol.withScope {
            let other = String(decoding: request.httpBody ?? Data(), as: UTF8.self).replacingOccurrences(of: "s3cret", with: "0ther")
            let headers = (request.allHTTPHeaderFields ?? [:]).mapValues { _ in "other" }
            MockURLProtocol.stub(
                .put, "/other", query: ["a": "b"], headers: HTTPHeaders(headers), body: .json(text: other), respond: .status(200))
            MockURLProtocol.stub(.put, "/other", body: .form(["a": "b"]), respond: .status(200))
            let error = try await #require(throws: APIError.self) {
                try await DefaultAPIProvider(transport: MockTransport(), middlewares: [Sending(request)]).request(endpoint).value
            }
            add("report", try request.url?.user == nil ? #require(error.underlying) : error)
            add("unmatched", MockURLProtocol.unmatchedRequests)
        }
        return shown
    }
}

private struct Words: LocalizedError {
    let errorDescription: String?
    init(_ words: String) { errorDescription = words }
}

extension APIResponse {
    fileprivate var allHeaders: HTTPHeaders {
        HTTPHeaders(response.allHeaderFields.reduce(into: [String: String]()) { $0["\($1.key)"] = "\($1.value)" })
    }
}

/// Sends one request in the place of each.
private struct Sending: Middleware {
    /// A closure, which a dump of the provider does not look into.
    let request: @Sendable () -> URLRequest
    init(_ request: URLRequest) { self.request = { request } }

    func intercept(_ request: URLRequest, options: RequestOptions, next: @escaping Next) -> Single<APIResponse> {
        next(self.request())
    }
}

extension URLRequest {
    fileprivate init(posting body: Data?, to url: String, headers: [String: String]) throws {
        self.init(url: try #require(URL(string: url)))
        (httpMethod, httpBody, allHTTPHeaderFields) = ("POST", body, headers)
    }
}

extension Planted {
    /// A request and the response to it with the secret in both, as far as they have the place.
    fileprivate func exchange() throws -> (URLRequest, APIResponse) {
        var url = "https://a.example/a"
        var headers: [String: String] = [:]
        var body: Data?
        switch place {
        case .url: url = planted
        case .header(let name): headers[name] = planted
        case .body(let type): (headers["Content-Type"], body) = (type, Data(planted.utf8))
        }
        let request = try URLRequest(posting: body, to: url, headers: headers)
        let answer = APIResponse(to: request, status: 400, headers: HTTPHeaders(headers), data: body ?? Data())
        return (request, answer)
    }
}
