import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Default headers")
struct DefaultHeadersMiddlewareTests {
    private func sent(_ headers: HTTPHeaders, by defaults: HTTPHeaders) async throws -> HTTPHeaders {
        let answers = Answers(.status(200))
        try await answers.provider(DefaultHeadersMiddleware(defaults)).request(Endpoint<Void>(.get, "/a", headers: headers)).value
        return try #require(answers.requests.first).headers
    }

    @Test("Each header and a User-Agent are set, unless the request has them in any case")
    func unlessSet() async throws {
        let sent = try await sent(["x-trace": "7", "X-Empty": ""], by: ["X-Trace": "default", "X-Empty": "default", "X-App": "demo"])
        #expect(["X-Trace", "X-Empty", "X-App"].map { sent[$0] } == ["7", "", "demo"])
        #expect(sent["User-Agent"] == UserAgent.text(info: Bundle.main.infoDictionary ?? [:], process: .processInfo))
        #expect(try await self.sent([:], by: ["user-agent": "mine"])["User-Agent"] == "mine")
        #expect(try await self.sent(["user-AGENT": "its own"], by: [:])["User-Agent"] == "its own")
    }

    @Test(
        "Headers, a query and a token go to the base URL's origin or the hosts, over http only if the API is http; the User-Agent goes to all",
        arguments: [
            (nil, "https://api.example.com", "https://API.example.com:443/a", true),
            (nil, "https://api.example.com", "http://api.example.com/a", false),
            (nil, "https://api.example.com", "https://api.example.com:8443/a", false),
            (nil, "https://api.example.com", "https://cdn.example.com/a", false),
            (["One", "two"], nil, "http://one/", false), (["One", "two"], nil, "https://one/", true),
            (["One", "two"], "https://api.example.com", "https://TWO:8443/", true),
            (["One", "two"], "https://api.example.com", "https://three/", false),
            (["One", "two"], "https://api.example.com", "http://one/", false), (["One", "two"], "http://one", "http://one/", true),
            (["[::1]"], "http://[::1]:8080", "http://[::1]:8080/", true), (["::1"], nil, "https://[::1]/", true),
            (["::1"], nil, "https://[::2]/", false),
        ] as [(Set<String>?, String?, String, Bool)])
    func hosts(hosts: Set<String>?, baseURL: String?, url: String, isIncluded: Bool) async throws {
        // A 401 to a request without the token starts no refresh, which would never end.
        let answers = Answers(.status(isIncluded ? 200 : 401))
        var request = PreparedRequest("GET", url)
        request.baseURL = baseURL.flatMap { URL(string: $0) }
        let middlewares: [any Middleware] = [
            DefaultHeadersMiddleware(["Authorization": "Bearer a", "X-Api-Key": "s3cret"], userAgent: "mine", hosts: hosts),
            DefaultQueryMiddleware(["key": "s3cret"], hosts: hosts), AuthenticationMiddleware(token: "a", hosts: hosts) { _ in .never() },
        ]
        for middleware in middlewares { _ = try await middleware.intercept(request, next: answers.next).value }
        #expect(answers.requests.map { $0.headers["Authorization"] } == (isIncluded ? ["Bearer a", nil, "Bearer a"] : [nil, nil, nil]))
        #expect(answers.requests.map { $0.headers["X-Api-Key"] } == [isIncluded ? "s3cret" : nil, nil, nil])
        #expect(answers.requests.map(\.url.query) == [nil, isIncluded ? "key=s3cret" : nil, nil])
        #expect(answers.requests[0].headers["User-Agent"] == "mine")
    }

    @Test("Without a base URL and hosts, a credential is an error, and other headers go to all hosts, but not after a redirect to another")
    func unknownHosts() async throws {
        for name in ["authorization", "Cookie", "Proxy-Authorization"] {
            let provider = DefaultAPIProvider(
                transport: ClosureTransport(Answers(.status(200)).next), middlewares: [DefaultHeadersMiddleware([name: "s3cret"])])
            let error = await #expect(throws: APIError.self) { try await provider.request(Endpoint<Data>(.get, .url(example))).value }
            #expect(error?.description.contains("DefaultHeadersMiddleware does not know which hosts it is for") == true)
        }
        let answers = Answers(.status(302, headers: ["Location": "https://cdn.example.com/a"]), .status(200))
        let provider = DefaultAPIProvider(
            transport: ClosureTransport(answers.next), middlewares: [RedirectFollower(), DefaultHeadersMiddleware(["X-Api-Key": "s3cret"])])
        _ = try await provider.request(Endpoint<Data>(.get, .url(example))).value
        #expect(answers.requests.map { $0.headers["X-Api-Key"] } == ["s3cret", nil])
    }

