import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Building requests")
struct RequestBuildingTests {
    struct Row: Sendable, CustomTestStringConvertible {
        let base: String
        let path: RequestPath
        var query: QueryParameters = [:]
        let url: String
        let rule: String
        var testDescription: String { rule }
    }

    enum Order: String, QueryValue { case ascending = "asc" }

    private static let empty: [String] = []
    private static let none: Int? = nil

    @Test(
        "A URL is built by the rules",
        arguments: [
            Row(base: "https://h", path: "", url: "https://h", rule: "an empty path leaves the base as it is"),
            Row(base: "https://h/", path: "", url: "https://h/", rule: "and its slash"),
            Row(base: "https://h/v3", path: "x", url: "https://h/v3/x", rule: "one slash between, from none"),
            Row(base: "https://h/v3/", path: "x", url: "https://h/v3/x", rule: "one slash between, from the base"),
            Row(base: "https://h/v3", path: "/x", url: "https://h/v3/x", rule: "one slash between, from the path"),
            Row(base: "https://h/v3//", path: "//x", url: "https://h/v3/x", rule: "one slash between, from many"),
            Row(base: "https://h", path: "/x/", url: "https://h/x/", rule: "a trailing slash is kept"),
            Row(
                base: "https://h", path: RequestPath(["/a b/é%2F?#"].joined()), url: "https://h/a%20b/%C3%A9%252F%3F%23",
                rule: "a path is plain text (RFC 3986, 3.3)"),
            Row(
                base: "https://h", path: "/x/\("a/b c+é")/y", url: "https://h/x/a%2Fb%20c%2B%C3%A9/y",
                rule: "an interpolation is one segment"),
            Row(
                base: "https://h", path: "/repos/\(path: "apple/swift å")/issues", url: "https://h/repos/apple/swift%20%C3%A5/issues",
                rule: "an interpolated path is as many segments as it has"),
            Row(
                base: "https://h", path: "/v\(3)/x.\("json")", url: "https://h/v3/x.json", rule: "an interpolation may be part of a segment"
            ),
            Row(base: "https://h", path: "//", url: "https://h/", rule: "slashes alone are one"),
            Row(base: "https://h/v3", path: "a//b", url: "https://h/v3/a//b", rule: "an empty segment of a literal is the author's"),
            Row(base: "https://h", path: "/x/\("...")/\(".a")", url: "https://h/x/.../.a", rule: "three dots are not a dot segment"),
            Row(
                base: "https://h", path: RequestPath(["/a", "b/c"].joined(separator: "/")), url: "https://h/a/b/c",
                rule: "a path made of a string is separated by its slashes"),
            Row(base: "https://h:8080/a%2Fb", path: "c", url: "https://h:8080/a%2Fb/c", rule: "the base's own escapes stay"),
            Row(
                base: "https://h/x?k=1", path: "y", query: ["z": 2], url: "https://h/x/y?k=1&z=2", rule: "the base's own query comes first"),
            Row(base: "HTTPS://h", path: "x", url: "https://h/x", rule: "a scheme has no case"),
            Row(base: "https://h", path: "/web/https://x", url: "https://h/web/https://x", rule: "a URL may stand within a path"),
            Row(base: "https://h", path: "/a%4g/b%a", url: "https://h/a%254g/b%25a", rule: "a percent sign need not begin an escape"),
            Row(base: "https://h/x?", path: "", url: "https://h/x?", rule: "an empty query is one (RFC 3986, 6.2.3)"),
            Row(base: "https://h/x?#f", path: "", query: ["z": 2], url: "https://h/x?z=2", rule: "and others follow its mark"),
            Row(base: "https://h/x?k=1#f", path: "", url: "https://h/x?k=1", rule: "a fragment is not sent"),
            Row(
                base: "https://h", path: "", query: ["a-._~": "A-._~", "q": "+ &=?/:@!$'()*,;é"],
                url: "https://h?a-._~=A-._~&q=%2B%20%26%3D%3F%2F%3A%40%21%24%27%28%29%2A%2C%3B%C3%A9",
                rule: "unreserved alone stay (RFC 3986, 2.3)"),
            Row(
                base: "https://h", path: "", query: ["l": ["b", "a"], "n": none, "e": empty, "s": ""], url: "https://h?l=b&l=a&s=",
                rule: "arrays repeat the key, nil and empty leave it out"),
            Row(base: "https://h", path: "", query: ["n": none], url: "https://h", rule: "no stray question mark"),
            Row(base: "https://h?k=1", path: "", query: ["n": none], url: "https://h?k=1", rule: "and no stray ampersand"),
            Row(
                base: "https://h?k=a%20b+c", path: "", query: ["k": "d"], url: "https://h?k=a%20b+c&k=d",
                rule: "the base's query stays as it is"),
            Row(
                base: "https://h", path: "", query: ["z": 1, "a": 2, "z": 3], url: "https://h?z=1&a=2&z=3",
                rule: "in order, and a key may come again"),
            Row(
                base: "https://h", path: "", query: ["i": [1, 2] as [Int?], "o": [nil, 3] as [Int?]], url: "https://h?i=1&i=2&o=3",
                rule: "nil in an array is left out"),
            Row(
                base: "https://h", path: "",
                query: ["i": -1, "u": UInt8(255), "d": 1.5, "t": true, "f": false, "o": Order.ascending],
                url: "https://h?i=-1&u=255&d=1.5&t=true&f=false&o=asc", rule: "numbers, booleans, raw values"),
            Row(
                base: "https://h", path: "", query: ["d": Date(timeIntervalSince1970: 0), "u": URL(string: "https://x/?a=b")],
                url: "https://h?d=1970-01-01T00%3A00%3A00Z&u=https%3A%2F%2Fx%2F%3Fa%3Db", rule: "dates are ISO 8601"),
        ])
    func url(row: Row) throws {
        let request = Endpoint<Item>(.get, .url(try #require(URL(string: row.base)), row.path), query: row.query)
        #expect(try request.preparedRequest(relativeTo: example).url.absoluteString == row.url)
    }

    @Test("A base URL that is relative to another is resolved first")
    func relativeBase() throws {
        let base = try #require(URL(string: "v2?a=1", relativeTo: URL(string: "https://h/x/")))
        #expect(try Endpoint<Item>(.get, .url(base, "y")).preparedRequest().url.absoluteString == "https://h/x/v2/y?a=1")
    }

    @Test("The same value makes the same JSON each time")
    func json() throws {
        let value = Dictionary(uniqueKeysWithValues: (0..<20).map { ("key\($0)", $0) })
        let bodies = try (0..<20).map { _ in
            try Endpoint<Void>(.post, "", body: .json(value)).preparedRequest(relativeTo: example).bodyData
        }
        #expect(Set(bodies).count == 1)
        let sorted = try Endpoint<Void>(.post, "", body: .json(["b": 1, "a": 2])).preparedRequest(relativeTo: example)
        #expect(sorted.bodyData == Data(#"{"a":2,"b":1}"#.utf8))
    }

    @Test("A form is encoded as the WHATWG URL standard says")
    func form() throws {
        let request = Endpoint<Item>(.post, "", body: .form(["a b": "c+d&é*-._~", "n": 1]))
        let sent = try request.preparedRequest(relativeTo: example)
        #expect(sent.bodyData == Data("a+b=c%2Bd%26%C3%A9*-._%7E&n=1".utf8))
        #expect(sent.headers["Content-Type"] == "application/x-www-form-urlencoded")
    }

    @Test("Accept and Content-Type follow from response and body, unless the request sets them")
    func defaultHeaders() throws {
        let json = try Endpoint<Item?>(.post, "", body: .json(1)).preparedRequest(relativeTo: example)
        #expect(json.headers["Accept"] == "application/json")
        #expect(json.headers["Content-Type"] == "application/json")
        let own = try Endpoint<Item>(.post, "", headers: ["accept": "a/b", "content-type": "c/d"], body: .json(1)).preparedRequest(
            relativeTo: example)
        #expect(own.headers["Accept"] == "a/b")
        #expect(own.headers["Content-Type"] == "c/d")
        #expect(try Endpoint<Data>(.get, "").preparedRequest(relativeTo: example).headers["Accept"] == nil)
        #expect(try Endpoint<Void>(.get, "").preparedRequest(relativeTo: example).headers["Accept"] == nil)
        #expect(try Endpoint<String?>(.get, "").preparedRequest(relativeTo: example).headers["Accept"] == nil)
        let others = [
            try Endpoint<Void>(.get, "").preparedRequest(relativeTo: example),
            try Endpoint(.get, "", downloadingTo: URL(fileURLWithPath: "/tmp/file")).preparedRequest(relativeTo: example),
            try Endpoint(.get, "", decode: \.statusCode).preparedRequest(relativeTo: example),
        ]
        #expect(others.map { $0.headers["Accept"] } == [nil, nil, nil])
    }

    @Test("Names of headers are compared as bytes, in which ASCII letters have no case")
    func unusualHeaders() {
        let headers: HTTPHeaders = ["K": "1", "\u{212A}": "2", "e\u{301}": "3", "\u{e9}": "4"]
        #expect(headers.map(\.value) == ["1", "2", "3", "4"])
        #expect(headers == headers)
        #expect(headers["k"] == "1")
    }

    @Test("A timeout that is not more than 0 is refused", arguments: [0, -1, -TimeInterval.infinity, .nan])
    func timeout(seconds: TimeInterval) {
        #expect(throws: APIError.self) { try Endpoint<Item>(.get, "", timeoutInterval: seconds).preparedRequest(relativeTo: example) }
    }

    @Test("A timeout of 60 s is not that of a request that sets none")
    func sixtySeconds() throws {
        let timeouts = try [60, nil].map { seconds in
            try Endpoint<Item>(.get, "", timeoutInterval: seconds).preparedRequest(relativeTo: example).timeoutInterval
        }
        #expect(timeouts == [60, nil])
    }

    @Test("Many headers are taken in a time that grows with their number", .longComputing)
    func manyHeaders() {
        func seconds(_ count: Int) -> Double {
            let fields = Dictionary(uniqueKeysWithValues: (0..<count).map { ("X-Field-\(100_000 + $0)", "1") })
            return cpuSeconds { #expect(Array(HTTPHeaders(fields)).count == count) }
        }
        #expect(isLinear(500, seconds: seconds))
    }

    @Test("A later header replaces an earlier one in any case")
    func headers() {
        var headers: HTTPHeaders = ["X-A": "1", "x-a": "2", "X-B": "3"]
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["x-a=2", "X-B=3"])
        #expect(headers["X-a"] == "2")
        #expect(headers == ["x-b": "3", "X-A": "2"])
        headers["X-B"] = nil
        #expect(headers == ["X-A": "2"])
    }

    struct Invalid: Sendable, CustomTestStringConvertible {
        let request: Endpoint<Item>
        let sentence: String
        var testDescription: String { sentence }
    }

    private struct Secretive: Encodable {
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue("s3cret", .init(codingPath: encoder.codingPath, debugDescription: "Secrets are not encoded."))
        }
    }

    private struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw TestError("unencodable") }
    }

    @Test(
        "An invalid request is not sent, and the error says why",
        arguments: [
            Invalid(
                request: Endpoint(.get, .url(URL(string: "api.example.com/v3")!)),
                sentence:
                    #"The request was not sent: its URL "api.example.com/v3" needs a scheme and a host, as in "https://api.example.com"."#
            ),
            Invalid(
                request: Endpoint(.get, .url(URL(string: "https:///v3")!)),
                sentence:
                    #"The request was not sent: its URL "https:…" needs a scheme and a host, as in "https://api.example.com"."#),
            Invalid(
                request: Endpoint(.get, "", headers: ["X-A": "a\r\nX-B: b"]),
                sentence: "The request was not sent: its header X-A has a control character in its value."),
            Invalid(
                request: Endpoint(.get, "", headers: ["X A": "a"]),
                sentence: #"The request was not sent: its header name "X A" is not a token (RFC 9110, section 5.6.2)."#),
            Invalid(
                request: Endpoint(.get, "", headers: ["Authorization: Bearer t0ken0": ""]),
                sentence:
                    #"The request was not sent: its header name "Authorization: Bearer …" is not a token (RFC 9110, section 5.6.2)."#),
            Invalid(
                request: Endpoint("GE T", ""),
                sentence: #"The request was not sent: its method "GE T" is not a token (RFC 9110, section 9.1)."#),
            Invalid(
                request: Endpoint(.post, "", body: .json(["login": Secretive()])),
                sentence: "The request was not sent: its body of type Dictionary<String, Secretive> cannot be encoded as JSON"
                    + " (Secrets are not encoded at login)."),
            Invalid(
                request: Endpoint(.get, "/users/\("")"),
                sentence: #"The request was not sent: a value interpolated into the path after "/users/" is empty."#),
            Invalid(
                request: Endpoint(.get, "/repos/\(path: "apple/")/issues"),
                sentence:
                    #"The request was not sent: the path interpolated after "/repos/" has an empty segment; it must not begin or end in a slash."#
            ),
            Invalid(
                request: Endpoint(.get, "/repos/\(path: "")"),
                sentence: #"The request was not sent: a value interpolated into the path after "/repos/" is empty."#),
            Invalid(
                request: Endpoint(.get, "/repos/\(path: "../user")"),
                sentence: #"The request was not sent: its path has the segment ".."; write the path that is meant."#),
            Invalid(
                request: Endpoint(.get, "/users/\(".")"),
                sentence: #"The request was not sent: its path has the segment "."; write the path that is meant."#),
            Invalid(
                request: Endpoint(.get, "/a\("")b"),
                sentence: #"The request was not sent: a value interpolated into the path after "/a" is empty."#),
            Invalid(
                request: Endpoint(.get, "", headers: ["": "a"]),
                sentence: #"The request was not sent: its header name "" is not a token (RFC 9110, section 5.6.2)."#),
            Invalid(
                request: Endpoint(.get, "", headers: ["X-A": "a\0"]),
                sentence: "The request was not sent: its header X-A has a control character in its value."),
            Invalid(
                request: Endpoint(.get, "/users/\("..")/x"),
                sentence: #"The request was not sent: its path has the segment ".."; write the path that is meant."#),
            Invalid(
                request: Endpoint(.get, "/users/.\(".")"),
                sentence: #"The request was not sent: its path has the segment ".."; write the path that is meant."#),
            Invalid(
                request: Endpoint(.get, "/a/../b"),
                sentence: #"The request was not sent: its path has the segment ".."; write the path that is meant."#),
            Invalid(
                request: Endpoint(.get, RequestPath(["./a"].joined())),
                sentence: #"The request was not sent: its path has the segment "."; write the path that is meant."#),
            Invalid(
                request: Endpoint(.get, "/users?page=2"),
                sentence: #"The request was not sent: its path "/users?page=…" has a "?"; put what follows it into query."#),
            Invalid(
                request: Endpoint(.get, "/users/\(1)?page=2"),
                sentence: #"The request was not sent: its path "/users/1?page=…" has a "?"; put what follows it into query."#),
            Invalid(
                request: Endpoint(.get, "/users#top"),
                sentence: ##"The request was not sent: its path "/users" has a "#"; a fragment is never sent, so leave it out."##),
            Invalid(
                request: Endpoint(.get, "/a%20b"),
                sentence: #"The request was not sent: its path "/a%20b" has the escape "%20"; write plain text, which is escaped for you,"#
                    + " or .url(_:) for a whole URL."),
            Invalid(
                request: Endpoint(.get, "https://api.test/v1/users"),
                sentence: #"The request was not sent: its path "https://api.test/v1/users" is a URL; write .url(_:) for a whole URL."#),
            Invalid(
                request: Endpoint(.get, "https://\("api.test")/v1/users"),
                sentence: #"The request was not sent: its path "https://" is a URL; write .url(_:) for a whole URL."#),
            Invalid(
                request: Endpoint(.get, .url(example, .url(example, "/x"))),
                sentence: "The request was not sent: its path has a URL within a URL."),
            Invalid(
                request: Endpoint(.get, "", headers: ["content-length": "20"]),
                sentence: "The request was not sent: its header Content-Length announces a body, but the request has none."),
            Invalid(
                request: Endpoint(.post, "", headers: ["Transfer-Encoding": "chunked"]),
                sentence: "The request was not sent: its header Transfer-Encoding announces a body, but the request has none."),
            Invalid(
                request: Endpoint(.get, .url(URL(string: "ftp://h/x")!)),
                sentence: #"The request was not sent: its URL "ftp://h/x" has the scheme ftp; it must be http or https."#),
            Invalid(
                request: Endpoint(.get, .url(URL(fileURLWithPath: "/etc/hosts"))),
                sentence: #"The request was not sent: its URL "file:…" has the scheme file; it must be http or https."#),
            Invalid(
                request: Endpoint(.get, .url(URL(string: "https://me:s3cret@h/")!)),
                sentence: "The request was not sent: its URL has a user name or a password; send them in the header Authorization."),
            Invalid(
                request: Endpoint(.post, "", body: .json(Unencodable())),
                sentence:
                    #"The request was not sent: its body of type Unencodable cannot be encoded as JSON (TestError(name: "unencodable"))."#),
        ])
    func invalid(row: Invalid) async throws {
        let transport = ClosureTransport { _ in
            Issue.record("The request was sent.")
            return .error(URLError(.unknown))
        }
        let error = try await #require(throws: APIError.self) {
            try await DefaultAPIProvider(baseURL: example, transport: transport).request(row.request).value
        }
        guard case .invalidRequest = error else {
            Issue.record("\(error)")
            return
        }
        #expect(error.description == row.sentence)
        #expect(error.localizedDescription == row.sentence)
    }
}
