import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderMocks

/// Swift compares texts by characters, and a mark beside a sign makes both one character. Servers compare bytes.
@Suite("Stubs and reports beside combining marks", tenMinutes)
struct CombiningMarkTests {
    /// The first four join the character before them, and the fifth the one behind it. The last is a byte order mark, which Foundation's
    /// decoding leaves out at the start of a text.
    static let marks = ["\u{301}", "\u{FE0F}", "\u{20E3}", "\u{200D}", "\u{600}", "\u{FEFF}"]
    private static let secret = "q8Zt41LmPx77Rv02Hd"

    /// A stub's URL, a request's target, and whether they match. `~` is the mark.
    private static let targets: [(stub: String, request: String, isMatch: Bool)] = [
        ("/s?q=a~+~b", "/s?q=a~%2B~b", true), ("/s?q=a~+~b", "/s?q=a~+~b", true), ("/s?q=a~+~b", "/s?q=a~%20~b", false),
        ("/s?q=a~%2B~b", "/s?q=a~%2B~b", true), ("/s?q=a~&~b=1", "/s?~b=1&q=a~", true), ("/*?~q=1", "/x?~q=1", true),
        ("/*?~q=1", "/x?~q=2", false), ("/*/~b", "/x/~b", true), ("/*/a/~b", "/%2A/z/~b", false), ("/a~/*", "/a~/x", true),
        ("/~user", "/~user", true), ("/~user", "/user", false), ("/user~", "/user", false), ("/a~%2F~b", "/a~%2F~b", true),
        ("/a~%2F~b", "/a~/~b", false), ("/a/~b/**", "/a/~b/c/d", true), ("/a~/**", "/a~/c", true),
    ]

    private func request(_ target: String, _ headers: HTTPHeaders = [:], body: String = "") throws -> RequestLines {
        let escaped = target.utf8.map { $0 < 128 ? String(Unicode.Scalar($0)) : "%" + String($0, radix: 16) }.joined()
        let url = try #require(URL(string: "https://a.example\(escaped)"))
        return RequestLines(ReceivedRequest(PreparedRequest(.post, url, headers: headers, body: RequestBody(Data(body.utf8)))))
    }

    private func stub(_ url: String, headers: HTTPHeaders? = nil, body: BodyMatcher? = nil) -> Stub {
        Stub(
            .post, url, query: nil, headers: headers, body: body, times: nil, isOptional: false,
            sourceLocation: .init(fileID: "A/B.swift", filePath: "B.swift", line: 1), response: .status(200))
    }

    private func report(_ request: RequestLines, _ stubs: Stub...) -> String {
        "\(UnansweredReport(request: request, stubs: stubs.map { ($0, 0) }, scope: "s", reason: nil, otherScopes: [], processStub: nil))"
    }

    @Test("A stub's URL matches the same bytes", arguments: marks)
    func urls(mark: String) throws {
        for (url, target, isMatch) in Self.targets {
            let texts = [url, target].map { $0.replacingOccurrences(of: "~", with: mark) }
            let stub = stub(texts[0])
            let request = try request(texts[1])
            #expect(stub.problem == nil && stub.matches(request) == isMatch, "\(url) \(target) \(stub.problem ?? "")")
        }
    }

    @Test("A stub's URL that no request has is a problem", arguments: marks)
    func problems(mark: String) {
        for url in ["/a~*~", "/a~%~2F", "/a%2~", "/a~#~b", "https://u~@~a.example/", "https://~*~.example/a", "/%\u{FF21}\u{FF21}"] {
            #expect(stub(url.replacingOccurrences(of: "~", with: mark)).problem != nil, "\(url)")
        }
    }

