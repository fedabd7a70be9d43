import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Headers and bodies that some servers want")
struct AuthorizationHeaderTests {
    @Test(
        "Basic authentication is in UTF-8 (RFC 7617, sections 2 and 2.1)",
        arguments: [
            ("Aladdin", "open sesame", "Basic QWxhZGRpbjpvcGVuIHNlc2FtZQ=="), ("test", "123\u{A3}", "Basic dGVzdDoxMjPCow=="),
            ("", "a:b", "Basic OmE6Yg=="), ("a", "", "Basic YTo="),
        ])
    func basic(username: String, password: String, value: String) throws {
        let headers: HTTPHeaders = .authorization(username: username, password: password)
        #expect(headers["authorization"] == value)
        let request = try Endpoint<Void>(.get, "/", headers: headers).preparedRequest(relativeTo: example)
        #expect(request.headers["Authorization"] == value)
        #expect(!request.curlCommand().contains(value.dropFirst(6)))
    }

    @Test(
        "What Basic authentication cannot say is an error that says why, wherever the header is put",
        arguments: [
            ("a:b", "c", "its user name has a colon, which Basic authentication does not allow (RFC 7617, section 2)"),
            (
                "a", "c\n",
                "its user name or password has a control character, which Basic authentication does not allow (RFC 7617, section 2)"
            ),
        ])
    func wrong(username: String, password: String, reason: String) {
        let headers = HTTPHeaders(["A": "b"]).merging(.authorization(username: username, password: password))
        let error = #expect(throws: APIError.self) { try Endpoint<Void>(.get, "/", headers: headers).preparedRequest(relativeTo: example) }
        #expect(error?.description == "The request was not sent: \(reason).")
    }

    @Test("A bearer token")
    func bearer() {
        #expect(HTTPHeaders.authorization(bearerToken: "a")["Authorization"] == "Bearer a")
    }

    @Test("Arrays in a query, as servers want them")
    func arrays() throws {
        let ids = [1, 2]
        let query: QueryParameters = ["ids": ids, "ids[]": ids, "list": ids.map(String.init).joined(separator: ",")]
        #expect(
            try Endpoint<Void>(.get, "/", query: query).preparedRequest(relativeTo: example).url.query
                == "ids=1&ids=2&ids%5B%5D=1&ids%5B%5D=2&list=1%2C2")
    }

    @Test("A GET and a HEAD with a body reach a transport that may send them", arguments: [HTTPMethod.get, .head])
    func getWithBody(method: HTTPMethod) async throws {
        let answers = Answers(.status(200))
        let transport = ExchangeTransport { exchange in
            _ = answers.next(exchange.request).subscribe { result in
                if let response = try? result.get() { _ = exchange.receive(response.response) }
                exchange.complete()
            }
            return Disposables.create()
        }
        let endpoint = Endpoint<Void>(method, "/search", body: .json(["q": "swift"]))
        try await DefaultAPIProvider(baseURL: example, transport: transport).request(endpoint).value
        #expect(answers.requests.map(\.bodyData) == [Data(#"{"q":"swift"}"#.utf8)])
        #expect(answers.requests.map(\.method) == [method])
    }

    @Test("URLSession sends no GET or HEAD with a body, and the error names a transport that does", arguments: [HTTPMethod.get, .head])
    func getByURLSession(method: HTTPMethod) async throws {
        let server = try LoopbackServer { _, connection in connection.respond() }
        let provider = DefaultAPIProvider(baseURL: server.url, configuration: .ephemeral)
        let endpoint = Endpoint<Void>(method, "/search", body: .json(["q": "swift"]))
        let error = await #expect(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(
            error?.description
                == "The request was not sent: \(method) has no body: send it with another method, or put the values into the query; if the "
                + "server wants it, use a transport that sends it, such as AsyncHTTPClientTransport.")
        #expect(server.requests.isEmpty)
    }
}
