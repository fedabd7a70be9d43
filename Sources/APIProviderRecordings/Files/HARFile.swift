import APIProvider
import APIProviderMocks
import Foundation

/// A HAR 1.2 file: http://www.softwareishard.com/blog/har-12-spec/
struct HARFile: Sendable {
    /// A request and the response.
    struct Entry: Sendable {
        var exchange: RecordedExchange
        /// The place, such as `search.har: log.entries[3]`.
        let path: String
        /// The reason why the entry cannot answer, if any.
        var problem: String?
    }

    let data: Data
    /// The recording's test.
    let test: String?
    /// `nil` in another program's file.
    let placeholders: Placeholders?
    let entries: [Entry]
}

// MARK: - Writing

extension HARFile {
    /// - Parameter name: The file name, for messages.
    init(_ exchanges: [RecordedExchange], name: String = "", test: String? = nil, _ placeholders: Placeholders? = nil) {
        entries = exchanges.enumerated().map { Entry(exchange: $1, path: "\(name): log.entries[\($0)]") }
        (self.test, self.placeholders) = (test, placeholders)
        let log: JSONValue = .members([
            "version": "1.2", "creator": ["name": "APIProviderRecordings", "version": "1.0"],
            // The format allows names with an underscore for additions.
            "_test": JSONValue(test),
            "_placeholders": JSONValue(placeholders?.places.mapValues { JSONValue($0.sorted().joined(separator: "; ")) }),
            "entries": JSONValue(exchanges.map(JSONValue.init)),
        ])
        let encoder = JSONEncoder()
        encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
        // Texts and whole numbers always encode.
        data = ((try? encoder.encode(["log": log])) ?? Data()) + Data("\n".utf8)
    }
}

extension JSONValue {
    /// The format asks for times and sizes. A replay reads neither.
    fileprivate init(_ exchange: RecordedExchange) {
        let (answer, url) = (exchange.response, URIReference(exchange.url))
        let failure = answer == nil ? exchange.failure ?? RecordedExchange.left : exchange.failure
        let items = [URLQueryItem](form: url.query ?? "").map {
            ["name": JSONValue($0.name), "value": JSONValue($0.value ?? "")] as JSONValue
        }
        let body = JSONValue.members(exchange.body.harMembers(type: exchange.type, encoding: "_encoding"))
        var content = answer.map { $0.body.harMembers(type: $0.type, encoding: "encoding") } ?? ["mimeType": "x-unknown", "text": ""]
        content["size"] = JSONValue(answer?.body.count ?? 0)
        self = [
            "startedDateTime": JSONValue(exchange.started.formatted(Date.ISO8601FormatStyle(includingFractionalSeconds: true))),
            "time": 0, "cache": [:], "timings": ["send": 0, "wait": 0, "receive": 0],
            "request": .members([
                "method": JSONValue(exchange.method), "url": JSONValue(exchange.url), "httpVersion": "unknown", "cookies": [],
                "headers": JSONValue(exchange.headers), "queryString": JSONValue(items), "postData": exchange.body.isEmpty ? .null : body,
                "headersSize": -1, "bodySize": JSONValue(exchange.body.count),
            ]),
            "response": .members([
                "status": JSONValue(answer?.statusCode ?? 0),
                "statusText": JSONValue(APIResponse.reasonPhrases[answer?.statusCode ?? 0] ?? ""),
                "httpVersion": "unknown", "cookies": [], "headers": JSONValue(answer?.headers ?? [:]), "content": .members(content),
                "redirectURL": JSONValue(answer?.headers["Location"] ?? ""), "headersSize": -1, "bodySize": -1,
                "_failure": JSONValue(failure),
            ]),
        ]
    }

    private init(_ headers: HTTPHeaders) {
        self.init(headers.dictionary.sortedByName.map { ["name": JSONValue($0.name), "value": JSONValue($0.value)] })
    }

    /// An object without the members that are null.
    fileprivate static func members(_ members: [String: JSONValue]) -> JSONValue { .object(members.filter { !$0.value.isNull }) }
}

extension Data {
    /// The body's members: text in UTF-8, or else Base64.
    fileprivate func harMembers(type: String, encoding: String) -> [String: JSONValue] {
        let isText = [UInt8](self).isUTF8
        let text = isText ? String(decoding: self, as: UTF8.self) : base64EncodedString()
        return ["mimeType": JSONValue(type), "text": JSONValue(text), encoding: isText ? .null : "base64"]
    }
}
