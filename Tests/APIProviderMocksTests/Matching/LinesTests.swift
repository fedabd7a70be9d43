import APIProvider
import Foundation
import TestSupport
import Testing

@testable import APIProviderMocks

/// The lines of a body, or of a request, as text: `place = value`, or `place = [value, value]` for several.
private func text(_ lines: Lines) -> [String] {
    lines.values.sorted { $0.key.isBefore($1.key) }.map { place, values in
        "\(place) = \(values.count == 1 ? "\(values[0])" : "[\(values.map(\.description).joined(separator: ", "))]")"
    }
}

private func body(_ text: String, _ type: String = "") -> Lines { Lines(body: Data(text.utf8), type: type) }

@Suite("A request as lines", .serialized)
struct LinesTests {
    @Test("A request is a line for each part, in which escapes, the case of the host and the default port do not count")
    func request() {
        let url = URLParts("HTTPS://API.example.com:443/users/a%2Fb%20c?page=2&q=a+b&tag=y&tag=x")
        let headers = [("Accept", "text/plain"), ("Cookie", "sid=abc; lang=de; sid=d = e")]
        let lines = Lines(
            method: .post, url, query: url.formQuery, headers: headers, body: Data(#"{"items":[{"id":7}]}"#.utf8), type: "application/json")
        #expect(
            text(lines) == [
                "body = an object", "body.items = an array of 1", "body.items[0] = an object", "body.items[0].id = 7",
                #"cookie lang = "de""#, #"cookie sid = ["abc", "d = e"]"#, #"header accept = "text/plain""#,
                #"host = "https://api.example.com""#, #"method = "POST""#, #"path 1 = "users""#, #"path 2 = "a/b c""#,
                #"query page = "2""#, #"query q = "a b""#, #"query tag = ["y", "x"]"#,
            ])
        let others = Lines(lines.values.filter { $0.key != "host" })
        #expect(lines != others && lines.contains(others) && !others.contains(lines))
        #expect(lines.places(differingFrom: others) == ["host"])
    }

    @Test(
        "A body is read by its media type, or else by its look",
        arguments: [
            ("a=1&b=x%20y&a=2", "application/x-www-form-urlencoded; charset=utf-8", [#"a = ["1", "2"]"#, #"b = "x y""#]),
            ("a=1&b=2", "", [#"a = "1""#, #"b = "2""#]), ("a=1&b=2", "text/plain", [#" = "a=1&b=2""#]),
            ("12", "text/plain", [#" = "12""#]), ("12", "application/problem+json", [" = 12"]), ("[]", "text/plain", [" = an array of 0"]),
            (#"{"a.b":{"c[0]":1}}"#, "", [" = an object", "a%2Eb = an object", "a%2Eb.c%5B0%5D = 1"]),
            ("no JSON", "application/json", [#" = "no JSON""#]), ("", "application/json", []), ("é", "", [#" = "é""#]),
            (
                "<a x=\"1\">\n<b>1 &amp; 2</b> <c/><b z=\"&#50;\"><![CDATA[<2>]]></b></a>", "application/soap+xml",
                [#"a.b = "1 & 2""#, #"a.b[1] = "<2>""#, #"a.b[1]@z = "2""#, #"a.c = """#, #"a@x = "1""#]
            ),
            ("<a><b></a>", "text/xml", [##" = "<a><b></a>""##]),
            ("--x\r\n\r\n--x", "multipart/form-data; boundary=x", [##" = "--x\r\n\r\n--x""##]),
        ])
    func notations(body text: String, type: String, lines: [String]) { #expect(APIProviderMocksTests.text(body(text, type)) == lines) }

    @Test("Text in another charset is text, and what is no text is bytes, which are compared")
    func bytes() {
        #expect(text(Lines(body: Data([0xE9]), type: "text/plain; charset=ISO-8859-1")) == [#" = "é""#])
        let binary = Lines(body: Data([0xE9]), type: "text/plain")
        #expect(text(binary) == [" = 1 bytes that are not text"])
        #expect(binary == Lines(body: Data([0xE9]), type: "") && binary != Lines(body: Data([0xEA]), type: ""))
        #expect(text(Lines(body: Data([0x61, 0x00]), type: "")) == [" = 2 bytes that are not text"])
    }

    @Test("A part of a multipart body is at its name, with its file name and its head within, and its JSON is read")
    func multipart() {
        func parts(_ boundary: String, _ json: String) -> Lines {
            let text = """
                --\(boundary)\r
                Content-Disposition: form-data; name="note"\r
                Content-Type: application/json\r
                \r
                \(json)\r
                --\(boundary)\r
                Content-Disposition: form-data; name="photo"; filename="a; b.jpg"\r
                Content-Length: 3\r
                \r
                a\r
                b\r
                --\(boundary)\r
                \r
                \r
                --\(boundary)--\r

                """
            return body(text, "multipart/form-data; boundary=\"\(boundary)\"")
        }
        let lines = parts("x", #"{"title":"Moin","n":1.0}"#)
        #expect(
            text(lines) == [
                #"[2] = """#, "note = an object", #"note.content-type = "application/json""#, "note.n = 1.0", #"note.title = "Moin""#,
                #"photo = "a\r\nb""#, #"photo.filename = "a; b.jpg""#,
            ])
        #expect(lines == parts("yz", #"{"n":1,"title":"Moin"}"#) && lines != parts("x", #"{"n":2,"title":"Moin"}"#))
        #expect(text(body("--x--\r\n", "multipart/form-data; boundary=x")).isEmpty)
    }

    @Test(
        "Two texts of JSON are the same lines if they mean the same",
        arguments: [
            (#"{"a":1,"b":[]}"#, #" { "b" : [ ] , "a" : 1.0 }"#, true), ("[1, 10, 0.5, -0, 1e400]", "[1.0,1E1,5e-1,0,10e399]", true),
            ("[10e9223372036854775807, 1.5e-9223372036854775808]", "[10e9223372036854775807,1.5e-9223372036854775808]", true),
            ("1e9223372036854775807", "1e-9223372036854775808", false), ("[1e400]", "[1e401]", false), ("[1,2]", "[2,1]", false),
            ("[0.010, 0.0]", "[1E-2, -0e5]", true), ("0.1234567890123456789", "0.1234567890123456788", false),
            ("[1234567890123456789]", "[1234567890123456788]", false), ("1", "\"1\"", false), ("-1", "1", false),
            ("true", "false", false), ("null", "\"null\"", false), ("[100, 120]", "[1e2, 12e1]", true), ("120", "12", false),
            (#"{"a":{}}"#, #"{"a":[]}"#, false), (#"{"a":{"b":1}}"#, #"{"a.b":1}"#, false), (#"{"a":[1]}"#, #"{"a[0]":1}"#, false),
            (#"{"":1}"#, "1", false), (#"{"":1}"#, #"{"\"\"":1}"#, false), (#"{"a":{"":1}}"#, #"{"a.":1}"#, false),
            ("{\"\u{E9}\":1}", "{\"e\u{301}\":1}", false), ("[\"\u{E9}\"]", "[\"e\u{301}\"]", false), (#"["é"]"#, #"["\u00e9"]"#, true),
            (#"{"a":1,"a":2}"#, #"{"a":2,"a":1}"#, false), (#"{"a":1,"a":2}"#, #"{"a":[1,2]}"#, false),
        ])
    func json(one: String, other: String, areEqual: Bool) throws {
        let lines = try [one, other].map { try #require(Lines(json: Data($0.utf8))) }
        #expect((lines[0] == lines[1]) == areEqual)
        #expect(lines[0].places(differingFrom: lines[1]).isEmpty == areEqual)
    }

    @Test("Two values have the same lines only if they are the same JSON, whatever their names")
    func random() {
        var random = SeededGenerator(seed: 7)
        let names = ["a", "b", "a.b", "a[0]", "[0]", "", "0", "%2E", "a@b", "\"\""]
        func value(_ depth: Int) -> JSONValue {
            switch Int.random(in: 0..<(depth > 2 ? 3 : 6), using: &random) {
            case 0: JSONValue(Int.random(in: 0...1, using: &random))
            case 1: .init(["", "1", "a"].randomElement(using: &random) ?? "")
            case 2: nil
            case 3: JSONValue((0..<Int.random(in: 0...2, using: &random)).map { _ in value(depth + 1) })
            default:
                JSONValue(
                    Dictionary(
                        (0..<Int.random(in: 0...2, using: &random)).map { _ in
                            (names.randomElement(using: &random) ?? "", value(depth + 1))
                        }, uniquingKeysWith: { $1 }))
            }
        }
        var seen: [JSONValue: Lines] = [:]
        for _ in 0..<rounds(300) {
            let one = value(0)
            seen[one] = Lines(json: Data(one.description.utf8))
        }
        let all = Array(seen)
        for (index, one) in all.enumerated() {
            for other in all[(index + 1)...] where one.value.places(differingFrom: other.value).isEmpty || one.value == other.value {
                Issue.record("\(one.key) and \(other.key) have the same lines")
            }
        }
        #expect(all.count > 50)
    }

    @Test(
        "Lines contain a part of JSON: members that are there, and lists of the same length whose elements are contained in order",
        arguments: [
            ("{}", true), ("[]", false), (#"{"list":[{"id":1},{"id":2}]}"#, true), (#"{"list":[{"id":1}]}"#, false),
            (#"{"list":[{"id":2},{"id":1}]}"#, false), (#"{"list":[{},{}]}"#, true), (#"{"list":[]}"#, false), (#"{"none":null}"#, false),
            (#"{"user":{}}"#, true), (#"{"user":[]}"#, false), (#"{"user":{"name":"a"}}"#, true), (#"{"user":{"name":"b"}}"#, false),
        ])
    func part(part: String, isContained: Bool) throws {
        let whole = body(#"{"list":[{"id":1,"x":1},{"id":2}],"user":{"name":"a","age":null}}"#)
        let lines = try #require(Lines(json: Data(part.utf8)))
        #expect(whole.contains(lines) == isContained)
        #expect(lines.places(differingFrom: whole, isSubset: true).isEmpty == isContained)
    }

    @Test(
        "The places that differ are in order, and an object, an array or their length is one if nothing within it says more",
        arguments: [
            (#"{"b":1,"a":1,"c":1}"#, #"{"b":2,"c":1}"#, ["a", "b"]), ("[1]", "[1,2]", ["[1]"]), ("[1]", "{}", [""]), ("1", "2", [""]),
            (#"{"a":{"b":{"c":1}}}"#, #"{"a":{}}"#, ["a.b"]), (#"{"a":{"b":1},"ab":1}"#, #"{"a":[1]}"#, ["a", "ab"]),
            (#"{"l":[0,0,0,0,0,0,0,0,0,0,0]}"#, #"{"l":[0,0,1,0,0,0,0,0,0,0,1]}"#, ["l[2]", "l[10]"]),
        ])
    func places(one: String, other: String, places: [String]) {
        #expect(body(one).places(differingFrom: body(other)) == places)
    }

    @Test(
        "A bare name stands for each value of that name, and the own name of a line for that line",
        arguments: [
            ("id", ["body.items[0].id", "body.id", "body.id.of", "query id", "cookie id", "header id"]),
            ("items[].id", ["body.items[0].id"]), ("body.items[].id", ["body.items[0].id"]), ("body.id", ["body.id", "body.id.of"]),
            ("path 2", ["path 2"]), ("2", []), ("path", ["body.path"]), ("query id", ["query id"]), ("query", ["body.query"]),
            ("method", ["body.method"]), ("host", []), ("filename", ["body.photo.filename"]), ("photo.filename", ["body.photo.filename"]),
            ("photo", ["body.photo", "body.photo.filename"]), ("a.b", ["body.a%2Eb"]), ("user[name]", ["query user[name]"]), ("item", []),
            ("kind", ["body.x@kind"]), ("X-Device", ["header x-device"]), ("header X-Device", ["header x-device"]),
        ])
    func names(name: String, places: [String]) {
        let all = [
            "body.a%2Eb", "body.id", "body.id.of", "body.items[0].id", "body.method", "body.path", "body.photo", "body.photo.filename",
            "body.query", "body.x@kind", "cookie id", "header id", "header x-device", "host", "method", "path 1", "path 2", "query id",
            "query user[name]",
        ]
        #expect(Set(all.filter { $0.isPlace(named: name) }) == Set(places))
    }

    @Test(
        "A value knows its bytes in the body",
        arguments: [
            (#"{"é":[12,"b"]}"#, "application/json", ["é[0]": "12", "é[1]": #""b""#]), ("é=1&b=x%20y", "", ["é": "1", "b": "x%20y"]),
            ("\u{FEFF}[7]", "application/json", ["[0]": "7"]), ("text", "text/plain", ["": "text"]),
            (
                "--x\r\nContent-Disposition: form-data; name=a\r\nContent-Type: application/json\r\n\r\n{\"b\":\"c\"}\r\n--x--",
                "multipart/form-data; boundary=x", ["a.b": #""c""#]
            ),
        ])
    func ranges(body text: String, type: String, bytes: [String: String]) {
        let lines = body(text, type)
        for (place, expected) in bytes {
            let range = lines.values[place]?.first?.range
            #expect(range.map { String(decoding: Array(text.utf8)[$0], as: UTF8.self) } == expected)
        }
    }

    @Test("XML that grows, asks for a file or nests deeply is text, and takes no time")
    func hostileXML() {
        let entities = (1...30).map { #"<!ENTITY e\#($0) "&e\#($0 - 1);&e\#($0 - 1);">"# }.joined()
        let bodies = [
            #"<!DOCTYPE a [<!ENTITY e0 "x">\#(entities)]><a>&e30;</a>"#, #"<!DOCTYPE a [<!ENTITY e SYSTEM "/etc/passwd">]><a>&e;</a>"#,
            String(repeating: "<a>", count: 50_000) + String(repeating: "</a>", count: 50_000),
        ]
        for text in bodies {
            #expect(cpuSeconds { _ = body(text, "text/xml") } < 1)
            #expect(Array(body(text, "text/xml").values.keys) == [""])
        }
    }

    @Test("Eight times as much text takes about eight times as long", .longComputing, arguments: costTexts.keys.sorted())
    func linear(kind: String) throws {
        let text = try #require(costTexts[kind])
        #expect(isLinear(4_000) { cpuSeconds(text, $0) { _ = Lines(body: $0, type: "") } })
    }
}
