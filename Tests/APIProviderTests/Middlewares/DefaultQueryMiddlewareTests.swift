import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Default query")
struct DefaultQueryMiddlewareTests {
    private func sent(_ url: String, _ query: QueryParameters, baseURL: URL? = example) async throws -> String {
        let answers = Answers(.status(200))
        var request = PreparedRequest("GET", url)
        request.baseURL = baseURL
        _ = try await DefaultQueryMiddleware(query).intercept(request, next: answers.next).value
        return try #require(answers.requests.first).url.absoluteString
    }

    @Test("The parameters are added to the URL, whose own keep their bytes")
    func added() async throws {
        #expect(
            try await sent("https://api.example.com/a?q=C%2B%2B+x", ["appid": "k/1", "lang": "en", "none": String?.none])
                == "https://api.example.com/a?q=C%2B%2B+x&appid=k%2F1&lang=en")
    }

    @Test("A parameter that the request has is left as it is: the link to a next page has the key already")
    func unlessSet() async throws {
        let url = "https://api.example.com/a?appid=k%2f1&page=2"
        #expect(try await sent(url, ["appid": "k/1"]) == url)
        #expect(try await sent(url, ["appid": "other", "lang": "en"]) == url + "&lang=en")
        let answers = Answers(
            .status(200, headers: ["Link": "</items?page=2&appid=k1>; rel=\"next\""], body: "[]"), .status(200, body: "[]"))
        for try await _ in answers.provider(DefaultQueryMiddleware(["appid": "k1"])).pages(Endpoint<[Item]>(.get, "/items")) {}
        #expect(answers.requests.map(\.url.query) == ["appid=k1", "page=2&appid=k1"])
    }

    @Test("Without a base URL and hosts, the request fails with an error that says what to do")
    func unknownHosts() async throws {
        let error = await #expect(throws: APIError.self) {
            try await sent("https://api.example.com/a", ["key": "s3cret"], baseURL: nil)
        }
        #expect(error?.description.contains("its DefaultQueryMiddleware does not know which hosts it is for; give it hosts:") == true)
    }

    @Test("What a redirect leads to has the query that the server gave it", arguments: ["/b?x=1", "https://cdn.example.com/b"])
    func redirected(location: String) async throws {
        for middlewares in [[], [RedirectFollower()]] as [[any Middleware]] {
            let answers = Answers(.status(302, headers: ["Location": location]), .status(200))
            let provider = DefaultAPIProvider(
                baseURL: example, transport: ClosureTransport(answers.next),
                middlewares: middlewares + [DefaultQueryMiddleware(["key": "s3cret"])])
            _ = try await provider.request(Endpoint<Data>(.get, "/a")).value
            #expect(answers.requests.map(\.url.query) == ["key=s3cret", location.contains("?") ? "x=1" : nil])
        }
    }

    @Test("Errors and logs show no value, also where the server repeats it, and short words stay")
    func secrets() async throws {
        let log = Log<String>()
        let answers = Answers(.status(401, body: #"{"message":"Invalid key correct-horse for en and abc-12"}"#))
        let provider = answers.provider(
            LoggingMiddleware(.bodies, log: log.append), DefaultQueryMiddleware(["key": "correct-horse", "lang": "en", "id": "abc-12"]),
            LoggingMiddleware(.bodies, log: log.append))
        let error = try await #require(throws: APIError.self) { try await provider.request(Endpoint<Void>(.get, "/en/a")).value }
        let text = "https://api.example.com/en/a?key=…&lang=…&id=… failed: 401 Unauthorized: \"Invalid key … for en and …\""
        #expect(error.description.contains(text), "\(error)")
        #expect(log.count == 2 && log.entries.allSatisfy { !$0.contains("correct") })
    }
}
