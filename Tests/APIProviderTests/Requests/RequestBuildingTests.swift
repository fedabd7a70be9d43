import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("Building requests")
struct RequestBuildingTests {
    private enum Order: String, QueryValue { case ascending = "asc" }

    private enum Kind: String { case open = "is open" }

    private enum Named: String, CustomStringConvertible {
        case first = "a"
        var description: String { "b" }
    }

    private static let none: Int? = nil

    @Test(
        "A URL is built from the base, the path and the query",
        arguments: [
            // One slash stands between the base and the path, and a trailing slash is kept.
            ("https://h", "", [:], "https://h"), ("https://h/", "", [:], "https://h/"), ("https://h", "/", [:], "https://h/"),
            ("https://h/v3", "x", [:], "https://h/v3/x"), ("https://h/v3/", "x", [:], "https://h/v3/x"),
            ("https://h/v3", "/x", [:], "https://h/v3/x"), ("https://h/v3//", "/x/", [:], "https://h/v3/x/"),
            ("https://h/v3", "a//b", [:], "https://h/v3/a//b"), ("HTTPS://h", "x", [:], "https://h/x"),
            // A path is plain text (RFC 3986, section 3.3), and the base's own escapes stay.
            ("https://h:8080/a%2Fb", RequestPath(["/a b/é%2F?#"].joined()), [:], "https://h:8080/a%2Fb/a%20b/%C3%A9%252F%3F%23"),
            ("https://h", "/web/https://x", [:], "https://h/web/https://x"), ("https://h", "/a%4g/b%a", [:], "https://h/a%254g/b%25a"),
            // An interpolation is one segment or a part of one, or with `path:` as many as it has.
            ("https://h", "/x/\("a/b c+é")/y", [:], "https://h/x/a%2Fb%20c%2B%C3%A9/y"),
            ("https://h", "/v\(3)/x.\("json")/\("...")/\(".a")", [:], "https://h/v3/x.json/.../.a"),
            ("https://h", "/repos/\(path: "apple/swift å")/issues", [:], "https://h/repos/apple/swift%20%C3%A5/issues"),
            ("https://h", "/\(Date(timeIntervalSince1970: 0))/\(true)", [:], "https://h/1970-01-01T00%3A00%3A00Z/true"),
            ("https://h", "/\(Kind.open)/\(Named.first)/\(HTTPMethod.get)", [:], "https://h/is%20open/b/GET"),
            // The base's own query comes first as it is. An empty query is kept (RFC 3986, section 6.2.3). A fragment is dropped.
            ("https://h/x?k=1", "y", ["z": 2], "https://h/x/y?k=1&z=2"),
            ("https://h?k=a%20b+c", "", ["k": "d"], "https://h?k=a%20b+c&k=d"),
            ("https://h/x?", "", [:], "https://h/x?"), ("https://h/x?#f", "", ["z": 2], "https://h/x?z=2"),
            ("https://h/x?k=1#%66", "", [:], "https://h/x?k=1"), ("https://h/x#f", "y", [:], "https://h/x/y"),
            // Only unreserved characters stay (RFC 3986, section 2.3).
            (
                "https://h", "", ["a-._~": "A-._~", "q": "+ &=?/:@!$'()*,;é"],
                "https://h?a-._~=A-._~&q=%2B%20%26%3D%3F%2F%3A%40%21%24%27%28%29%2A%2C%3B%C3%A9"
            ),
            // Arrays repeat the key, and nil and empty arrays leave it out.
            ("https://h", "", ["l": ["b", "a"], "n": none, "e": [] as [String], "s": ""], "https://h?l=b&l=a&s="),
            ("https://h", "", ["n": none], "https://h"), ("https://h?k=1", "", ["n": none], "https://h?k=1"),
            ("https://h", "", ["z": 1, "a": 2, "z": 3], "https://h?z=1&a=2&z=3"),
            ("https://h", "", ["i": [1, 2] as [Int?], "o": [nil, 3] as [Int?]], "https://h?i=1&i=2&o=3"),
            (
                "https://h", "", ["i": -1, "u": UInt8(255), "d": 1.5, "t": true, "f": false, "o": Order.ascending],
                "https://h?i=-1&u=255&d=1.5&t=true&f=false&o=asc"
            ),
            (
                "https://h", "", ["d": Date(timeIntervalSince1970: 0), "u": URL(string: "https://x/?a=b")],
                "https://h?d=1970-01-01T00%3A00%3A00Z&u=https%3A%2F%2Fx%2F%3Fa%3Db"
            ),
            (
                "https://h", "",
                ["s": "swift".prefix(2), "c": Character("e"), "d": Decimal(string: "12345678901234567890.5"), "set": Set(["b", "a"])],
                "https://h?s=sw&c=e&d=12345678901234567890.5&set=a&set=b"
            ),
            (
                "https://h", "", ["any": ([1, "a", true] as [any QueryValue]).flatMap(\.queryValues), "none": Set<Int>()],
                "https://h?any=1&any=a&any=true"
            ),
        ] as [(String, RequestPath, QueryParameters, String)])
    func url(base: String, path: RequestPath, query: QueryParameters, url: String) throws {
        let request = Endpoint<Item>(.get, .url(try #require(URL(string: base)), path), query: query)
        #expect(try request.preparedRequest(relativeTo: example).url.absoluteString == url)
    }

    @Test("The fragment of a base URL is left out")
    func fragmentOfBaseURL() throws {
        #expect(try Endpoint<Item>(.get, "").preparedRequest(relativeTo: URL(string: "https://h/x#f")).url.absoluteString == "https://h/x")
    }

    @Test("A URL of any scheme is for the transport to judge", arguments: ["http+unix://%2Frun%2Fdocker.sock/v1", "ftp://h/x"])
    func otherScheme(url: String) async throws {
        let answers = Answers(.status(200))
        try await answers.provider().request(Endpoint<Void>(.get, .url(try #require(URL(string: url))))).value
        #expect(answers.requests.map(\.url.absoluteString) == [url])
    }

    @Test("A base URL that is relative to another is resolved first")
    func relativeBase() throws {
        let base = try #require(URL(string: "v2?a=1", relativeTo: URL(string: "https://h/x/")))
        #expect(try Endpoint<Item>(.get, .url(base, "y")).preparedRequest().url.absoluteString == "https://h/x/v2/y?a=1")
    }

    @Test("Query parameters are made from data, and changed")
    func query() throws {
        var query = QueryParameters(["b": "2", "a": "1"])
        #expect(query.map(\.name) == ["a", "b"])
        query.append("b", [3, 4])
        #expect(query["b"] as? [String] == ["2", "3", "4"])
        #expect(query["a"] as? String == "1")
        #expect(query["c"] == nil)
        query["b"] = 5
        query["c"] = true
        query["a"] = nil
        query.append("d", String?.none)
        #expect((query + ["b": 6]).map { "\($0.name)=\($0.value ?? "")" } == ["b=5", "c=true", "b=6"])
        #expect(QueryParameters(["b": true, "a": 1] as [String: any QueryValue]).map { $0.value } == ["1", "true"])
        #expect(QueryParameters([(key: "z", value: "1"), (key: "a", value: "2")]).map(\.name) == ["z", "a"])
        let unnamed = QueryParameters([URLQueryItem(name: "", value: nil), URLQueryItem(name: "a", value: "b")])
        #expect(try Endpoint<Item>(.get, "", query: unnamed).preparedRequest(relativeTo: example).url.query == "&a=b")
        let items = URLComponents(string: "https://h/?flag&empty=")?.queryItems ?? []
        let kept = Endpoint<Item>(.get, "", query: QueryParameters(items) + ["n": 1])
        #expect(try kept.preparedRequest(relativeTo: example).url.query == "flag&empty=&n=1")
    }

    @Test("Headers are made from data, and a later one replaces an earlier one in any case")
    func headers() {
        #expect(HTTPHeaders(["B": "2", "A": "1"]).map(\.name) == ["A", "B"])
        var headers: HTTPHeaders = ["X-A": "1", "x-a": "2", "X-B": "3"]
        #expect(headers.map { "\($0.name)=\($0.value)" } == ["x-a=2", "X-B=3"])
        #expect(headers["X-a"] == "2")
        #expect(headers == ["x-b": "3", "X-A": "2"])
        headers["X-B"] = nil
        #expect(headers.merging(["X-A": "3", "B": "4", "C": nil]) == ["B": "4", "x-a": "3"])
    }

    @Test("Names of headers are compared as bytes, in which ASCII letters have no case, and names that differ in case have an order")
    func headerNames() {
        let headers: HTTPHeaders = ["K": "1", "\u{212A}": "2", "e\u{301}": "3", "\u{e9}": "4"]
        #expect(headers.map(\.value) == ["1", "2", "3", "4"])
        #expect(headers["k"] == "1")
        let fields = "abcdefgh".flatMap { [$0.lowercased(), $0.uppercased()] }
        let shown = Dictionary(uniqueKeysWithValues: fields.map { ($0, "1") }).sortedByName.map(\.name)
        #expect(shown == "abcdefgh".flatMap { [$0.uppercased(), $0.lowercased()] })
    }

    @Test("The time to read headers is linear in their number", .longComputing)
    func manyHeaders() {
        func seconds(_ count: Int) -> Double {
            let fields = Dictionary(uniqueKeysWithValues: (0..<count).map { ("X-Field-\(100_000 + $0)", "1") })
            return cpuSeconds { #expect(Array(HTTPHeaders(fields)).count == count) }
        }
        #expect(isLinear(500, seconds: seconds))
    }

    @Test("Accept and Content-Type follow from response and body, unless the request sets them")
    func defaultHeaders() throws {
        func headers<Response>(_ endpoint: Endpoint<Response>) throws -> [String?] {
            let headers = try endpoint.preparedRequest(relativeTo: example).headers
            return [headers["Accept"], headers["Content-Type"]]
        }
        #expect(try headers(Endpoint<Item?>(.post, "", body: .json(1))) == ["application/json", "application/json"])
        #expect(try headers(Endpoint<Item>(.post, "", body: .form(["a": 1]))) == ["application/json", "application/x-www-form-urlencoded"])
        let own: HTTPHeaders = ["accept": "a/b", "content-type": "c/d"]
        #expect(try headers(Endpoint<Item>(.post, "", headers: own, body: .json(1))) == ["a/b", "c/d"])
        #expect(try headers(Endpoint<Data>(.get, "")) == [nil, nil])
        #expect(try headers(Endpoint<Void>(.get, "")) == [nil, nil])
        #expect(try headers(Endpoint<String?>(.get, "")) == [nil, nil])
        #expect(try headers(Endpoint(.get, "", downloadingTo: URL(fileURLWithPath: "/tmp/file"))) == [nil, nil])
        #expect(try headers(Endpoint(.get, "", decode: \.statusCode)) == [nil, nil])
    }

    @Test("The keys of JSON are sorted")
    func json() throws {
        let keys = (10..<30).map { "key\($0)" }
        let value = Dictionary(uniqueKeysWithValues: keys.map { ($0, 1) })
        let request = try Endpoint<Void>(.post, "", body: .json(value)).preparedRequest(relativeTo: example)
        #expect(request.bodyData == Data("{\(keys.map { "\"\($0)\":1" }.joined(separator: ","))}".utf8))
    }

    @Test("A form is encoded as the WHATWG URL standard says")
    func form() throws {
        let request = try Endpoint<Item>(.post, "", body: .form(["a b": "c+d&é*-._~", "n": 1])).preparedRequest(relativeTo: example)
        #expect(request.bodyData == Data("a+b=c%2Bd%26%C3%A9*-._%7E&n=1".utf8))
    }

    @Test("A timeout of 60 seconds differs from none")
    func timeout() throws {
        func timeout(_ seconds: TimeInterval?) throws -> TimeInterval? {
            try Endpoint<Item>(.get, "", timeoutInterval: seconds).preparedRequest(relativeTo: example).timeoutInterval
        }
        #expect(try timeout(60) == 60)
        #expect(try timeout(nil) == nil)
    }

    @Test("A URLRequest with a timeout of 60 seconds has none of its own, and other times are taken", arguments: [1, 59, 60, 61, 600])
    func timeoutOfURLRequest(seconds: TimeInterval) throws {
        let request = try Endpoint<Item>(.get, "").adapting { $0.urlRequest.timeoutInterval = seconds }.preparedRequest(relativeTo: example)
        #expect(request.timeoutInterval == (seconds == 60 ? nil : seconds))
        let own = Endpoint<Item>(.get, "", timeoutInterval: 5).adapting { $0.urlRequest.timeoutInterval = seconds }
        #expect(try own.preparedRequest(relativeTo: example).timeoutInterval == seconds)
    }

    private struct Secretive: Encodable {
        func encode(to encoder: any Encoder) throws {
            throw EncodingError.invalidValue("s3cret", .init(codingPath: encoder.codingPath, debugDescription: "Secrets are not encoded."))
        }
    }

    private struct Unencodable: Encodable {
        func encode(to encoder: any Encoder) throws { throw TestError("unencodable") }
    }

    private static let dots = #"its path has the segment ".."; write the path that is meant."#

    @Test(
        "An invalid request is not sent, and the error says why",
        arguments: [
            (Endpoint(.get, .url(URL(string: "api.example.com/v3")!)), #"its URL "api.example.com/v3" needs a scheme and a host"#),
            (Endpoint(.get, .url(URL(string: "https:///v3")!)), #"its URL "https:…" needs a scheme and a host"#),
            (Endpoint(.get, .url(URL(string: "https://me:s3cret@h/")!)), "its URL has a user name or a password; send them in the header"),
            (Endpoint(.get, "", headers: ["X-A": "a\r\nX-B: b"]), "its header X-A has a control character in its value."),
            (Endpoint(.get, "", headers: ["X A": "a"]), #"its header name "X A" is not a token"#),
            (Endpoint(.get, "", headers: ["": "a"]), #"its header name "" is not a token"#),
            (
                Endpoint(.get, "", headers: ["Authorization: Bearer t0ken0": ""]),
                #"its header name "Authorization:…" is not a token"#
            ),
            (Endpoint(.get, "", headers: ["content-length": "20"]), "its header Content-Length announces a body"),
            (Endpoint(.get, "", headers: ["Content-Length": "1"]), "its header Content-Length announces a body"),
            (Endpoint(.post, "", headers: ["Transfer-Encoding": "chunked"]), "its header Transfer-Encoding announces a body"),
            (Endpoint(.get, "", timeoutInterval: 0), "its timeoutInterval is 0.0 seconds; it must be more than 0."),
            (Endpoint(.get, "").timeout(.seconds(0)), "its timeout must be more than 0 seconds."),
            (
                Endpoint(.get, "", headers: ["Authorization:\u{301} Bearer abc": ""]),
                #"its header name "Authorization:…" is not a token"#
            ),
            (Endpoint("GE T", ""), #"its method "GE T" is not a token (RFC 9110, section 9.1)."#),
            (
                Endpoint(.post, "", body: .json(["login": Secretive()])),
                "its body of type Dictionary<String, RequestBuildingTests.Secretive> cannot be encoded as JSON (Secrets are not encoded at […])."
            ),
            (Endpoint(.post, "", body: .json(Unencodable())), #"cannot be encoded as JSON (TestError(name: "unencodable"))."#),
            (Endpoint(.get, "/users/\("")"), #"a value interpolated into the path after "/users/" is empty."#),
            (Endpoint(.get, "/repos/\(path: "")"), #"a value interpolated into the path after "/repos/" is empty."#),
            (Endpoint(.get, "/repos/\(path: "apple/")/issues"), #"the path interpolated after "/repos/" has an empty segment"#),
            (Endpoint(.get, "/repos/\(path: "../user")"), dots), (Endpoint(.get, "/users/.\(".")"), dots),
            (Endpoint(.get, "/a/../b"), dots), (Endpoint(.get, .url(URL(string: "https://h/a/../b?q")!)), dots),
            (Endpoint(.get, .url(URL(string: "https://h/..")!, "/b")), dots),
            (Endpoint(.get, "/a").adapting { $0.url = URL(string: "http://h:1/a/..")! }, dots),
            (Endpoint(.get, "//a"), #"its path "//a" begins with two slashes; write one."#),
            (Endpoint(.get, RequestPath(["//a"].joined())), "begins with two slashes"),
            (Endpoint(.get, "/\(path: "/a")"), "an empty segment"),
            (Endpoint(.get, RequestPath(["./a"].joined())), #"its path has the segment "."; write the path that is meant."#),
            (Endpoint(.get, "/users/\(1)?page=2"), #"its path "/users/1?page=…" has a "?"; put what follows it into query."#),
            (Endpoint(.get, "/a\0?page=2"), "its path \"/a ?page=…\" has a \"?\"; put what follows it into query."),
            (Endpoint(.get, "/a%20\u{301}b"), #"has the escape "%20""#), (Endpoint(.get, "/a?\u{301}b"), #"has a "?""#),
            (Endpoint(.get, "/a#\u{301}b"), ##"has a "#""##),
            (Endpoint(.get, "/users#top"), ##"its path "/users" has a "#"; a fragment is never sent"##),
            (Endpoint(.get, "/a%20b"), #"its path "/a%20b" has the escape "%20"; write plain text"#),
            (Endpoint(.get, "/a\(1)%20b"), #"its path "/a1%20b" has the escape "%20"; write plain text"#),
            (Endpoint(.get, "https://api.test/v1"), #"its path "https://api.test/v1" is a URL; write .url(_:) for a whole URL."#),
            (Endpoint(.get, "https://\("api.test")/v1/users"), #"its path "https://" is a URL; write .url(_:) for a whole URL."#),
            (Endpoint(.get, .url(example, .url(example, "/x"))), "its path has a URL within a URL."),
            (
                Endpoint(.get, "", headers: HTTPHeaders(["A": "b"]).merging(.authorization(username: "a:b", password: "c"))),
                "its header Authorization has a control character in its value"
            ),
            (
                Endpoint(.get, "", headers: .authorization(username: "a", password: "c\n")),
                "its header Authorization has a control character in its value"
            ),
        ] as [(Endpoint<Item>, String)])
    func invalid(endpoint: Endpoint<Item>, reason: String) async throws {
        let answers = Answers(.status(200))
        let error = try await #require(throws: APIError.self) { try await answers.provider().request(endpoint).value }
        guard case .invalidRequest = error else { throw error }
        #expect(error.description.hasPrefix("The request was not sent: ") && error.description.contains(reason), "\(error)")
        #expect(error.localizedDescription == "The request could not be made.")
        #expect(answers.requests.isEmpty)
    }

    @Test("A header may say that there is no body")
    func noBody() async throws {
        let answers = Answers(.status(200))
        _ = try await answers.provider().request(Endpoint<Data>(.post, "", headers: ["Content-Length": "0"])).value
        #expect(answers.requests.first?.headers["Content-Length"] == "0")
    }
}
