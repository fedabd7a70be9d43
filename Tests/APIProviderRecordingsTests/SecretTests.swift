import APIProvider
import Foundation
import TestSupport
import Testing
@testable import MockNetwork

@testable import APIProviderRecordings

@Suite("Secrets")
struct SecretTests {
    func exchange(_ method: String, _ url: String, _ headers: HTTPHeaders = [:], _ body: String = "", _ answer: String = "{}", type: String = "application/json", at order: Int = 0) -> RecordedExchange {
        var exchange = RecordedExchange(method: method, url: url)
        exchange.headers = headers
        exchange.body = Data(body.utf8)
        exchange.response = .init(statusCode: 200, headers: ["Content-Type": type], body: Data(answer.utf8))
        exchange.order = (2 * order, 2 * order + 1)
        return exchange
    }

    @Test func time() {
        for count in [2000, 10_000] {
            let items = (0..<count).map { #"{"id":\#($0),"name":"repository \#($0)","full_name":"octocat/repository-\#($0)","private":false,"html_url":"https://github.com/octocat/repository-\#($0)","description":"This is your \#($0)th repo!","created_at":"2011-01-26T19:01:12Z","topics":["octocat","atom","electron","api"],"owner":{"login":"octocat","id":\#($0),"avatar_url":"https://github.com/images/error/octocat_happy.gif?v=\#($0)","expires_at":"2011-01-26T19:01:12Z"}}"# }
            let body = "[\(items.joined(separator: ","))]"
            let exchanges = [exchange("GET", "https://a.example/repos", ["Authorization": "Bearer k3y-of-the-first"], "", body)]
            var start = Date()
            let parts = MessagePart.parts(of: exchanges[0], at: 0, isResponse: true)
            print("parts", Date().timeIntervalSince(start)); start = Date()
            var tokens = JSONTokens(Data(parts.last!.bytes)); var k = 0
            while let t = try! tokens.next() { k += t.range.count }
            print("read tokens", k, Date().timeIntervalSince(start)); start = Date()
            tokens = JSONTokens(Data(parts.last!.bytes)); k = 0
            while let t = try! tokens.next() { if t.kind == .string || t.kind == .name { k += tokens.text(of: t).utf8.count } }
            print("read texts", k, Date().timeIntervalSince(start)); start = Date()
            var n = 0
            _ = parts.last!.edits(ValueReader { _ in n += 1; return nil })
            print("read", n, Date().timeIntervalSince(start)); start = Date()
            _ = SecretCheck(["k3y-of-the-first"]).secrets(in: parts.last!.bytes)
            print("check", Date().timeIntervalSince(start)); start = Date()
            let redactor = SecretReplacer(exchanges, SecretNames())
            print("time \(body.utf8.count / 1000) KB: \(Date().timeIntervalSince(start)) s, \(redactor.problems)")
        }
        let links = (0..<10_000).map { "{\"image\":\"https://cdn.example.com/i/\($0).png?sig=ab\($0)cd0\($0)ef\"}" }
        let start = Date()
        let redactor = SecretReplacer([exchange("GET", "https://a.example/repos", [:], "", "[\(links.joined(separator: ","))]")], SecretNames())
        print("links", redactor.secrets.count, redactor.problems, Date().timeIntervalSince(start))
    }
}
