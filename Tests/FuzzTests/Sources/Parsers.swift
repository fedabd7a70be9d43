import Foundation

@testable import APIProvider
@testable import MockNetwork

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Gives the bytes to each parser of untrusted input: JSON, dates, links, cookies and recordings. None may end the process.
func parse(_ bytes: [UInt8], in folder: URL) {
    let (data, text) = (Data(bytes), String(decoding: bytes, as: UTF8.self))
    var tokens = JSONTokens(data)
    while let token = try? tokens.next() { if token.kind == .string || token.kind == .name { _ = tokens.text(of: token) } }
    _ = RecordingRedactor(for: nil).body(data, contentType: "application/json")
    _ = Date(httpDate: text, now: Date())
    _ = SetCookie(text)
    _ = text.setCookies
    if let url = URL(string: "https://api.example.com"),
        let head = HTTPURLResponse(url: url, statusCode: 503, httpVersion: nil, headerFields: ["Link": text, "Retry-After": text])
    {
        let response = APIResponse(request: PreparedRequest(.get, url), httpResponse: head, data: data)
        _ = Redactor().message(of: response)
        _ = try? response.link("next", allowsOtherOrigins: true)
        let retry = RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .never))
        _ = retry.intercept(response.request) { _ in .just(response) }.subscribe { _ in }
    }
    let file = folder.appendingPathComponent("fuzz.har")
    if (try? data.write(to: file)) != nil {
        _ = HAR.slices(of: data)
        _ = (try? HAR.entries(of: file)).map { Recording("fuzz", filePath: file.path).stubs(for: $0) }
    }
}
