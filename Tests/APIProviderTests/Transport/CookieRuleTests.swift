import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// Which cookies are kept and where they go, for any host: by a network stack that answers at once.
@Suite("Cookies, by the rules of RFC 6265bis", tenMinutes)
struct CookieRuleTests {
    private let storage = URLSessionConfiguration.ephemeral.httpCookieStorage

    /// Sends a request to `url`, whose response has these Set-Cookie fields. Returns the Cookie field of the request.
    @discardableResult
    private func visit(_ url: String, setting cookies: [String] = []) async throws -> String {
        let url = try #require(URL(string: url))
        let fields = cookies.isEmpty ? [:] : ["Set-Cookie": cookies.joined(separator: ", ")]
        let head = try #require(HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields))
        var settings = ExchangeTransport.Settings()
        settings.cookies = storage
        let transport = ExchangeTransport(settings) { exchange in
            _ = exchange.receive(head)
            _ = exchange.receive(Data((exchange.request.headers["Cookie"] ?? "").utf8))
            exchange.complete()
            return Disposables.create()
        }
        return String(decoding: try await transport.send(PreparedRequest(.get, url)).value.data, as: UTF8.self)
    }

    struct Case: Sendable, CustomTestStringConvertible {
        let cookie: String
        let from: String
        let to: String
        let sent: String

        init(_ cookie: String, from: String, to: String, sends sent: String) {
            (self.cookie, self.from, self.to, self.sent) = (cookie, from, to, sent)
        }

        var testDescription: String { "\(cookie), from \(from) to \(to)" }
    }

    @Test(
        "A cookie goes where its domain and its path allow",
        arguments: [
            Case("a=1", from: "https://a.com/", to: "https://a.com/", sends: "a=1"),
            Case("a=1", from: "https://a.com/", to: "https://x.a.com/", sends: ""),
            Case("a=1; Domain=a.com", from: "https://x.a.com/", to: "https://a.com/", sends: "a=1"),
            Case("a=1; Domain=.A.com", from: "https://a.com/", to: "https://x.a.com/", sends: "a=1"),
            Case("a=1; Domain=a.com; Domain=", from: "https://a.com/", to: "https://x.a.com/", sends: ""),
            Case("a=1; Domain=x.a.com", from: "https://a.com/", to: "https://x.a.com/", sends: ""),
            Case("a=1; Domain=a.com", from: "https://ba.com/", to: "https://ba.com/", sends: ""),
            Case("a=1; Domain=com", from: "https://a.com/", to: "https://b.com/", sends: ""),
            Case("a=1; Domain=com", from: "https://a.com/", to: "https://a.com/", sends: ""),
            Case("a=1; Domain=.co.uk", from: "https://a.co.uk/", to: "https://b.co.uk/", sends: ""),
            Case("a=1; Domain=a.co.uk", from: "https://x.a.co.uk/", to: "https://a.co.uk/", sends: "a=1"),
            Case("a=1; Domain=localhost", from: "http://localhost/", to: "http://localhost/", sends: "a=1"),
            Case("a=1; Domain=localhost", from: "http://localhost/", to: "http://x.localhost/", sends: ""),
            Case("a=1; Domain=0.0.1", from: "http://127.0.0.1/", to: "http://10.0.0.1/", sends: ""),
            Case("a=1; Domain=127.0.0.1", from: "http://127.0.0.1/", to: "http://127.0.0.1/", sends: "a=1"),
            Case("a=1", from: "https://a.com/a/b", to: "https://a.com/a/c", sends: "a=1"),
            Case("a=1", from: "https://a.com/a/b", to: "https://a.com/c", sends: ""),
            Case("a=1; Path=c", from: "https://a.com/a/b", to: "https://a.com/c", sends: ""),
            Case("a=1; Path=/c; path=/", from: "https://a.com/a/b", to: "https://a.com/d", sends: "a=1"),
        ])
    func scope(_ rule: Case) async throws {
        try await visit(rule.from, setting: [rule.cookie])
        #expect(try await visit(rule.to) == rule.sent)
    }

