import APIProviderMocks
import Foundation

/// A HAR 1.2 file. http://www.softwareishard.com/blog/har-12-spec/
///
/// Programs may add names with an underscore first. Values that a program may omit are optional.
struct HARFile: Codable {
    struct Log: Codable {
        struct Creator: Codable { var name: String?, version: String? }

        var version: String? = "1.2"
        var creator: Creator? = Creator(name: "APIProviderRecordings", version: "1.0")
        /// The recording's test.
        var _test: String?
        /// The places where each secret's placeholder takes a text in requests, as in `body.password; header authorization`; empty for a
        /// secret from a response. `nil` in another program's file.
        var _placeholders: [String: String]?
        var entries: [Entry]
    }

    struct Entry: Codable {
        struct Cache: Codable {}
        struct Timings: Codable { var send: Double? = 0, wait: Double? = 0, receive: Double? = 0 }

        var startedDateTime: String?
        /// The format asks for times, which a replay does not wait for.
        var time: Double? = 0
        var request: Request
        var response: Response?
        var cache: Cache? = Cache()
        var timings: Timings? = Timings()
    }

    struct Field: Codable {
        var name: String
        var value: String?
    }

    struct Request: Codable {
        struct PostData: Codable {
            var mimeType: String?
            var text: String?
            var params: [Field]?
            /// `base64` for a body that is no text.
            var _encoding: String?
        }

        var method: String
        var url: String
        var httpVersion: String? = "unknown"
        var cookies: [Field]? = []
        var headers: [Field]?
        var queryString: [Field]? = []
        var postData: PostData?
        var headersSize: Double? = -1
        var bodySize: Double? = -1
    }

    struct Response: Codable {
        struct Content: Codable {
            var size: Double?
            var mimeType: String?
            var text: String?
            var encoding: String?
        }

        var status: Int
        var statusText: String? = ""
        var httpVersion: String? = "unknown"
        var cookies: [Field]? = []
        var headers: [Field]?
        var content: Content?
        var redirectURL: String? = ""
        var headersSize: Double? = -1
        var bodySize: Double? = -1
        /// The reason for a missing or incomplete response.
        var _failure: String?
        /// Chrome's.
        var _error: String?
    }

    var log: Log
}

// MARK: - Reading and writing

extension HARFile {
    /// - Throws: An error with one sentence, beginning with the name of the file.
    init(_ data: Data, name: String) throws {
        do {
            // Fiddler and Safari write a byte order mark.
            self = try JSONDecoder().decode(HARFile.self, from: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
        } catch DecodingError.keyNotFound(let key, let context) {
            throw MockFailure("\(name): \(context.codingPath.place(key)) is missing.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw MockFailure("\(name): \(context.codingPath.place()) is of another type than in HAR 1.2.")
        } catch {
            var tokens = JSONTokens(data)
            while (try? tokens.next()) != nil {}
            let line = tokens.bytes.prefix(tokens.position).count { $0 == 0x0A } + 1
            throw MockFailure("\(name), line \(line): this is not JSON.")
        }
    }

    var data: Data {
        get throws {
            let encoder = JSONEncoder()
            encoder.outputFormatting = [.prettyPrinted, .sortedKeys, .withoutEscapingSlashes]
            return try encoder.encode(self) + Data("\n".utf8)
        }
    }
}

extension [any CodingKey] {
    /// Such as `log.entries[3].request.url`.
    fileprivate func place(_ key: (any CodingKey)? = nil) -> String {
        let text = (self + [key].compactMap { $0 }).map { $0.intValue.map { "[\($0)]" } ?? ".\($0.stringValue)" }.joined().dropFirst()
        return text.isEmpty ? "the top level" : String(text)
    }
}
