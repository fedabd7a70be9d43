import APIProvider
import Foundation
import GitHubAPI
import Testing

@testable import github_demo

@Suite("The output of github-demo")
struct OutputTests {
    private static let limit = ["X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "1700000001"]
    private let table = Table([["NAME", "STARS", "WORDS"], ["한글", "1", "가나다라마바사"], ["nap", "20", ""]], hasHeader: true)

    @Test(
        "An error is a sentence for people, in GitHub's words if it sends any, and what they can do",
        arguments: [
            (404, [:], #"{"message":"Not Found"}"#, "This was not found."),
            (401, [:], #"{"message":"Bad credentials"}"#, "Bad credentials. Sign in again."),
            (403, [:], #"{"message":"Not for you\u009b2J"}"#, "Not for you 2J."),
            (502, [:], "<p>\u{9B}x", "The server has a problem. Try again later."),
            (403, limit, "{}", "GitHub answers no more requests now. Try again at 2023-11-14T22:13:21Z."),
        ] as [(Int, [String: String], String, String)])
    func refusal(status: Int, headers: [String: String], body: String, sentence: String) {
        #expect(sentenceOf(status, headers, body) == sentence)
    }

    @Test("Any number for the time of a rate limit makes a sentence", arguments: ["9223372036854775807", "-9223372036854775808"])
    func anyTime(reset: String) {
        #expect(sentenceOf(429, Self.limit.merging(["X-RateLimit-Reset": reset]) { $1 }, "").contains("Try again at "))
    }

    private func sentenceOf(_ status: Int, _ headers: [String: String], _ body: String) -> String {
        let request = PreparedRequest(.get, GitHub.apiURL)
        let response = APIResponse(to: request, statusCode: status, headers: HTTPHeaders(headers), data: Data(body.utf8))
        let endpoint = UserRequest(login: "octocat").endpoint.option(\.errorMessage, GitHub.errorMessage)
        do { return "\(try endpoint.value(of: response))" } catch { return error.sentence }
    }

    @Test("A table's columns are aligned, without spaces at the end")
    func aligned() {
        #expect(table.text(width: nil, bold: { $0 }) == "NAME  STARS  WORDS\n한글    1      가나다라마바사\nnap   20")
    }

    @Test("In a terminal, a long line ends with an ellipsis, and the header is bold")
    func cut() {
        #expect(table.text(width: 7, bold: { "<\($0)>" }) == "<NAME  …>\n한글    …\nnap   …")
    }

    @Test("A server's text can neither steer the terminal nor reverse the text")
    func printable() {
        #expect("a\u{1B}[2Jb\nc\u{9B}d\u{2028}e\u{202E}f".printable == "a [2Jb c d e f")
        #expect("👩‍👩‍👧 한글".printable == "👩‍👩‍👧 한글")
    }
}
