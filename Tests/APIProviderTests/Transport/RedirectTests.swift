import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Redirects", tenMinutes)
struct RedirectTests {
    let provider = DefaultAPIProvider(baseURL: example, configuration: RedirectingProtocol.configuration)

    struct Row: Sendable, CustomTestStringConvertible {
        let status: Int
        let method: HTTPMethod
        let next: HTTPMethod
        let keepsBody: Bool
        let rule: String
        var testDescription: String { "\(status) \(method.rawValue): \(rule)" }
    }

    @Test(
        "Status and method say what is sent next",
        arguments: [
            Row(status: 301, method: .get, next: .get, keepsBody: false, rule: "RFC 9110, 15.4.2"),
            Row(status: 301, method: .head, next: .head, keepsBody: false, rule: "RFC 9110, 15.4.2"),
            Row(status: 301, method: .post, next: .get, keepsBody: false, rule: "RFC 9110, 15.4.2, note"),
            Row(status: 301, method: .put, next: .put, keepsBody: true, rule: "RFC 9110, 15.4.2: POST alone changes"),
            Row(status: 302, method: .post, next: .get, keepsBody: false, rule: "RFC 9110, 15.4.3, note"),
            Row(status: 302, method: .delete, next: .delete, keepsBody: true, rule: "RFC 9110, 15.4.3: POST alone changes"),
            Row(status: 303, method: .post, next: .get, keepsBody: false, rule: "RFC 9110, 15.4.4"),
            Row(status: 303, method: .put, next: .get, keepsBody: false, rule: "RFC 9110, 15.4.4"),
            Row(status: 303, method: .head, next: .head, keepsBody: false, rule: "RFC 9110, 15.4.4"),
            Row(status: 307, method: .post, next: .post, keepsBody: true, rule: "RFC 9110, 15.4.8"),
            Row(status: 308, method: .post, next: .post, keepsBody: true, rule: "RFC 9110, 15.4.9"),
            Row(status: 308, method: .patch, next: .patch, keepsBody: true, rule: "RFC 9110, 15.4.9"),
        ])
    func methods(row: Row) async throws {
        let isEmpty = row.method == .get || row.method == .head
        let request = Endpoint<Data>(
            row.method, "/", query: redirect(row.status, to: "/end"), headers: ["Content-Language": "en", "X-App": "demo"],
            body: isEmpty ? nil : .data(Data("body".utf8), contentType: "a/b"))
        let last = try await lastRequest(for: request)
        #expect(last.url.path == "/end")
        #expect(last.method == row.next)
        #expect(last.bodyData == (row.keepsBody ? Data("body".utf8) : nil))
        #expect(last.headers["Content-Type"] == (row.keepsBody ? "a/b" : nil))
        if row.next != row.method { #expect(last.headers["Content-Language"] == nil) }
        #expect(last.headers["X-App"] == "demo")
    }

    @Test("A GET that follows has no field that describes the body before it", arguments: [302, 303, 307])
    func fieldsOfBody(status: Int) async throws {
        let fields: HTTPHeaders = ["Transfer-Encoding": "chunked", "expect": "100-continue", "Trailer": "X-A", "Content-MD5": "a"]
        let request = Endpoint<Data>(
            .post, "/", query: redirect(status, to: "/end"), headers: fields, body: .data(Data("body".utf8), contentType: "a/b"))
        let last = try await lastRequest(for: request)
        for (name, value) in fields { #expect(last.headers[name] == (status == 307 ? value : nil), "\(name)") }
    }

    @Test(
        "Credentials and a Host go nowhere but to the origin that they were meant for (RFC 6454, section 4)",
        arguments: [
            ("https://h/", "https://h/x", true), ("https://h/", "https://h:443/x", true), ("https://h/", "HTTPS://H/x", true),
            ("http://h:80/", "http://h/x", true), ("https://h/", "https://g/x", false), ("https://h/", "https://h:444/x", false),
            ("http://h/", "https://h/x", false), ("https://h/", "https://a.h/x", false), ("https://h/", "//g/x", false),
        ])
    func origins(from: String, to: String, keeps: Bool) async throws {
        let names = ["Authorization", "Cookie", "Proxy-Authorization", "Host"]
        let request = Endpoint<Data>(
            .get, .url(try #require(URL(string: from))), query: redirect(307, to: to),
            headers: [
                "Authorization": "s3cret", "cookie": "s3cret", "Proxy-Authorization": "s3cret", "Host": "s3cret",
                "If-None-Match": "\"1\"",
            ])
        let last = try await lastRequest(for: request)
        #expect(last.url.path == "/x")
        for name in names { #expect(last.headers[name] == (keeps ? "s3cret" : nil), "\(name)") }
        #expect(last.headers["If-None-Match"] == "\"1\"")
    }

    @Test(
        "Only headers that are known to be harmless go to another origin, whoever has set them",
        arguments: [
            ("X-Api-Key", "s3cret"), ("PRIVATE-TOKEN", "s3cret"), ("key", "s3cret"), ("X-Blob", #"{"token":"s3cret"}"#),
            ("Referer", "https://h/?access_token=s3cret"), ("X-Forwarded-User", "me"), ("X-Ms-Client-Principal", "bWU="),
            ("X-Client-Cert", "MIIB"), ("X-App", "demo"), ("Origin", "https://h"),
        ])
    func secrets(name: String, value: String) async throws {
        let configuration = RedirectingProtocol.configuration
        configuration.httpAdditionalHeaders = [name: value, "If-None-Match": "\"1\""]
        let byMiddleware = DefaultHeadersMiddleware([name: value, "If-None-Match": "\"1\""])
        for (to, expected) in [("https://g/x", nil), ("https://h/x", value)] {
            for (headers, provider) in [
                ([name: value, "If-None-Match": "\"1\""], provider),
                ([:], DefaultAPIProvider(baseURL: example, configuration: configuration)),
                ([:], DefaultAPIProvider(baseURL: example, configuration: RedirectingProtocol.configuration, middlewares: [byMiddleware])),
            ] {
                let request = Endpoint<Data>(
                    .get, .url(try #require(URL(string: "https://h/"))), query: redirect(307, to: to), headers: HTTPHeaders(headers))
                let last = try await provider.request(request.withResponse()).value.response.request
                #expect(last.headers[name] == expected)
                #expect(last.headers["If-None-Match"] == "\"1\"")
            }
        }
    }

    @Test(
        "Which headers go to another origin does not follow from what a log shows",
        arguments: [
            ("Accept-Language", true), ("Cache-Control", true), ("User-Agent", true), ("If-Modified-Since", true), ("Range", true),
            ("X-Page", false), ("X-Total", false), ("X-RateLimit-Used", false), ("Warning", false), ("Sunset", false), ("Server", false),
        ])
    func list(name: String, goesAlong: Bool) async throws {
        #expect(Redactor().header(name, "a") == "a")
        let request = Endpoint<Data>(
            .get, .url(try #require(URL(string: "https://h/"))), query: redirect(307, to: "https://g/x"), headers: [name: "a"])
        #expect(try await lastRequest(for: request).headers[name] == (goesAlong ? "a" : nil))
    }

    @Test("The headers that a credential is put into go to no other origin, whatever their names")
    func applied() async throws {
        let authentication = AuthenticationMiddleware(
            token: "s3cret", hosts: ["h"],
            apply: { token, request in
                request.headers["X-Planet"] = token
                request.headers["X-Scheme-Of-Planet"] = "v2"
            }
        ) { _ in .never() }
        let provider = DefaultAPIProvider(
            baseURL: example, configuration: RedirectingProtocol.configuration, middlewares: [authentication])
        for (to, keeps) in [("https://g/x", false), ("https://h/x", true)] {
            let request = Endpoint<Data>(
                .get, .url(try #require(URL(string: "https://h/"))), query: redirect(307, to: to), headers: ["If-None-Match": "\"1\""])
            let last = try await provider.request(request.withResponse()).value.response.request
            #expect(last.headers["X-Planet"] == (keeps ? "s3cret" : nil))
            #expect(last.headers["X-Scheme-Of-Planet"] == (keeps ? "v2" : nil))
            #expect(last.headers["If-None-Match"] == "\"1\"")
            if keeps { #expect(!last.curlCommand().contains("s3cret")) }
        }
    }

    @Test(
        "A relative Location resolves against the request's URL (RFC 3986, section 5.4)",
        arguments: [
            ("g", "http://a/b/c/g"), ("./g", "http://a/b/c/g"), ("g/", "http://a/b/c/g/"), ("/g", "http://a/g"), ("//g", "http://g"),
            ("g?y", "http://a/b/c/g?y"), ("../g", "http://a/b/g"), ("../../g", "http://a/g"), ("../../../g", "http://a/g"),
            ("?y", "http://a/b/c/d?y"), ("..", "http://a/b/"), ("g;x=1/../y", "http://a/b/c/y"),
        ])
    func relative(location: String, url: String) async throws { try await expect(url, after: location) }

    @Test(
        "A Location keeps its escapes, and gets those that it lacks",
        arguments: [
            ("top.txt?☃%e2%98%83", "http://a/b/c/top.txt?%E2%98%83%e2%98%83"), ("a b%2Fc", "http://a/b/c/a%20b%2Fc"),
            ("é%2f?é%2f", "http://a/b/c/%C3%A9%2f?%C3%A9%2f"), ("?q=100%&r=%4&s=%41", "http://a/b/c/d?q=100%25&r=%254&s=%41"),
            ("//bücher.example/a b%2Fc", "http://xn--bcher-kva.example/a%20b%2Fc"),
        ])
    func escapes(location: String, url: String) async throws { try await expect(url, after: location) }

    @Test("White space around a Location is no part of it (RFC 9110, section 5.5)", arguments: [" /next", "/next  ", "\t/next \t"])
    func whiteSpace(location: String) async throws { try await expect("http://a/next", after: location) }

    private func expect(_ url: String, after location: String) async throws {
        let request = Endpoint<Data>(.get, .url(try #require(URL(string: "http://a/b/c/d"))), query: redirect(302, to: location))
        #expect(try await lastRequest(for: request).url.absoluteString == url)
    }

    @Test(
        "A response that is not a redirect to follow is the answer",
        arguments: [
            (302, "http://h/x", "https is never left for http"), (302, "ftp://h/x", "another scheme"), (302, nil, "no Location"),
            (300, "https://h/x", "a choice is the reader's (RFC 9110, 15.4.1)"), (304, "https://h/x", "RFC 9110, 15.4.5"),
            (305, "https://h/x", "deprecated (RFC 9110, 15.4.6)"), (201, "https://h/x", "no redirect (RFC 9110, 10.2.2)"),
        ] as [(Int, String?, String)])
    func answers(status: Int, location: String?, rule: String) async throws {
        let request = Endpoint<Data>(.get, .url(try #require(URL(string: "https://h/"))), query: redirect(status, to: location))
        let log = Log<Int>()
        let provider = DefaultAPIProvider(
            baseURL: example, configuration: RedirectingProtocol.configuration, middlewares: [StatusLog(log: log)])
        _ = try? await provider.request(request).value
        #expect(log.entries == [status], "\(rule)")
    }

    @Test("20 redirects are followed, and not one more")
    func limit() async throws {
        let base = try #require(URL(string: "https://h/count"))
        #expect(try await provider.request(Endpoint<String>(.get, .url(base, "20"))).value == "end")
        let error = try await #require(throws: APIError.self) {
            try await provider.request(Endpoint<String>(.get, .url(base, "21"))).value
        }
        #expect(error.urlError?.code == .httpTooManyRedirects)
        #expect(error.description == "GET https://h/count/0 failed: it was redirected more than 20 times (URLError -1007).")
    }

    /// What was sent last: the request that got the answer.
    private func lastRequest(for request: Endpoint<Data>) async throws -> PreparedRequest {
        try await provider.request(request.withResponse()).value.response.request
    }

    private func redirect(_ status: Int, to location: String?) -> QueryParameters { ["status": status, "location": location] }
}

private struct StatusLog: Middleware {
    let log: Log<Int>
    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        next(request).do(onSuccess: { log.append($0.statusCode) })
    }
}

/// Answers by what stands in the URL: `status` and `location` in its query, or a number of redirects to go at the end of its path.
private final class RedirectingProtocol: URLProtocol {
    static var configuration: URLSessionConfiguration {
        let configuration = URLSessionConfiguration.patient
        configuration.protocolClasses = [RedirectingProtocol.self]
        return configuration
    }

    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let url = request.url, let components = URLComponents(url: url, resolvingAgainstBaseURL: true) else { return }
        let query = components.queryItems?.reduce(into: [:]) { $0[$1.name] = $1.value } ?? [:]
        var (status, location) = (Int(query["status"] ?? "") ?? 200, query["location"])
        if let count = Int(url.lastPathComponent), count > 0 { (status, location) = (302, "\(count - 1)") }
        let fields = location.map { ["Location": $0] }
        guard let response = HTTPURLResponse(url: url, statusCode: status, httpVersion: "HTTP/1.1", headerFields: fields) else { return }
        client?.urlProtocol(self, didReceive: response, cacheStoragePolicy: .notAllowed)
        client?.urlProtocol(self, didLoad: Data("end".utf8))
        client?.urlProtocolDidFinishLoading(self)
    }
}
