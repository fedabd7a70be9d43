import Foundation

@testable import APIProvider
@testable import APIProviderMocks
@testable import APIProviderRecordings
@testable import APIProviderTransport

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gives the bytes to each parser of untrusted input: JSON, dates, links, cookies and recordings. None may end the process.
func parse(_ bytes: [UInt8], in folder: URL) {
    let (data, text) = (Data(bytes), String(decoding: bytes, as: UTF8.self))
    var tokens = JSONTokens(data)
    while let token = try? tokens.next() { if token.kind == .string || token.kind == .name { _ = tokens.text(of: token) } }
    _ = ReportRedactor.standard.body(BodyLines(data))
    for type in ["", "application/xml", "multipart/form-data; boundary=x"] { _ = Lines(body: data, type: type) }
    _ = Date(httpDate: text, now: Date())
    _ = SetCookie(text)
    if let url = URL(string: "https://api.example.com"),
        let head = HTTPURLResponse(url: url, statusCode: 503, httpVersion: nil, headerFields: ["Link": text, "Retry-After": text])
    {
        let response = APIResponse(request: PreparedRequest(.get, url), httpResponse: head, data: data)
        _ = (APIError.unacceptableStatus(response).description, response.text)
        _ = try? response.link("next", allowsOtherOrigins: true)
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .never))
        _ = retry.intercept(response.request) { _ in .just(response) }.subscribe { _ in }
    }
    if let file = try? HARFile(data, name: "fuzz.har") {
        var replay = Replay(file, RecordingOptions())
        for entry in replay.entries { _ = replay.entry(for: entry.exchange) }
    }
    var exchange = RecordedExchange(method: "POST", url: "https://api.example.com/\(text.escapedAsValue)?\(text)")
    exchange.body = data
    exchange.response = .init(statusCode: 200, headers: ["Set-Cookie": text], body: data)
    _ = NewRecording([exchange], RecordingOptions(), test: "fuzz()", name: "fuzz.har")
}
