import APIProvider
import Foundation
import TestSupport
import Testing

@Suite("The query of a request")
struct QueryOfRequestTests {
    private func changed(_ url: String, _ change: (inout QueryParameters) -> Void) -> String {
        var request = PreparedRequest("GET", "https://api.example.com\(url)")
        change(&request.query)
        return String(request.url.absoluteString.dropFirst("https://api.example.com".count))
    }

    @Test(
        "What is added is escaped as an endpoint's query, and all else keeps its bytes",
        arguments: [
            ("/a", "/a?k=C%2B%2B%20%26"), ("/a?", "/a?k=C%2B%2B%20%26"), ("/a?b=1#f", "/a?b=1&k=C%2B%2B%20%26"),
            ("/a?q=C%2B%2B+%2f&sig=aB%2fc==&x&y=&&z", "/a?q=C%2B%2B+%2f&sig=aB%2fc==&x&y=&&z&k=C%2B%2B%20%26"),
            ("/a%2Fb/?b=%C3%A9", "/a%2Fb/?b=%C3%A9&k=C%2B%2B%20%26"),
        ])
    func adding(url: String, expected: String) {
        #expect(changed(url) { $0.append("k", "C++ &") } == expected)
    }

    @Test("An item is read, replaced and removed, and the others keep their bytes and their order")
    func changing() {
        let url = "/a?q=C%2b%2B+x&page=1&sig=%2f&page=2"
        let query = PreparedRequest("GET", "https://h\(url)").query
        #expect(query.map { [$0.name, $0.value] } == [["q", "C++ x"], ["page", "1"], ["sig", "/"], ["page", "2"]])
        #expect(changed(url) { $0["page"] = 3 } == "/a?q=C%2b%2B+x&page=3&sig=%2f")
        #expect(changed(url) { $0["page"] = nil } == "/a?q=C%2b%2B+x&sig=%2f")
        #expect(changed(url) { $0["q"] = "a b" } == "/a?q=a%20b&page=1&sig=%2f&page=2")
        #expect(changed(url) { $0 = ["sig": "/"] } == "/a?sig=%2f")
        // Both are "é" for Swift, and not the same bytes.
        #expect(changed("/a?q=e%CC%81") { $0["q"] = "\u{E9}" } == "/a?q=%C3%A9")
        #expect(changed(url) { $0 = [:] } == "/a")
        #expect(changed(url) { $0 = ["z": 1] + $0 } == "/a?z=1&q=C%2b%2B+x&page=1&sig=%2f&page=2")
    }

    @Test("A query that is set to itself leaves the URL as it is", arguments: ["/a?", "/a?&", "/a?a==&=b&%zz", "/?#?a=b", "/a?q=a+b%20c"])
    func unchanged(url: String) {
        let request = PreparedRequest("GET", "https://api.example.com\(url)")
        var same = request
        same.query = QueryParameters(Array(request.query))
        #expect(same.url.absoluteString == request.url.absoluteString)
    }

