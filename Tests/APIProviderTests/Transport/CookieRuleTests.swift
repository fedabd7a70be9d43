@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

/// Which cookies are kept and where they go, for any host. The network stack answers at once.
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

    @Test(
        "Domain, path, Secure and the prefix of its name decide where a cookie goes",
        arguments: [
            ("a=1", "https://a.com/", "https://a.com/", "a=1"),
            ("a=1", "https://a.com/", "https://x.a.com/", ""),
            ("a=1; Domain=a.com", "https://x.a.com/", "https://a.com/", "a=1"),
            ("a=1; Domain=.A.com", "https://a.com/", "https://x.a.com/", "a=1"),
            ("a=1; Domain=a.com; Domain=", "https://a.com/", "https://x.a.com/", ""),
            ("a=1; Domain=x.a.com", "https://a.com/", "https://x.a.com/", ""),
            ("a=1; Domain=a.com", "https://ba.com/", "https://ba.com/", ""),
            ("a=1; Domain=com", "https://a.com/", "https://a.com/", ""),
            ("a=1; Domain=.co.uk", "https://a.co.uk/", "https://b.co.uk/", ""),
            ("a=1; Domain=a.co.uk", "https://x.a.co.uk/", "https://a.co.uk/", "a=1"),
            ("a=1; Domain=localhost", "http://localhost/", "http://localhost/", "a=1"),
            ("a=1; Domain=localhost", "http://localhost/", "http://x.localhost/", ""),
            ("a=1; Domain=0.0.1", "http://127.0.0.1/", "http://10.0.0.1/", ""),
            ("a=1; Domain=127.0.0.1", "http://127.0.0.1/", "http://127.0.0.1/", "a=1"),
            ("a=1", "https://a.com/a/b", "https://a.com/a/c", "a=1"),
            ("a=1", "https://a.com/a/b", "https://a.com/c", ""),
            ("a=1; Path=c", "https://a.com/a/b", "https://a.com/c", ""),
            ("a=1; Path=/c; path=/", "https://a.com/a/b", "https://a.com/d", "a=1"),
            ("a=1; Path=/x", "https://a.com/", "https://a.com/x", "a=1"),
            ("a=1; Path=/x", "https://a.com/", "https://a.com/x/y", "a=1"),
            ("a=1; Path=/x/", "https://a.com/", "https://a.com/x/y", "a=1"),
            ("a=1; Path=/x", "https://a.com/", "https://a.com/xy", ""),
            ("a=1; Secure", "https://a.com/", "HTTPS://a.com/", "a=1"),
            ("a=1; Secure", "https://a.com/", "http://a.com/", ""),
            ("a=1; Secure", "http://a.com/", "https://a.com/", ""),
            ("__Secure-a=1", "https://a.com/", "https://a.com/", ""),
            ("__secure-a=1; Secure", "https://a.com/", "https://a.com/", "__secure-a=1"),
            ("__Host-a=1; Secure; Path=/", "https://a.com/x", "https://a.com/", "__Host-a=1"),
            ("__Host-a=1; Secure; Path=/; Domain=a.com", "https://a.com/", "https://a.com/", ""),
            ("__Host-a=1; Secure; Path=/x", "https://a.com/x", "https://a.com/x", ""),
            ("__Host-a=1; Secure", "https://a.com/", "https://a.com/", ""),
            ("__Host-a=1; Path=/", "http://a.com/", "http://a.com/", ""),
            ("=__Host-a=1", "https://a.com/", "https://a.com/", ""),
        ])
    func scope(cookie: String, from: String, to: String, sent: String) async throws {
        try await visit(from, setting: [cookie])
        #expect(try await visit(to) == sent)
    }

    @Test(
        "The text of a cookie is read as a browser reads it",
        arguments: [
            ("x=1,y=2", "x=1,y=2"), ("a = 1 2 ; Path = /", "a=1 2"), ("a=b=c", "a=b=c"), ("a=\"1\"", "a=\"1\""), ("a=", "a="),
            ("a", "a"), ("=a", "a"), (" ; Path=/", ""), ("a=1\u{1}", ""), ("a=1; Expires=1 Jan 1970 00:00:00 GMT; Expires=soon", ""),
            ("a=1; Expires=Fri, 31 Dec 2100 00:00:00 GMT; Max-Age=0", ""), ("a=1; Max-Age=0; Max-Age=9000", "a=1"),
            ("a=1; Max-Age=-", "a=1"), ("a=1; Max-Age=-5", ""), ("a=1; max-age=99999999999999999999999", "a=1"),
            ("a=1; Path=/\(String(repeating: "x", count: 1024))", "a=1"),
            ("a=\(String(repeating: "1", count: 4096))", ""),
        ])
    func text(cookie: String, sent: String) async throws {
        try await visit("https://a.com/", setting: [cookie])
        #expect(try await visit("https://a.com/") == sent)
    }

    @Test(
        "A cookie ends at the date in which RFC 6265bis finds a time, a day, a month and a year (section 5.1.1)",
        arguments: [
            ("Mon, 18 Oct 2100 22:50:12 GMT", 2100), ("Monday, 18-Oct-68 22:50:12 GMT", 2068), ("Mon Oct 18 22:50:12 2100", 2100),
            ("22:50:12 2100 oct 18", 2100), ("18/October\\2100,22:50:12", 2100), ("Nonday, 18-OCTOPUS-2100 22:50:12 -0400", 2100),
            ("Mon, 18 Oct 2100 22:50:12.999 EST 1999", 2100), ("18 Oct 2100 22:50:12 23:59:59 19 Nov 2101", 2100),
            ("18th Oct 2100AD 22:50:12Z", 2100), ("18 Oct 69 22:50:12", 2069), ("18-Oct-068 22:50:12", 2068), ("18 Oct 2100", nil),
            ("18 Oct 22:50:12", nil), ("Oct 2100 22:50:12", nil), ("2100 22:50:12 18", nil),
            ("018 Oct 2100 22:50:12", nil), ("18 Oct 21000 22:50:12", nil), ("18 Oct 2100 22:50", nil), ("18 Oct 2100 24:00:00", nil),
            ("18 Oct 2100 22:60:12", nil), ("18 Oct 2100 22:50:60", nil), ("0 Oct 2100 22:50:12", nil), ("32 Oct 2100 22:50:12", nil),
            ("31 Sep 2100 22:50:12", nil), ("29 Feb 2100 22:50:12", nil), ("18 Oct 1600 22:50:12", nil), ("2100-10-18T22:50:12Z", nil),
            ("", nil), ("18 Oct 2100 022:50:12", nil), ("18 Okt 2100 22:50:12", nil),
        ] as [(String, Int?)])
    func expiry(text: String, year: Int?) async throws {
        try await visit("https://a.com/", setting: ["a=1; Expires=\(text)"])
        let date = try #require(storage?.cookies?.first).expiresDate
        #expect(date?.formatted(.iso8601) == year.map { "\($0)-10-18T22:50:12Z" })
    }

    @Test(
        "A date that has passed and a Max-Age of 0 remove a stored cookie",
        arguments: [
            "Expires=Thu Jan 01 1970 00:00:00 GMT+0000 (UTC)", "Expires=1 Jan 70 0:0:0", "Expires=Thu, 1 Jan 1601 00:00:00 GMT",
            "Expires=29 Feb 96 23:59:59", "Max-Age=0",
        ])
    func removal(attribute: String) async throws {
        try await visit("https://a.com/", setting: ["a=1", "b=2"])
        try await visit("https://a.com/", setting: ["a=; \(attribute)"])
        #expect(try await visit("https://a.com/") == "b=2")
    }

    @Test("Several fields set several cookies, even with dates in them")
    func several() async throws {
        let date = "Expires=Fri, 31 Dec 2100 00:00:00 GMT"
        try await visit("https://a.com/", setting: ["a=1; \(date)", "b=2,c; \(date); Path=/", "d=4"])
        #expect(try await visit("https://a.com/") == "a=1; b=2,c; d=4")
    }

    @Test("A cookie without a name leaves the one before it as it is", arguments: ["=", "=x; Path=/y", "=; Max-Age=0"])
    func nameless(field: String) async throws {
        try await visit("https://a.com/", setting: ["a=1", field, "b=2"])
        #expect(try await visit("https://a.com/") == "a=1; b=2")
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

    @Test(
        "A secure cookie of a domain and one of its subdomain are not replaced by each other over http",
        arguments: [
            ("https://a.com/", "a=1; Secure; Domain=a.com", "http://x.a.com/", "a=2"),
            ("https://x.a.com/", "a=1; Secure", "http://a.com/", "a=2"),
            ("https://x.a.com/", "a=1; Secure", "http://x.a.com/", "a=2; Domain=a.com"),
        ])
    func domains(secureURL: String, cookie: String, url: String, other: String) async throws {
        try await visit(secureURL, setting: [cookie])
        try await visit(url, setting: [other, "b=2"])
        #expect(try await visit(url) == "b=2")
        #expect(try await visit(secureURL).contains("a=1"))
    }

    @Test("Joined cookies are two, whatever stands beside their signs", arguments: ["\u{301}", "\u{FE0F}", "\u{600}"])
    func marks(mark: String) async throws {
        for joined in ["a=\(mark)1, b=\(mark)2", "a=\(mark)1\(mark), b=\(mark)2", "a=\(mark)1; Path=/, b=\(mark)2"] {
            try await visit("https://a.com/", setting: [joined])
            let sent = try await visit("https://a.com/").unicodeScalars
            #expect(sent.filter { ";,".unicodeScalars.contains($0) }.elementsEqual([";"]), "\(joined): \(sent)")
        }
    }

    @Test(
        "A comma and a blank before a name begin a cookie, and other commas are part of one",
        arguments: [
            ("id=1, pref,lang=de; Path=/", "id=1; pref,lang=de"), ("a=1; Expires=Wed, 21 Oct 2099 07:28:00 GMT, b=2", "a=1; b=2"),
            ("a=1,b=2", "a=1,b=2"), ("a=1, 2", "a=1, 2"), (", a=1", "a=1"),
        ])
    func commas(joined: String, sent: String) async throws {
        try await visit("https://a.com/", setting: [joined])
        #expect(try await visit("https://a.com/") == sent)
    }

    @Test("White space of a cookie's value is what HTTP calls so: a blank and a tab (RFC 6265bis, section 5.6)")
    func whiteSpace() async throws {
        for space in ["\u{A0}", "\u{3000}", "\u{2009}"] {
            try await visit("https://a.com/", setting: ["a= \t1\(space)\t "])
            #expect(try await visit("https://a.com/").unicodeScalars.elementsEqual("a=1\(space)".unicodeScalars))
        }
    }

    @Test("Of cookies that are all secure, the newer ones are kept")
    func allSecure() async throws {
        for number in 0..<185 { try await visit("https://a.com/", setting: ["c\(number)=1; Secure"]) }
        let kept = try await visit("https://a.com/").components(separatedBy: "; ")
        #expect(kept == (5..<185).map { "c\($0)=1" })
    }

    @Test("Cookies of a longer path come first, and then the older ones; one that is set again keeps its place (RFC 6265, section 5.4)")
    func place() async throws {
        let cookies = ["c=0; Path=/", "d=1; Path=/", "a=root; Path=/", "a=x; Path=/x", "a=y; Path=/x/y", "b=1; Path=/x", "c=2; Path=/"]
        for cookie in cookies { try await visit("https://a.com/", setting: [cookie]) }
        #expect(try await visit("https://a.com/x/y/z") == "a=y; a=x; b=1; c=2; d=1; a=root")
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
        try await visit("https://b.com/", setting: ["b=1"])
        #expect(try await visit("https://b.com/") == "b=1")
    }
}
