import APIProvider
import Foundation

@testable import APIProviderRecordings

/// An exchange with a response in JSON.
func exchange(
    _ method: String = "GET", _ url: String = "https://a.example/", headers: HTTPHeaders = [:], body: String = "", answer: String = "{}",
    type: String = "application/json", responseHeaders: HTTPHeaders = [:], status: Int = 200, at time: Int = 0
) -> RecordedExchange {
    var exchange = RecordedExchange(method: method, url: url)
    // A whole second: its milliseconds might be a secret of three digits.
    exchange.started = Date(timeIntervalSince1970: Date().timeIntervalSince1970.rounded(.down))
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
    init(_ exchanges: [RecordedExchange], _ options: RecordingOptions = RecordingOptions(), environment: [String: String] = [:]) {
        self.init(exchanges, options, environment: environment, test: "Tests.swift session", name: "session.har")
    }

    /// All that stands in the file.
    var text: String { String(decoding: file.data, as: UTF8.self) }

    func answer(_ index: Int = 0) -> String { String(decoding: replacer.exchanges[index].response?.body ?? Data(), as: UTF8.self) }

    func body(_ index: Int = 0) -> String { String(decoding: replacer.exchanges[index].body, as: UTF8.self) }
}

/// A JWT without a valid signature.
func jwt(_ claims: String, _ signature: String = "c2lnbmF0dXJlMTIz") -> String {
    [#"{"alg":"HS256"}"#, claims].map { Data($0.utf8).base64URL }.joined(separator: ".") + "." + signature
}

extension String {
    /// The ways in which servers and apps write it: as it is, in URLs, forms, JSON and HTML, and each of these within another.
    var spellings: [String] {
        func percent(_ text: String, but marks: String) -> String {
            text.addingPercentEncoding(withAllowedCharacters: CharacterSet(charactersIn: marks).union(.alphanumerics)) ?? text
        }
        func entities(_ text: String, of marks: String? = nil, _ write: (Unicode.Scalar) -> String) -> String {
            text.unicodeScalars.map { scalar in
                let isEscaped = marks.map { $0.unicodeScalars.contains(scalar) } ?? !CharacterSet.alphanumerics.contains(scalar)
                return isEscaped ? write(scalar) : "\(scalar)"
            }.joined()
        }
        let hexadecimal: (Unicode.Scalar) -> String = { "&#x\(String($0.value, radix: 16, uppercase: true));" }
        let escapes: [(String) -> String] = [
            { $0.escapedAsValue }, { $0.escapedAsValue.replacingOccurrences(of: "%20", with: "+") },
            { $0.escapedAsValue.replacingOccurrences(of: "%2F", with: "%2f").replacingOccurrences(of: "%2B", with: "%2b") },
            // As URLComponents writes an item, as many apps write a query, and a segment of a path.
            { percent($0, but: "!$'()*,/:;?@-._~") }, { percent($0, but: "!$&'()*,/:;=?@-._~") }, { percent($0, but: "!$&'()*+,:;=@-._~") },
            { $0.escapedInJSON }, { $0.escapedInJSON.replacingOccurrences(of: "/", with: "\\/") },
            { text in
                text.escapedInJSON.unicodeScalars.map { scalar in
                    scalar.isASCII ? "\(scalar)" : "\(scalar)".utf16.map { String(format: "\\u%04x", $0) }.joined()
                }.joined()
            },
            // As Rails, Go, and Mustache write HTML.
            { $0.escapedAsHTML }, { entities($0, of: "+&<>\"'") { "&#\($0.value);" } }, { entities($0, of: "=/&<>\"'`", hexadecimal) },
            { entities($0) { "&#\($0.value);" } }, { entities($0, hexadecimal) },
        ]
        let once = [self] + escapes.map { $0(self) }
        return Set((once + once.flatMap { text in escapes.map { $0(text) } }).map { Array($0.utf8) }).map {
            String(decoding: $0, as: UTF8.self)
        }
    }
}
