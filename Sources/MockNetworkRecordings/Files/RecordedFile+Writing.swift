import APIProvider
import Foundation

// The members that HAR 1.2 requires. The format lets programs add names that begin with an underscore.
private struct WrittenEntry: Encodable {
    struct Field: Encodable { let name: String, value: String }

    struct Request: Encodable {
        let method: String
        let url: String
        let httpVersion = "unknown"
        let cookies: [Field] = []
        let headers: [Field]
        let queryString: [Field]
        let postData: PostData?
        let headersSize = -1
        let bodySize: Int
    }

    struct PostData: Encodable {
        let mimeType: String
        let text: String
        /// `base64` if the body is not text.
        let _encoding: String?
    }

    struct Response: Encodable {
        let status: Int
        let statusText: String
        let httpVersion = "unknown"
        let cookies: [Field] = []
        let headers: [Field]
        let content: Content
        let redirectURL: String
        let headersSize = -1
        let bodySize = -1
        /// The reason why there is no response, or why it broke off. Chrome uses this name, too.
        let _error: String?
    }

    struct Content: Encodable {
        var size = 0
        var mimeType = ""
        var text: String?
        var encoding: String?
        /// When each line of a stream came, in milliseconds since the head.
        var _times: [Double]?
    }

    struct Timings: Encodable {
        let send = 0
        let wait: Double
        let receive = 0
    }

    struct Cache: Encodable {}

    let startedDateTime: String
    let time: Double
    let request: Request
    let response: Response
    let cache = Cache()
    let timings: Timings

    // MARK: - An entry

    init(_ exchange: RecordedExchange) {
        startedDateTime = exchange.started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))
        time = (exchange.duration * 1000).rounded()
        timings = Timings(wait: time)
        let sent = exchange.body ?? []
        let (text, encoding) = sent.harText
        request = Request(
            method: exchange.method, url: exchange.url, headers: exchange.headers.map { Field(name: $0.name, value: $0.value) },
            queryString: (URLComponents(string: exchange.url)?.queryItems ?? []).map { Field(name: $0.name, value: $0.value ?? "") },
            postData: sent.isEmpty ? nil : PostData(mimeType: exchange.type, text: text, _encoding: encoding), bodySize: sent.count)
        guard let answer = exchange.response else {
            response = Response(
                status: 0, statusText: "", headers: [], content: Content(mimeType: "x-unknown", text: ""), redirectURL: "",
                _error: exchange.failure ?? RecordedExchange.abandoned)
            return
        }
        let (content, contentEncoding) = answer.body.harText
        response = Response(
            status: answer.status, statusText: HTTPStatus.reasonPhrases[answer.status] ?? "",
            headers: answer.headers.map { Field(name: $0.name, value: $0.value) },
            content: Content(
                size: answer.body.count, mimeType: answer.value(of: "Content-Type") ?? "", text: content, encoding: contentEncoding,
                _times: answer.times),
            redirectURL: answer.value(of: "Location") ?? "", _error: exchange.failure)
    }
}

extension [UInt8] {
    /// The body as a HAR file has it.
    fileprivate var harText: (text: String, encoding: String?) {
        isUTF8 ? (String(decoding: self, as: UTF8.self), nil) : (Data(self).base64EncodedString(), "base64")
    }
}

// MARK: - The file

extension RecordedFile {
    /// The content of a file with these exchanges, whose secrets are replaced, in the order in which they began.
    static func content(of exchanges: [RecordedExchange], _ secrets: [Secret], test: String?) throws -> Data {
        struct Head: Encodable {
            let _names: [String: String]
            let _test: String?
            let creator = ["name": "APIProviderMocks", "version": "1.0"]
            let version = "1.2"
        }
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.sortedKeys, .withoutEscapingSlashes]
        let names = Dictionary(secrets.map { ($0.placeholder, $0.origin.rawValue) }) { $1 }
        var data = Data(#"{"log":"#.utf8) + (try encoder.encode(Head(_names: names, _test: test))).dropLast() + Data(#","entries":["#.utf8)
        encoder.outputFormatting.insert(.prettyPrinted)
        var latest = Date.distantPast
        for (index, var exchange) in exchanges.enumerated() {
            // Entries answer in the order of their times, and a clock may go back.
            latest = max(latest, exchange.started)
            exchange.started = latest
            data += Data((index == 0 ? "\n" : ",\n").utf8)
            data += try encoder.encode(WrittenEntry(exchange))
        }
        return data + Data("\n]}}\n".utf8)
    }
}