    @Test(
        "A cookie that promises to be secure, or its host's alone, is kept only if it is",
        arguments: [
            Case("a=1; Secure", from: "http://a.com/", to: "https://a.com/", sends: ""),
            Case("__Secure-a=1", from: "https://a.com/", to: "https://a.com/", sends: ""),
            Case("__secure-a=1; Secure", from: "https://a.com/", to: "https://a.com/", sends: "__secure-a=1"),
            Case("__Host-a=1; Secure; Path=/", from: "https://a.com/x", to: "https://a.com/", sends: "__Host-a=1"),
            Case("__Host-a=1; Secure; Path=/; Domain=a.com", from: "https://a.com/", to: "https://a.com/", sends: ""),
            Case("__Host-a=1; Secure; Path=/x", from: "https://a.com/x", to: "https://a.com/x", sends: ""),
            Case("__Host-a=1; Secure", from: "https://a.com/", to: "https://a.com/", sends: ""),
            Case("__Host-a=1; Path=/", from: "http://a.com/", to: "http://a.com/", sends: ""),
            Case("=__Host-a=1", from: "https://a.com/", to: "https://a.com/", sends: ""),
        ])
    func promises(_ rule: Case) async throws { try await scope(rule) }

    @Test(
        "The text of a cookie is read as a browser reads it",
        arguments: [
            ("x=1,y=2", "x=1,y=2"), ("a = 1 2 ; Path = /", "a=1 2"), ("a=b=c", "a=b=c"), ("a=\"1\"", "a=\"1\""), ("a=", "a="),
            ("a", "a"), ("=a", "a"), (" ; Path=/", ""), ("a=1\u{1}", ""), ("a=1; Expires=Fri, 31 Dec 2100 00:00:00 GMT", "a=1"),
            ("a=1; Expires=Thu, 01 Jan 1970 00:00:00 GMT", ""), ("a=1; Expires=soon", "a=1"),
            ("a=1; Max-Age=0; Max-Age=9000", "a=1"), ("a=1; Max-Age=-", "a=1"),
            ("a=1; Path=/\(String(repeating: "x", count: 1024))", "a=1"),
            ("a=\(String(repeating: "1", count: 4096))", ""),
        ])
    func text(cookie: String, sent: String) async throws {
        try await visit("https://a.com/", setting: [cookie])
        #expect(try await visit("https://a.com/") == sent)
    }

    struct ExpiryCase: Sendable, CustomTestStringConvertible {
        let text: String
        /// `nil` if the text is no date.
        let year: Int?
        let time: String

        init(_ text: String, _ year: Int?, _ time: String = "10-18T22:50:12Z") { (self.text, self.year, self.time) = (text, year, time) }

        var testDescription: String { text }
    }

    @Test(
        "A cookie ends at the date in which RFC 6265bis finds a time, a day, a month and a year (section 5.1.1)",
        arguments: [
            ExpiryCase("Mon, 18 Oct 2100 22:50:12 GMT", 2100), ExpiryCase("Monday, 18-Oct-68 22:50:12 GMT", 2068),
            ExpiryCase("Mon Oct 18 22:50:12 2100", 2100), ExpiryCase("Mon Oct 18 2100 22:50:12 GMT+0000 (UTC)", 2100),
            ExpiryCase("18 Oct 2100 22:50:12 GMT", 2100), ExpiryCase("22:50:12 2100 oct 18", 2100),
            ExpiryCase("22:50:12 18 oct 2100", 2100),
            ExpiryCase("18/October\\2100,22:50:12", 2100), ExpiryCase("Nonday, 18-OCTOPUS-2100 22:50:12 -0400", 2100),
            ExpiryCase("Mon, 18 Oct 2100 22:50:12.999 EST 1999", 2100), ExpiryCase("18 Oct 2100 22:50:12 23:59:59 19 Nov 2101", 2100),
            ExpiryCase("\"18 Oct 2100 22:50:12\"", 2100), ExpiryCase("18th Oct 2100AD 22:50:12Z", 2100),
            ExpiryCase("1 Jan 2100 1:2:3", 2100, "01-01T01:02:03Z"), ExpiryCase("29 Feb 2104 00:00:00", 2104, "02-29T00:00:00Z"),
            ExpiryCase("18 Oct 69 22:50:12", 2069), ExpiryCase("18-Oct-068 22:50:12", 2068),
            ExpiryCase("18 Oct 2100", nil), ExpiryCase("18 Oct 22:50:12", nil), ExpiryCase("Oct 2100 22:50:12", nil),
            ExpiryCase("018 Oct 2100 22:50:12", nil), ExpiryCase("18 Oct 21000 22:50:12", nil), ExpiryCase("18 Oct 2100 22:50", nil),
            ExpiryCase("18 Oct 2100 24:00:00", nil), ExpiryCase("18 Oct 2100 22:60:12", nil), ExpiryCase("18 Oct 2100 22:50:60", nil),
            ExpiryCase("0 Oct 2100 22:50:12", nil), ExpiryCase("32 Oct 2100 22:50:12", nil), ExpiryCase("31 Sep 2100 22:50:12", nil),
            ExpiryCase("29 Feb 2100 22:50:12", nil), ExpiryCase("18 Oct 1600 22:50:12", nil), ExpiryCase("2100-10-18T22:50:12Z", nil),
            ExpiryCase("", nil), ExpiryCase("soon", nil), ExpiryCase("18 Oct 2100 022:50:12", nil), ExpiryCase("18 Okt 2100 22:50:12", nil),
        ])
    func expiry(_ rule: ExpiryCase) async throws {
        try await visit("https://a.com/", setting: ["a=1; Expires=\(rule.text)"])
        let date = try #require(storage?.cookies?.first).expiresDate
        #expect(date?.formatted(.iso8601) == rule.year.map { "\($0)-\(rule.time)" })
    }

