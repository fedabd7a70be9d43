import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Default headers")
struct DefaultHeadersMiddlewareTests {
    private func sent(_ request: PreparedRequest, by headers: HTTPHeaders) async throws -> PreparedRequest {
        let answers = Answers(.status(200))
        _ = try await DefaultHeadersMiddleware(headers).intercept(request, next: answers.next).value
        return try #require(answers.requests.first)
    }

    @Test("Each header is set unless the request has it, in any case")
    func unlessSet() async throws {
        let request = PreparedRequest("GET", headers: ["x-trace": "7", "X-Empty": ""])
        let sent = try await sent(request, by: ["X-Trace": "default", "X-Empty": "default", "X-App": "demo"])
        #expect(sent.headers["X-Trace"] == "7")
        #expect(sent.headers["X-Empty"] == "")
        #expect(sent.headers["X-App"] == "demo")
    }

    @Test("A User-Agent is set, unless there is one in any case")
    func userAgent() async throws {
        let text = try #require(try await sent(PreparedRequest("GET"), by: [:]).headers["User-Agent"])
        #expect(text == UserAgent.text(info: Bundle.main.infoDictionary ?? [:], process: .processInfo))
        #expect(try await sent(PreparedRequest("GET"), by: ["user-agent": "mine"]).headers["User-Agent"] == "mine")
        let own = PreparedRequest("GET", headers: ["user-AGENT": "its own"])
        #expect(try await sent(own, by: [:]).headers["User-Agent"] == "its own")
    }

    @Test("A User-Agent has the product, its version and the platform (RFC 9110, section 10.1.5)")
    func userAgentText() throws {
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
            #expect(text.hasPrefix(start + " ("))
            #expect(text.hasSuffix(end))
        }
        let name = try #require(UserAgent.text(info: [:], process: process).split(separator: " ").first)
        #expect(process.processName.hasPrefix(name.prefix { $0 != "-" }))
    }

    @Test(
        "A header that HTTP does not allow makes the request invalid, in the words of the request's own",
        arguments: [
            (["X A": "a"], #"its header name "X A" is not a token (RFC 9110, section 5.6.2)."#),
            (["X-A": "a\r\nX-B: b"], "its header X-A has a control character in its value."),
            (["X-A": "a\0"], "its header X-A has a control character in its value."),
            (
                .authorization(username: "a:b", password: ""),
                "its user name has a colon, which Basic authentication does not allow (RFC 7617, section 2)."
            ),
        ] as [(HTTPHeaders, String)])
    func invalid(headers: HTTPHeaders, reason: String) async throws {
        let error = try await #require(throws: APIError.self) { try await sent(PreparedRequest("GET"), by: headers) }
        #expect(error.description == "The request was not sent: " + reason)
    }

    @Test("Values do not show")
    func redaction() {
        let middleware = DefaultHeadersMiddleware(["Authorization": "s3cret"])
        var dumped = ""
        dump(middleware, to: &dumped)
        for form in ["\(middleware)", String(reflecting: middleware), dumped] { #expect(!form.contains("s3cret"), "\(form)") }
    }
}