    @Test("A text in a body is another one with other bytes", arguments: marks)
    func bodies(mark: String) {
        func lines(_ text: String) -> Lines { Lines(body: Data(text.utf8), type: "text/csv") }
        for text in ["\(mark)id,name", "id,name\(mark)"] { #expect(lines(text) != lines("id,name"), "\(text)") }
    }

    @Test("The two normal forms of a text are two texts", arguments: [("\u{E9}", "e\u{301}")])
    func normalForms(forms: (String, String)) throws {
        for (one, other) in [forms, (forms.1, forms.0)] {
            let multipart = "--b\r\nContent-Disposition: form-data; name=\"\(one)\"\r\n\r\n1\r\n--b--\r\n"
            func body(_ text: String) -> (BodyMatcher) -> Bool {
                { $0.matches(BodyLines(Data(text.utf8), type: "multipart/form-data; boundary=b")) }
            }
            for (text, isMatch) in [(one, true), (other, false)] {
                #expect(stub("/\(text)").matches(try request("/\(one)")) == isMatch)
                #expect(stub("/?\(text)=1").matches(try request("/?\(one)=1")) == isMatch)
                #expect(stub("/", headers: ["X-A": text]).matches(try request("/", ["X-A": one])) == isMatch)
                #expect((Lines(cookies: "n=x\(one)") == Lines(cookies: " n = x\(text) ")) == isMatch)
                #expect(body("{\"\(one)\":1}")(.json(containing: [text: 1])) == isMatch)
                #expect(body("\(one)=1")(.form(containing: [text: "1"])) == isMatch)
                #expect(body(multipart)(.multipart(containing: [text: .text("1")])) == isMatch)
                #expect((Lines(xml: Data("<a \(one)=\"1\"/>".utf8)) == Lines(xml: Data("<a \(text)=\"1\"/>".utf8))) == isMatch)
            }
        }
    }

    @Test("White space around a cookie is a blank or a tab, and other spaces are part of it", arguments: ["\u{A0}", "\u{3000}"])
    func whiteSpace(space: String) {
        #expect(Lines(cookies: "n=x\t; \tm=y") == Lines(cookies: "n=x; m=y"))
        #expect(Lines(cookies: "n=x\(space)") != Lines(cookies: "n=x"))
    }

    @Test("A name's signs are not the signs of a place, and what begins with a mark is within a place", arguments: marks)
    func places(mark: String) throws {
        let json = Lines(json: Data("{\"a\":{\"\(mark)b\":1,\"c\":{\"\(mark)d\":[2]}}}".utf8))
        let dotted = try #require(Lines(json: Data("{\"a\(mark).\(mark)b\":1}".utf8)))
        let nested = try #require(Lines(json: Data("{\"a\(mark)\":{\"\(mark)b\":1}}".utf8)))
        #expect(dotted.values.keys.count { nested.values.keys.contains($0) } == 1)
        #expect(try #require(json).places(differingFrom: Lines(json: Data("{\"a\":1}".utf8)) ?? Lines()) == ["a"])
        for name in ["body.a", "a.\(mark)b", "\(mark)b", "body.a.\(mark)b"] { #expect("body.a.\(mark)b".isPlace(named: name), "\(name)") }
        for kind in ["query", "header", "cookie"] {
            let place = "\(kind) \(mark)b"
            #expect(place.isPlace(named: "\(mark)b") && place.isPlace(named: place) && !place.isPlace(named: "b"), "\(kind)")
        }
        for name in ["body.a.b", "b", "a.c"] { #expect(!"body.a.\(mark)b".isPlace(named: name), "\(name)") }
        #expect("body.a\(mark)@\(mark)b".names == ["body", "a\(mark)", "\(mark)b"])
    }

    @Test("A report shows no secret", arguments: marks)
    func secrets(mark: String) throws {
        let secret = Self.secret
        func multipart(_ head: String) -> (HTTPHeaders, String) {
            (["Content-Type": "multipart/form-data; boundary=b"], "--b\r\n\(head)\r\n\r\n\(mark)\(secret)\r\n--b--\r\n")
        }
        let sent: [(HTTPHeaders, String)] = [
            (["Cookie": "lang\(mark)=\(mark)\(secret)"], ""), (["Cookie": "a=1\(mark);\(mark)b=\(secret)"], ""),
            (["Content-Type": "application/json"], "{\"\(mark)\":{\"name\":\"password\",\"value\":\"\(secret)\"}}"),
            multipart("Content-Disposition\(mark == "\u{600}" ? "" : ":\(mark)"): form-data; name=\"password\""),
            multipart("Content-Disposition: form-data; name=\"\(mark)password\""),
            multipart("Content-Disposition: form-data; name=\"password\(mark)\""),
        ]
        for (headers, body) in sent {
            let stub = stub("/", headers: ["Cookie": "z=1", "X-A": "1"], body: .multipart(containing: ["z": .text("1")]))
            let report = report(try request("/", headers, body: body), stub)
            #expect(!report.contains(secret), "\(report)")
        }
        var marked = PreparedRequest(.get, try #require(URL(string: "https://a.example/x%2F\(mark.escapedAsValue)y/b")))
        marked.secrets.add(["x/\(mark)y"])
        #expect(report(RequestLines(ReceivedRequest(marked)), stub("/z")).contains("got       /…/b"))
    }

    @Test("A report shows a slash within a segment, and each line of a body is indented", arguments: marks)
    func lines(mark: String) throws {
        let report = report(try request("/a\(mark)%2F\(mark)b", body: "c\n\(mark)d\n\(mark)"), stub("/a\(mark)/\(mark)b"))
        #expect(report.contains("got       /a\(mark)%2F\(mark)b"), "\(report)")
        #expect(Array(report.utf8).split(separator: UInt8(ascii: "\n")).contains { $0.elementsEqual("    \(mark)d".utf8) }, "\(report)")
    }

    @Test("A stub to paste for an operation of GraphQL contains what the body has", arguments: marks)
    func stubToPaste(mark: String) throws {
        let operation = "query Find { a(b: \"\(mark)\(Self.secret)\(mark)\", c: \"\(mark)x\") }"
        let body = "{\"query\":\(String(decoding: operation.jsonString, as: UTF8.self))}"
        var sent = PreparedRequest(.post, example, body: RequestBody(Data(body.utf8)))
        sent.secrets.add([Self.secret])
        let report = report(RequestLines(ReceivedRequest(sent)))
        #expect(report.contains("body: .contains(\"query Find { a(b: \")"), "\(report)")
    }

    @Test("Lines of a server-sent event stay its lines", arguments: marks)
    func events(mark: String) async throws {
        let sent = ServerSentEvent(data: "a\(mark)\r\n\(mark)b\(mark)\r\(mark)c\(mark)\n\(mark)d\r\n\r\n")
        let feed = StreamFeed()
        feed.send(sent)
        feed.finish()
        for response in [StubResponse.events([sent]), .events(from: feed)] {
            let found = try await MockURLProtocol.withScope {
                MockURLProtocol.stub(.get, "/events", respond: response)
                let events = try await mocked.request(Endpoint<ServerSentEvents>(.get, "/events")).value
                return try await events.reduce(into: []) { $0.append($1.data) }
            }
            let data = "a\(mark)\n\(mark)b\(mark)\n\(mark)c\(mark)\n\(mark)d\n\n"
            #expect(found.count == 1 && found.first?.utf8.elementsEqual(data.utf8) == true, "\(found.map(\.debugDescription))")
        }
    }

    @Test("The part of a body in a report has a limit in bytes", arguments: marks)
    func limit(mark: String) throws {
        let text = String(repeating: mark, count: 50_000)
        let report = report(try request("/a", body: text), stub("/a", body: .contains("b")))
        #expect(report.utf8.count < 4_000, "\(report.utf8.count)")
    }

    @Test("XML with a document type is not parsed", arguments: marks)
    func documentTypes(mark: String) {
        #expect(Lines(xml: Data("<!DOCTYPE\(mark)a [<!ENTITY b \"c\">]><a>&b;</a>".utf8)) == nil)
    }
}
