import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Default headers")
struct DefaultHeadersMiddlewareTests {
    private func sent(_ headers: HTTPHeaders, by defaults: HTTPHeaders) async throws -> HTTPHeaders {
        let answers = Answers(.status(200))
        _ = try await DefaultHeadersMiddleware(defaults).intercept(PreparedRequest("GET", headers: headers), next: answers.next).value
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
            (.authorization(username: "a:b", password: ""), "has a colon"),
        ] as [(HTTPHeaders, String)])
    func invalid(headers: HTTPHeaders, word: String) async throws {
        let error = try await #require(throws: APIError.self) { try await sent([:], by: headers) }
        #expect(error.description.contains(word))
    }
}
