@_spi(Transports) import APIProvider
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
        #expect(HTTPHeaders.authorization(bearerToken: "a")["Authorization"] == "Bearer a")
    }

    @Test("A GET or HEAD with a body reaches a transport that may send it", arguments: [HTTPMethod.get, .head])
    func getWithBody(method: HTTPMethod) async throws {
        let sent = Log<PreparedRequest>()
        let transport = ExchangeTransport { exchange in
            sent.append(exchange.request)
            _ = exchange.receive(APIResponse(to: exchange.request).httpResponse)
            exchange.complete()
            return Disposables.create()
        }
        let endpoint = Endpoint<Void>(method, "/search", body: .json(["q": "swift"]))
        try await DefaultAPIProvider(baseURL: example, transport: transport).request(endpoint).value
        #expect(sent.entries.map(\.bodyData) == [Data(#"{"q":"swift"}"#.utf8)])
        #expect(sent.entries.map(\.method) == [method])
    }

    @Test("URLSession sends no GET or HEAD with a body, and the error names a transport that does", arguments: [HTTPMethod.get, .head])
    func getByURLSession(method: HTTPMethod) async throws {
        let provider = DefaultAPIProvider(baseURL: try LoopbackServer.refusingURL(), configuration: .ephemeral)
        let endpoint = Endpoint<Void>(method, "/search", body: .json(["q": "swift"]))
        let error = await #expect(throws: APIError.self) { try await provider.request(endpoint).value }
        #expect(
            error?.description
                == "The request was not sent: \(method) has no body: send it with another method, or put the values into the query; if the "
                + "server wants it, use a transport that sends it, such as AsyncHTTPClientTransport.")
    }
}