    @Test("The two normal forms of a name are two names, also for the parameters that a middleware adds")
    func normalForms() async throws {
        var query: QueryParameters = ["caf\u{E9}": 1]
        query["cafe\u{301}"] = 2
        query["caf\u{E9}"] = 3
        #expect(query.map(\.value) == ["3", "2"])
        var infinite: QueryParameters = ["caf\u{E9}": Double.nan]
        infinite["cafe\u{301}"] = 1
        await #expect(throws: APIError.self) {
            try await Answers(.status(200)).provider().request(Endpoint<Void>(.get, "/a", query: infinite)).value
        }
        let answers = Answers(.status(200))
        let provider = answers.provider(DefaultQueryMiddleware(["apiKey": "abc"]))
        _ = try await provider.request(Endpoint<Void>(.get, "/a", query: ["api\u{212A}ey": 1])).value
        #expect(answers.requests.map(\.url.query) == ["api%E2%84%AAey=1&apiKey=abc"])
    }

    @Test("Random items read back as they were set", arguments: RoundTripTests.seeds)
    func random(seed: UInt64) {
        var random = SeededGenerator(seed: seed)
        for _ in 0..<rounds(200) {
            var request = PreparedRequest("GET", "https://api.example.com/a?sig=%2f+")
            let items = (0..<3).map { _ in URLQueryItem(name: random.text(), value: random.text()) }
            request.query = request.query + QueryParameters(items)
            #expect(Array(request.query) == [URLQueryItem(name: "sig", value: "/ ")] + items, "seed \(seed): \(request.url)")
            #expect(request.url.absoluteString.hasPrefix("https://api.example.com/a?sig=%2f+&"))
        }
    }

    @Test("A struct is the parameters of a query: nil is left out, an array repeats its key, and dates are the encoder's")
    func encodable() throws {
        struct Filter: Encodable { let userName: String, labels: [String], page: Int?, ratio: Double, isOpen: Bool, since: Date }
        let filter = Filter(
            userName: "a b", labels: ["x", "y"], page: nil, ratio: 0.5, isOpen: true, since: Date(timeIntervalSince1970: 0))
        let encoder = JSONEncoder()
        (encoder.keyEncodingStrategy, encoder.dateEncodingStrategy) = (.convertToSnakeCase, .iso8601)
        let query = try QueryParameters(encoding: filter, encoder: encoder)
        let items = query.map { "\($0.name)=\($0.value ?? "")" }
        #expect(items == ["is_open=true", "labels=x", "labels=y", "ratio=0.5", "since=1970-01-01T00:00:00Z", "user_name=a b"])
    }

    @Test(
        "Each millisecond of a date stays in a query, a form, a path and the parameters of a struct, before and after 1970",
        .longComputing, arguments: [0, 1_764_000_000, 4_000_000_000, -1, -5_000_000_000] as [TimeInterval])
    func milliseconds(start: TimeInterval) throws {
        struct Filter: Encodable { let since: Date }
        for millisecond in 0..<1_000 {
            let date = Date(timeIntervalSince1970: start + Double(millisecond) / 1_000)
            let text = try #require(QueryParameters(["since": date]).compactMap(\.value).first)
            let style = Date.ISO8601FormatStyle(includingFractionalSeconds: millisecond > 0)
            #expect(try abs(style.parse(text).timeIntervalSince(date)) < 0.000_01, "\(text)")
            // All of them write it alike.
            guard millisecond.isMultiple(of: 37) else { continue }
            #expect(try QueryParameters(encoding: Filter(since: date)) == ["since": text])
            let request = try Endpoint<Void>(.post, "/\(date)", body: .form(["since": date])).preparedRequest(relativeTo: example)
            #expect(
                request.url.lastPathComponent == text
                    && request.bodyData == Data("since=\(text.replacingOccurrences(of: ":", with: "%3A"))".utf8))
        }
    }

    @Test("A date is rounded to milliseconds", arguments: [(0.0004, "00Z"), (0.0006, "00.001Z"), (0.9996, "01Z"), (-0.0004, "00Z")])
    func rounded(time: TimeInterval, ending: String) {
        #expect(Date(timeIntervalSince1970: time).queryValues == ["1970-01-01T00:00:\(ending)"])
    }

    private static let numbers = [
        "0", "-1", "0.1", "-0.30000000000000004", "3.14", "1e-7", "1e20", "9007199254740993", "-9223372036854775808",
        "18446744073709551616",
        "12345678901234567.89", "0.1234567890123456789", "4503599627370496.1", "9007199254740993.5", "18446744073709551615",
        "1.00000000000000000001", "123456789012345678901234567890", "99999999999999999999999999999999999999",
    ]

    @Test("A number of a struct is sent with its digits, or is an error that names its member", arguments: numbers)
    func digits(text: String) throws {
        struct Price: Encodable { let name = "a-name", amount: Decimal }
        struct Offer: Encodable { let price: Price }
        let price = Price(amount: try #require(Decimal(string: text)))
        var sent: [Decimal?] = []
        do {
            let query = try QueryParameters(encoding: price)
            sent.append(Decimal(string: try #require(query["amount"] as? String)))
        } catch let error as EncodingError {
            #expect("\(error)".contains("amount") && !"\(error)".contains("a-name") && text.utf8.count > 16, "\(error)")
        }
        do {
            let value = try JSONValue(encoding: Offer(price: price))
            let body = try JSONDecoder().decode(
                [String: [String: Decimal?]].self,
                from: try JSONEncoder().encode(value["price"].map { ["price": ["amount": $0["amount"]]] }))
            sent.append(body["price"]?["amount"] ?? nil)
        } catch let error as EncodingError {
            #expect("\(error)".contains("price.amount") && !"\(error)".contains("a-name") && text.utf8.count > 16, "\(error)")
        }
        #expect(sent.allSatisfy { $0 == price.amount }, "\(sent)")
    }

    @Test(
        "Each Double is sent as it is",
        arguments: [.pi, 1e300, .leastNonzeroMagnitude, .greatestFiniteMagnitude, 0x1p63, -0.0, 1e22, 1.0 / 3])
    func doubles(number: Double) throws {
        let query = try QueryParameters(encoding: ["a": number])
        #expect((query["a"] as? String).flatMap { Double($0) } == number)
    }

    @Test("No error about a value that cannot be encoded has the value, or one beside it")
    func noValues() throws {
        struct Login: Encodable { let password = "letters", range = ["from": 1], ids: UInt64 = .max, ratio = Double.nan }
        struct Deep: Encodable { let password = "letters", ids: UInt64 = .max }
        func deep(_ levels: Int) -> JSONValue { levels == 0 ? "letters" : ["password": deep(levels - 1)] }
        let works: [() throws -> Void] = [
            { _ = try QueryParameters(encoding: Login()) }, { _ = try QueryParameters(encoding: Deep()) },
            { _ = try QueryParameters(encoding: ["letters"]) }, { _ = try QueryParameters(encoding: ["a": [["letters"]]]) },
            { _ = try JSONValue(encoding: Login()) }, { _ = try JSONValue(encoding: Deep()) }, { _ = try JSONValue(encoding: deep(70)) },
            { _ = try Endpoint<Void>(.post, "/", body: .json(Login())).preparedRequest(relativeTo: example) },
            { _ = try Endpoint<Void>(.post, "/", body: .json(deep(70))).preparedRequest(relativeTo: example) },
        ]
        for work in works {
            let error = try #require(throws: (any Error).self) { try work() }
            var texts = [
                "\(error)", String(reflecting: error), "\(error as NSError)", error.localizedDescription, "\((error as NSError).userInfo)",
            ]
            dump(error, to: &texts[0])
            let underlying = (error as? APIError)?.underlying
            texts += ["\(String(describing: underlying))", String(reflecting: underlying)]
            for text in texts { #expect(!text.contains("letters"), "\(text)") }
        }
    }

    @Test("What is no parameter of a query is an error that names it")
    func notAQuery() throws {
        struct Nested: Encodable { let page = 1, range = ["from": 1] }
        let error = try #require(throws: EncodingError.self) { try QueryParameters(encoding: Nested()) }
        #expect("\(error)".contains("range"))
        #expect(throws: EncodingError.self) { try QueryParameters(encoding: [1, 2]) }
        #expect(throws: EncodingError.self) { try QueryParameters(encoding: ["a": [[1]]]) }
        #expect(try Array(QueryParameters(encoding: [String: Int]())).isEmpty)
    }
}
