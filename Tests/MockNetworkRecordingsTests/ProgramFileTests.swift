import APIProvider
import APIProviderMocks
import Foundation
import TestSupport
import Testing

@testable import MockNetworkRecordings

/// Five entries as each program writes them. `_sends` says what an app sends, where it is not what the entry says, and `_gets` what it gets:
/// a status and a body, or `error` and a part of the error.
@Suite("Files of each program", tenMinutes)
struct ProgramFileTests {
    private struct Entry {
        let started: String
        let method: String
        let url: String
        let headers: [String: String]
        let body: Data?
        let expected: String
        /// The media type of the response as the entry says it.
        let type: String

        init(_ json: [String: Any]) throws {
            let request = try #require(json["request"] as? [String: Any])
            let sent = json["_sends"] as? [String: Any] ?? [:]
            started = try #require(json["startedDateTime"] as? String)
            method = try #require(request["method"] as? String).uppercased()
            url = try #require(sent["url"] as? String ?? request["url"] as? String)
            headers = sent["headers"] as? [String: String] ?? [:]
            body = (sent["body"] as? String).map { Data($0.utf8) }
            expected = try #require(json["_gets"] as? String)
            let content = (json["response"] as? [String: Any])?["content"] as? [String: Any]
            type = content?["mimeType"] as? String ?? ""
        }
    }

    private func outcome(of entry: Entry, _ provider: DefaultAPIProvider) async throws -> String {
        do {
            let request = try anyRequest(HTTPMethod(rawValue: entry.method), entry.url, headers: entry.headers, body: entry.body)
            let response = try await provider.request(request).value
            if !response.data.isEmpty { #expect(response.headers["Content-Type"]?.mediaType == entry.type.mediaType, "\(entry.url)") }
            let text = String(data: response.data, encoding: .utf8)
            let isText = !entry.expected.contains(" base64:")
            return "\(response.statusCode) \(isText ? text ?? "no text" : "base64:\(response.data.base64EncodedString())")"
        } catch { return "error \(error)" }
    }

    @Test(
        "Five entries as the program writes them answer",
        arguments: [
            "chrome", "firefox", "safari", "firebug", "charles", "fiddler", "proxyman", "insomnia", "webpagetest", "chrome-har", "polly",
            "replay", "optic",
        ])
    func entries(of program: String) async throws {
        let file = try #require(Bundle.module.url(forResource: program, withExtension: "har", subdirectory: "HAR/Programs"))
        let text = try String(contentsOf: file, encoding: .utf8).drop { $0 == "\u{FEFF}" }
        let log = try #require((JSONSerialization.jsonObject(with: Data(text.utf8)) as? [String: Any])?["log"] as? [String: Any])
        let entries = try #require(log["entries"] as? [[String: Any]]).map(Entry.init).sorted { $0.started < $1.started }
        #expect(entries.count == 5)
        // In a scope of its own, so that the reports of the entries without a response are no issues of this test.
        try await MockURLProtocol.withScope {
            try MockURLProtocol.replay(contentsOf: file)
            let provider = DefaultAPIProvider(baseURL: example, transport: MockTransport())
            for entry in entries {
                let outcome = try await outcome(of: entry, provider)
                guard entry.expected.hasPrefix("error ") else {
                    #expect(outcome == entry.expected, "\(entry.method) \(entry.url)")
                    continue
                }
                #expect(outcome.hasPrefix("error ") && outcome.contains(entry.expected.dropFirst(6)), "\(entry.url): \(outcome)")
            }
        }
    }
}
