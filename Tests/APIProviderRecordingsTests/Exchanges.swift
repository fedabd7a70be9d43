import APIProvider
import Foundation

@testable import APIProviderRecordings

/// An exchange with a response in JSON.
func exchange(
    _ method: String = "GET", _ url: String = "https://a.example/", headers: HTTPHeaders = [:], body: String = "", answer: String = "{}",
    type: String = "application/json", responseHeaders: HTTPHeaders = [:], status: Int = 200, at time: Int = 0
) -> RecordedExchange {
    var exchange = RecordedExchange(method: method, url: url)
    exchange.headers = headers
    exchange.body = Data(body.utf8)
    exchange.response = .init(
        statusCode: status, headers: HTTPHeaders([(key: "Content-Type", value: type)]).merging(responseHeaders), body: Data(answer.utf8))
    exchange.order = (2 * time, 2 * time + 1)
    return exchange
}

/// A request with JSON.
func sending(_ json: String, to url: String = "https://a.example/", headers: HTTPHeaders = [:], answer: String = "{}", at time: Int = 0)
    -> RecordedExchange
{
    exchange(
        "POST", url, headers: HTTPHeaders([(key: "Content-Type", value: "application/json")]).merging(headers), body: json, answer: answer,
        at: time)
}

extension NewRecording {
    init(_ exchanges: [RecordedExchange], _ comparison: Comparison = Comparison(), environment: [String: String] = [:]) {
        self.init(exchanges, comparison, environment: environment, test: "Tests.swift session", name: "session.har")
    }

    /// All that stands in the file.
    var text: String { (try? file.data).map { String(decoding: $0, as: UTF8.self) } ?? "" }

    func answer(_ index: Int = 0) -> String { String(decoding: replacer.exchanges[index].response?.body ?? Data(), as: UTF8.self) }

    func body(_ index: Int = 0) -> String { String(decoding: replacer.exchanges[index].body, as: UTF8.self) }
}

/// A JWT without a valid signature.
func jwt(_ claims: String, _ signature: String = "c2lnbmF0dXJlMTIz") -> String {
    [#"{"alg":"HS256"}"#, claims].map { Data($0.utf8).base64URL }.joined(separator: ".") + "." + signature
}