    @Test(
        "A date that has passed removes a cookie, in whatever form it stands",
        arguments: [
            "Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)", "01 Jan 1970 00:00:00 GMT", "Thu, 01-Jan-1970 00:00:01 GMT", "1 Jan 70 0:0:0",
            "Thu, 1 Jan 1601 00:00:00 GMT", "Wed, 31-Dec-97 23:59:59 GMT",
        ])
    func removal(date: String) async throws {
        try await visit("https://a.com/", setting: ["a=1", "b=2"])
        try await visit("https://a.com/", setting: ["a=; Expires=\(date)"])
        #expect(try await visit("https://a.com/") == "b=2")
    }

    @Test("An Expires that is no date does not replace one that is")
    func lastExpiry() async throws {
        try await visit("https://a.com/", setting: ["a=1; Expires=1 Jan 1970 00:00:00 GMT; Expires=soon"])
        #expect(try await visit("https://a.com/") == "")
    }

    @Test("Several fields set several cookies, also with dates in them")
    func several() async throws {
        let date = "Expires=Fri, 31 Dec 2100 00:00:00 GMT"
        try await visit("https://a.com/", setting: ["a=1; \(date)", "b=2,c; \(date); Path=/", "d=4"])
        #expect(try await visit("https://a.com/") == "a=1; b=2,c; d=4")
    }

    @Test(
        "A cookie that comes over http does not replace a secure one",
        arguments: [
            ("a=2", false), ("a=2; Domain=a.com", false), ("a=2; Path=/x/y", false), ("a=; Max-Age=0", false), ("b=2", true),
            ("a=2; Path=/z", true),
        ])
    func overwriting(cookie: String, isKept: Bool) async throws {
        try await visit("https://a.com/", setting: ["a=1; Secure; Path=/x"])
        try await visit("http://a.com/x/y/z", setting: [cookie.contains("Path") ? cookie : "\(cookie); Path=/x"])
        let all = try await [visit("https://a.com/x/y"), visit("https://a.com/z")]
        #expect(all.contains { $0.contains("=2") } == isKept)
        #expect(all[0].contains("a=1"))
    }

    @Test("A cookie that is set again keeps its place among the others")
    func place() async throws {
        for cookie in ["a=1", "b=2", "a=3"] { try await visit("https://a.com/", setting: [cookie]) }
        #expect(try await visit("https://a.com/") == "a=3; b=2")
    }

    @Test("A host keeps 180 cookies, the secure and the newer ones, and gets at most 8 KB of them")
    func limits() async throws {
        try await visit("https://a.com/", setting: ["session=1; Secure"])
        for first in stride(from: 0, to: 300, by: 100) {
            try await visit("https://a.com/", setting: (first..<first + 100).map { "c\($0)=\($0)" })
        }
        let names = try await visit("https://a.com/").components(separatedBy: "; ")
        #expect(names.count == 180 && names.first == "session=1" && names.last == "c299=299")
        try await visit("https://a.com/", setting: (0..<3000).map { "n\($0)=\(String(repeating: "x", count: 50))" })
        let header = try await visit("https://a.com/")
        #expect(header.hasPrefix("session=1; ") && header.utf8.count > 8000 && header.utf8.count <= 8192)
        // Another host is not concerned.
        try await visit("https://b.com/", setting: ["b=1"])
        #expect(try await visit("https://b.com/") == "b=1")
    }
}
