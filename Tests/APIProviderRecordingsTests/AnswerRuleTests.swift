import APIProvider
import APIProviderMocks
import Foundation
import TestSupport
import Testing

@testable import APIProviderRecordings

/// A replay never answers wrong data with success.
@Suite("The data of an answer", tenMinutes)
struct AnswerRuleTests {
    private let folder = TemporaryFolder()

    private static let short = ["1", "true", "abc", "4711"]
    private static let long = [
        "aB3cD4eF5gH6iJ7kL8", "47110011", "550e8400-e29b-41d4-a716-446655440000", "ghp_16C7e42F292c6912E7710c838347Ae178B4a",
        jwt(#"{"sub":"7"}"#),
    ]

    /// A request with the value as a secret. `§` stands for the value.
    private static let requests: [(name: String, headers: [String: String], query: String, body: String)] = [
        ("cookie", ["Cookie": "a=§; b=x"], "", ""), ("bearer", ["Authorization": "Bearer §"], "", ""),
        ("basic", ["Authorization": "Basic"], "", ""), ("query", [:], "?token=§&page=1", ""),
        ("header", ["X-Api-Key": "§"], "", ""),
        ("json", ["Content-Type": "application/json"], "", #"{"a":1,"token":"§","pin":"§"}"#),
        ("form", ["Content-Type": "application/x-www-form-urlencoded"], "", "a=1&token=§&pin=§"),
        ("text", ["Content-Type": "text/plain"], "", "token: § pin=§"),
    ]

    private static let answers: [(type: String, body: String)] = [
        ("application/json", #"{"a":1,"b":"§","token":"§","count":10,"of":[1,11,true],"cookie":"a=§","session":{"id":"§"}}"#),
        ("application/json", #"{"a":§,"token":§,"pin":§,"n":10000000}"#),
        ("application/x-www-form-urlencoded", "a=§&token=§&pin=§&x=1"), ("text/plain", "a=§, token: §, pin=§ and 1 of 11. Bearer §"),
        ("text/html", #"<p a="§">1</p><input name="token" value="§"><pin>§</pin>"#),
        ("text/event-stream", "data: {\"a\":1,\"token\":\"§\"}\n\n"),
    ]

    private static let answerHeaders = [
        ("Set-Cookie", "a=§; Path=/1; Max-Age=1, session=§"), ("X-Token", "§"), ("Location", "/1?token=§&a=1"), ("X-Count", "1"),
    ]

    private func written(_ text: String, _ value: String) -> String { text.replacingOccurrences(of: "§", with: value) }

    private func headers(_ name: String, _ headers: [String: String], _ value: String) -> [String: String] {
        let basic = ["Authorization": "Basic \(Data("me:\(value)".utf8).base64EncodedString())"]
        return name == "basic" ? basic : headers.mapValues { written($0, value) }
    }

    /// The answer's body, and its headers that may have a secret.
    private func answer(
        _ provider: DefaultAPIProvider, _ path: String, _ headers: [String: String], _ body: String
    ) async throws -> [String] {
        let data = body.isEmpty ? nil : Data(body.utf8)
        let response = try await provider.request(
            anyRequest(body.isEmpty ? .get : .post, "https://a.example\(path)", headers: headers, body: data)
        ).value
        return [String(decoding: response.data, as: UTF8.self)] + Self.answerHeaders.map { response.headers[$0.0] ?? "" }
    }

    @Test(
        "The file of another program answers with the data that it holds, whatever the client sends", .longComputing,
        arguments: short + long)
    func foreign(value: String) async throws {
        let file = folder.url("session.har")
        func list(_ headers: [(String, String)]) -> [[String: String]] { headers.map { ["name": $0.0, "value": $0.1] } }
        for (index, (name, sent, query, body)) in Self.requests.enumerated() {
            // By day, each request with one answer: another with each value.
            let day = Self.answers[(index + value.utf8.count) % Self.answers.count]
            for (type, text) in isNight ? Self.answers : [day] {
                let recorded = headers(name, sent, value), answered = written(text, value)
                let saved = Self.answerHeaders.map { ($0.0, written($0.1, value)) } + [("Content-Type", type)]
                var request: [String: Any] = [
                    "method": body.isEmpty ? "GET" : "POST", "url": "https://a.example/x\(written(query, value))",
                    "headers": list(recorded.map { ($0.key, $0.value) }),
                ]
                if !body.isEmpty { request["postData"] = ["mimeType": recorded["Content-Type"] ?? "", "text": written(body, value)] }
                let response: [String: Any] = ["status": 200, "headers": list(saved), "content": ["mimeType": type, "text": answered]]
                let log = ["log": ["entries": [["request": request, "response": response]]]]
                try JSONSerialization.data(withJSONObject: log).write(to: file)
                for other in [value, "another", "9", nil] {
                    // Only a cookie and a header may be missing.
                    if other == nil, !query.isEmpty || !body.isEmpty { continue }
                    let found = try await MockURLProtocol.withScope {
                        try MockURLProtocol.replay(contentsOf: file)
                        let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
                        do {
                            return try await answer(
                                provider, "/x\(written(query, other ?? ""))", other.map { headers(name, sent, $0) } ?? [:],
                                written(body, other ?? ""))
                        } catch {
                            // A short text within a text matches nothing.
                            #expect(name == "text" && Self.short.contains(value), "\(name), \(value) as \(other ?? "nothing"): \(error)")
                            return []
                        }
                    }
                    #expect(found.isEmpty || found == [answered] + saved.dropLast().map(\.1), "\(name), \(value) as \(other ?? "nothing")")
                }
            }
        }
    }

    @Test(
        "A recording answers with the recorded data and, in place of a secret, with its placeholder or what the client sends",
        .longComputing, arguments: isNight ? short + long.dropLast() : ["1", "abc", long[0]])
    func own(value: String) async throws {
        for (index, (name, sent, query, body)) in Self.requests.enumerated() {
            // A recording takes long, so not each with each.
            let (type, text) = Self.answers[(index + value.utf8.count) % Self.answers.count]
            let test = RecordedTest()
            let saved = Self.answerHeaders.map { ($0.0, written($0.1, value)) } + [("Content-Type", type)]
            let server = answering(headers: HTTPHeaders(saved.map { (key: $0.0, value: $0.1) })) { _ in Data(written(text, value).utf8)
            }
            @Sendable func ask(_ provider: DefaultAPIProvider, _ text: String?) async throws -> [String] {
                try await answer(
                    provider, "/x\(written(query, text ?? ""))", text.map { headers(name, sent, $0) } ?? [:], written(body, text ?? ""))
            }
            do { _ = try await test.run(.record, from: server) { try await ask($0, value) } } catch {
                #expect("\(error)".contains("was not written") && Self.short.contains(value), "\(name), \(value): \(error)")
                continue
            }
            let log = try OpenedFile(test.file).log, placeholders = try #require(log["_placeholders"] as? [String: String]).keys
            for other in [value, "another-Text-7", "9"] + (name == "cookie" ? [nil] : []) {
                let found: [String]
                do { found = try await test.run(.replay) { try await ask($0, other) } } catch {
                    #expect(name == "text" && Self.short.contains(value), "\(name), \(value) as \(other ?? "nothing"): \(error)")
                    continue
                }
                let texts = ([value] + placeholders + (other.map { [$0] } ?? [])).map(NSRegularExpression.escapedPattern)
                for (template, found) in zip([text] + Self.answerHeaders.map(\.1), found) {
                    let pattern = template.components(separatedBy: "§").map(NSRegularExpression.escapedPattern).joined(
                        separator: "(?:\(texts.joined(separator: "|")))")
                    let isAllowed = found.range(of: "^\(pattern)$", options: .regularExpression) != nil
                    #expect(isAllowed, "\(name), \(value) as \(other ?? "nothing"): \(found)")
                }
                if value == Self.long[0], let other { #expect(found[0] == written(text, other), "\(name), \(other)") }
            }
        }
    }

    // MARK: - What an app sends back

    /// The answers of another program's file to these requests, or "red".
    private func answers(_ entries: [(url: String, cookie: String, answer: String)], to sent: [(url: String, cookie: String)]) async throws
        -> [String]
    {
        let file = folder.url("session.har")
        let saved = entries.map { url, cookie, answer -> [String: Any] in
            let headers = [["name": "Cookie", "value": cookie]].filter { _ in !cookie.isEmpty }
            return [
                "request": ["method": "GET", "url": "https://a.example\(url)", "headers": headers],
                "response": ["status": 200, "content": ["text": answer]],
            ]
        }
        try JSONSerialization.data(withJSONObject: ["log": ["entries": saved]]).write(to: file)
        return try await MockURLProtocol.withScope {
            try MockURLProtocol.replay(contentsOf: file)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            var found: [String] = []
            for (url, cookie) in sent {
                do {
                    found.append(try await provider.text(.get, url, headers: cookie.isEmpty ? [:] : ["Cookie": cookie]))
                } catch {
                    let secrets = (entries.map(\.cookie) + [cookie]).map { $0.dropFirst(4) }
                    #expect(!secrets.contains { !$0.isEmpty && "\(error)".contains($0) }, "\(error)")
                    found.append("red")
                }
            }
            return found
        }
    }

    @Test(
        "An app that sends the recorded secret gets the answer to it",
        arguments: [("abc", "def"), ("aB3cD4eF5gH6iJ7kL8", "zY9xW8vU7tS6rQ5pO4")])
    func recorded(ann: String, bob: String) async throws {
        let cookies = [("/me", "sid=\(ann)", "Ann"), ("/me", "sid=\(bob)", "Bob")]
        let both = [("/me", "sid=\(bob)"), ("/me", "sid=\(ann)")]
        #expect(try await answers(cookies, to: both + both) == ["Bob", "Ann", "Bob", "Ann"])
        #expect(try await answers(cookies, to: [("/me", "sid=one-text"), ("/me", "sid=another-text")]) == ["Ann", "Bob"])
        let queries = [("/me?token=\(ann)", "", "Ann"), ("/me?token=\(bob)", "", "Bob")]
        let sent = [("/me?token=\(bob)", ""), ("/me?token=\(ann)", "")]
        #expect(try await answers(queries, to: sent + sent) == ["Bob", "Ann", "Bob", "Ann"])
    }

    @Test("An app may go on with a secret from an answer of another program's file, and with no third text")
    func fromAnswer() async throws {
        let secret = "aB3cD4eF5gH6iJ7kL8"
        let entries = [
            ("/1", "sid=\(secret)", "{\"id\":\"\(secret)\"}"), ("/2", "sid=\(secret)", "two"),
            ("/users/\(secret)", "sid=\(secret)", "three"),
        ]
        for own in [secret, "mine-1234", "mine", ""] {
            let first = own.isEmpty ? "" : "sid=\(own)"
            let found = try await answers(
                entries, to: [("/1", first), ("/2", "sid=\(secret)"), ("/users/\(secret)", "sid=\(secret)"), ("/2", "sid=third-text")])
            #expect(found == [entries[0].2, "two", "three", "red"], "\(own)")
        }
    }

    @Test("A picture comes byte for byte, also with the text of a placeholder")
    func picture() async throws {
        let test = RecordedTest()
        let data = Data([0x89, 0x50, 0x4E, 0x47, 0xFF, 0xFE]) + Data("token-001".utf8)
        for mode in [Recording.Mode.record, .replay] {
            let answer = try await test.run(mode, from: answering(headers: ["Content-Type": "image/png"]) { _ in data }) {
                try await $0.request(anyRequest(.get, "https://a.example/x?token=aB3cD4eF5gH6")).value.data
            }
            #expect(answer == data)
        }
    }

    @Test("An app may send back the cookie that an answer of a recording sets", arguments: short + long.dropLast())
    func setCookie(value: String) async throws {
        let test = RecordedTest()
        let server = answering(headers: ["Set-Cookie": "a=\(value); Path=/"]) { _ in Data("[]".utf8) }
        for (mode, first) in [(Recording.Mode.record, value), (.replay, value), (.replay, "another-Text-7"), (.replay, "9")] {
            try await test.run(mode, from: server) { provider in
                var cookie = "a=\(first)"
                for path in ["/1", "/2", "/3"] {
                    let request = try anyRequest(.get, "https://a.example\(path)", headers: ["Cookie": cookie])
                    let set = try await provider.request(request).value.headers["Set-Cookie"]
                    cookie = "\(set?.prefix { $0 != ";" } ?? "")"
                }
            }
        }
    }
}