    @Test("After a redirect to another origin, no header and no token goes to the origin of the base URL, also if it redirects back there")
    func redirectedBack() async throws {
        let answers = Answers(
            .status(302, headers: ["Location": "https://cdn.example.com/a"]), .status(302, headers: ["Location": "\(example)/b"]),
            .status(200))
        let token = AuthenticationMiddleware(token: "s3cret") { _ in .never() }
        let provider = answers.provider(RedirectFollower(), DefaultHeadersMiddleware(["X-Api-Key": "s3cret"]), token)
        _ = try await provider.request(Endpoint<Data>(.get, "/a")).value
        for name in ["X-Api-Key", "Authorization"] {
            #expect(answers.requests.map { $0.headers[name] != nil } == [true, false, false], "\(name)")
        }
    }

    @Test(
        "With hosts, headers and a token go along redirects between them, and not to one of them if another host has redirected there",
        arguments: [
            ("https://api.example.com", "https://one.example", [true, true, true]),
            ("https://api.example.com", "https://evil.example", [true, false, false]),
            ("http://one.example", "https://one.example", [false, false, false]),
        ])
    func redirectedByOtherHost(first: String, second: String, isIncluded: [Bool]) async throws {
        let answers = Answers(
            .status(302, headers: ["Location": "\(second)/a"]),
            .status(302, headers: ["Location": "https://api.example.com/chosen"]), .status(200))
        let hosts: Set = ["api.example.com", "one.example"]
        let token = AuthenticationMiddleware(token: "s3cret", hosts: hosts) { _ in .never() }
        let provider = answers.provider(RedirectFollower(), DefaultHeadersMiddleware(["X-Api-Key": "s3cret"], hosts: hosts), token)
        _ = try await provider.request(Endpoint<Data>(.get, .url(try #require(URL(string: "\(first)/a"))))).value
        for name in ["X-Api-Key", "Authorization"] {
            #expect(answers.requests.map { $0.headers[name] != nil } == isIncluded, "\(name)")
        }
    }

    @Test("A User-Agent has the product, its version and the platform (RFC 9110, section 10.1.5)")
    func userAgent() throws {
        let process = ProcessInfo.processInfo
        let system = process.operatingSystemVersion
        let version = "\(system.majorVersion).\(system.minorVersion).\(system.patchVersion)"
        #if os(Linux)
        let end = " (Linux \(version)) APIProvider"
        #else
        let end = " \(version)) APIProvider"
        #endif
        let rows: [([String: Any], String)] = [
            (["CFBundleName": "Stars", "CFBundleShortVersionString": "1.2"], "Stars/1.2"),
            (["CFBundleName": "My Stars (β)", "CFBundleShortVersionString": "1.2 beta"], "My-Stars/1.2-beta"),
            (["CFBundleName": "별", "CFBundleExecutable": "Stars"], "Stars"),
            (["CFBundleName": "a\r\nX-B: b"], "a-X-B-b"),
        ]
        for (info, start) in rows {
            let text = UserAgent.text(info: info, process: process)
            #expect(text.hasPrefix(start + " (") && text.hasSuffix(end), "\(text)")
        }
        let name = try #require(UserAgent.text(info: [:], process: process).split(separator: " ").first)
        #expect(process.processName.hasPrefix(name.prefix { $0 != "-" }))
    }

    @Test(
        "A header that HTTP does not allow makes the request invalid",
        arguments: [
            (["X A": "a"], "is not a token"), (["X-A": "a\r\nX-B: b"], "control character"),
            (.authorization(username: "a:b", password: ""), "has a control character"),
        ] as [(HTTPHeaders, String)])
    func invalid(headers: HTTPHeaders, word: String) async throws {
        let error = try await #require(throws: APIError.self) { try await sent([:], by: headers) }
        #expect(error.description.contains(word))
    }

    @Test("An Authorization that is not allowed does no harm if another takes its place")
    func replacedAuthorization() async throws {
        let invalid = HTTPHeaders.authorization(username: "a:b", password: "")
        let valid: HTTPHeaders = ["Authorization": "Bearer x"]
        var (replaced, removed) = (invalid, invalid)
        replaced["authorization"] = "Bearer x"
        removed["Authorization"] = nil
        var request = PreparedRequest("GET", headers: invalid)
        request.urlRequest.setValue("Bearer x", forHTTPHeaderField: "Authorization")
        let rows: [(HTTPHeaders, HTTPHeaders)] = [
            (replaced, [:]), (removed, valid), (valid, invalid), ([:], invalid.merging(valid)), (request.headers, [:]),
        ]
        for (headers, defaults) in rows { #expect(try await sent(headers, by: defaults)["Authorization"] == "Bearer x") }
        await #expect(throws: APIError.self) { try await sent([:], by: valid.merging(invalid)) }
    }
}

/// Follows redirects, as `CacheMiddleware` does, so that each goes through the next middlewares.
struct RedirectFollower: Middleware {
    func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
        .followingRedirects(request) {
            var hop = $0
            hop.followsRedirects = false
            return next(hop)
        }
    }
}
