import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("What an error says to the developer")
struct DeveloperTextTests {
    private struct Day: Decodable { let date: Date }
    private struct Days: Decodable { let days: [Day] }

    private func error<Response>(of endpoint: Endpoint<Response>, _ answers: Answers) async throws -> APIError {
        try #require(await #expect(throws: APIError.self) { try await answers.provider().request(endpoint).value })
    }

    @Test("A date that is not in ISO 8601 is called so, with the path that Foundation gives")
    func dates() async throws {
        let decoder = JSONDecoder()
        decoder.dateDecodingStrategy = .iso8601
        let day = try await error(of: Endpoint<Day>(.get, "/a").decoder(decoder), Answers(.status(200, body: #"{"date":"bad"}"#)))
        #expect(day.description.contains("the body is not DeveloperTextTests.Day: a date is not in ISO 8601 ("), "\(day)")
        let days = try await error(
            of: Endpoint<Days>(.get, "/a").decoder(decoder), Answers(.status(200, body: #"{"days":[{"date":"bad"}]}"#)))
        #expect(days.description.contains("the body is not DeveloperTextTests.Days: a date in days[0] is not in ISO 8601 ("), "\(days)")
    }

    @Test("After a redirect that made a POST a GET, each error of that GET says so", arguments: [301, 302, 303])
    func methodChange(status: Int) async throws {
        let redirect = Answers.Answer.status(status, headers: ["Location": "/b"])
        let post = Endpoint<[Int]>(.post, "/a", body: .json(["a": 1]))
        let reason = "the redirect from https://api.example.com:443 made the POST a GET"
        let refused = try await error(of: post, Answers(redirect, .status(405)))
        #expect(refused.description.hasSuffix("failed: 405 Method Not Allowed: \(reason)."), "\(refused)")
        let undecodable = try await error(of: post, Answers(redirect, .status(200, body: "{}")))
        #expect(undecodable.description.hasSuffix("bytes); \(reason)."), "\(undecodable)")
    }

    @Test("A redirect that keeps the method is not blamed", arguments: [("GET", 302), ("POST", 307), ("HEAD", 303)])
    func sameMethod(method: String, status: Int) async throws {
        let answers = Answers(.status(status, headers: ["Location": "/b"]), .status(405))
        let text = try await error(of: Endpoint<Void>(HTTPMethod(rawValue: method), "/a"), answers).description
        #expect(text.hasSuffix("failed: 405 Method Not Allowed."), "\(text)")
    }

    @Test("The closure of errorMessage is not asked about an error that a middleware throws")
    func errorOfMiddleware() async throws {
        struct Refusing: Middleware {
            func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
                next(request).flatMap { .error(APIError.unacceptableStatus($0)) }
            }
        }
        let answers = Answers(.status(400))
        let provider = DefaultAPIProvider(
            baseURL: example, transport: ClosureTransport(answers.next), middlewares: [Refusing()], errorMessage: { _ in "asked" })
        let error = try #require(await #expect(throws: APIError.self) { try await provider.request(Endpoint<Void>(.get, "/a")).value })
        #expect(!error.description.contains("asked") && error.statusCode == 400)
    }

    @Test("Ids of requests are shown, for a server's support")
    func requestIDs() {
        let names = ["X-Request-ID", "traceparent", "X-GitHub-Request-Id"]
        let request = PreparedRequest(
            .get, headers: HTTPHeaders(names.map { (key: $0, value: "id-1") } + [(key: "X-Person", value: "id-1")]))
        #expect(request.details() == ["traceparent: id-1", "X-GitHub-Request-Id: id-1", "X-Person: …", "X-Request-ID: id-1"])
    }

    @Test("Each text of an error is one line, but for the words of a transport's own error, such as the report of a mock")
    func oneLine() {
        let text = "a\nb\r\nc\u{2028}d"
        struct Broken: LocalizedError, CustomStringConvertible {
            let description = "a\nb\r\nc\u{2028}d"
            var errorDescription: String? { description }
        }
        let request = PreparedRequest(.get)
        let response = APIResponse(to: request, statusCode: 400, headers: ["Content-Type": "text/plain\n"], data: Data(text.utf8))
        let errors: [APIError] = [
            .invalidRequest(reason: text, underlying: Broken()), .signedOut, .transport(request, underlying: URLError(.timedOut)),
            .unacceptableStatus(response), .decoding(response, expected: text, underlying: Broken()),
        ]
        for error in errors {
            let texts = [error.description, error.description(redacting: .none), error.debugDescriptionOfNSError]
            for text in texts {
                #expect(!text.unicodeScalars.contains { "\n\r\u{85}\u{2028}\u{2029}".unicodeScalars.contains($0) }, "\(text)")
            }
        }
    }

    // MARK: - Numbers

    @Test(
        "A number that is not finite, and that JSON refuses, too, is sent neither in a query nor in a form",
        arguments: [
            Double.nan, -Double.nan, Double.infinity, -Double.infinity, Float.nan, Decimal.nan, [1, Double.infinity], Double.nan as Double?,
        ] as [any QueryValue])
    func infiniteNumbers(value: any QueryValue) async throws {
        for endpoint in [
            Endpoint<Void>(.get, "/a", query: ["scale": value]), Endpoint<Void>(.post, "/a", body: .form(["scale": value])),
            Endpoint<Void>(.get, "/a", query: ["b": 1] + ["scale": value]),
        ] {
            let answers = Answers(.status(200))
            let error = try await error(of: endpoint, answers)
            #expect("\(error)" == "The request was not sent: its value for \"scale\" is not a finite number.")
            #expect(answers.requests.isEmpty)
        }
    }

    @Test("A middleware sends no number that is not finite, either, whatever it sets afterwards")
    func infiniteNumbersOfMiddlewares() async throws {
        let setting = ClosureMiddleware { request, next in
            var request = request
            request.query["scale"] = Double.nan
            request.query["page"] = 2
            return next(request)
        }
        for middleware in [DefaultQueryMiddleware(["scale": Double.nan, "page": 2]), setting] as [any Middleware] {
            let answers = Answers(.status(200))
            let error = await #expect(throws: APIError.self) {
                try await answers.provider(middleware).request(Endpoint<Void>(.get, "/a")).value
            }
            #expect(error?.description == "The request was not sent: its value for \"scale\" is not a finite number.")
            #expect(answers.requests.isEmpty)
        }
        // Nor does a transport, and a redirect.
        var request = PreparedRequest(.get, example)
        request.query["scale"] = Double.nan
        request.options = RequestOptions()
        #expect(throws: APIError.self) { try request.check() }
        let url = request.url
        request.url = try #require(URL(string: "https://a.example/?autoscale=1"))
        #expect(throws: Never.self) { try request.check() }
        request.url = url
        #expect(throws: APIError.self) { try request.check() }
        request.query["scale"] = 1
        #expect(throws: Never.self) { try request.check() }
        let answers = Answers(.status(200))
        let query = DefaultQueryMiddleware(["scale": Double.nan, "page": 2])
        try await answers.provider(query).request(Endpoint<Void>(.get, "/a", query: ["scale": 1])).value
        #expect(answers.requests.map(\.url.query) == ["scale=1&page=2"])
    }

    @Test("A number that is not finite is forgotten with its key's next value")
    func replacedInfiniteNumbers() async throws {
        var (query, request) = (QueryParameters(), PreparedRequest(.get, "https://api.example.com/a"))
        for value in [Double.nan, 1.0] { (query["scale"], request.query["scale"]) = (value, value) }
        #expect(query == ["scale": 1.0] && request.query == query)
        query["other"] = Double.infinity
        query["other"] = nil
        let answers = Answers(.status(200))
        try await answers.provider().request(Endpoint<Void>(.get, "/a", query: query)).value
        #expect(answers.requests.map(\.url.query) == ["scale=1.0"])
    }

    @Test("A text such as nan is sent", arguments: ["nan", ["inf"], Optional("NaN"), Float.greatestFiniteMagnitude] as [any QueryValue])
    func finiteValues(value: any QueryValue) async throws {
        let answers = Answers(.status(200))
        try await answers.provider().request(Endpoint<Void>(.get, "/a", query: ["scale": value])).value
        #expect(answers.requests.count == 1)
    }
}

extension APIError {
    fileprivate var debugDescriptionOfNSError: String { errorUserInfo[NSDebugDescriptionErrorKey] as? String ?? "" }
}
