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
        struct Timings: Codable { var send: Double? = 0, wait: Double?, receive: Double? = 0 }

        var startedDateTime: String?
        /// In milliseconds.
        var time: Double?
        var request: Request
        var response: Response?
        var cache: Cache? = Cache()
        var timings: Timings?
    }

    struct Field: Codable {
        var name: String
        var value: String
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

extension HARFile.Field {
    /// A value may be missing, or `null`.
    init(from decoder: any Decoder) throws {
        let container = try decoder.container(keyedBy: CodingKeys.self)
        name = try container.decode(String.self, forKey: .name)
        value = try container.decodeIfPresent(String.self, forKey: .value) ?? ""
    }
}

// MARK: - Reading and writing

extension HARFile {
    /// - Throws: An error with one sentence, beginning with the name of the file.
    init(_ data: Data, name: String) throws {
        guard !data.isEmpty else { throw MockFailure("\(name): the file is empty.") }
        do {
            // Fiddler and Safari write a byte order mark.
            self = try JSONDecoder().decode(HARFile.self, from: data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data)
        } catch DecodingError.keyNotFound(let key, let context) {
            throw MockFailure("\(name): \(context.codingPath.place(key)) is missing.")
        } catch DecodingError.typeMismatch(_, let context), DecodingError.valueNotFound(_, let context) {
            throw MockFailure("\(name): \(context.codingPath.place()) is of another type than in HAR 1.2.")
        } catch { throw MockFailure("\(name), \(Self.reasonForNoJSON(data)).") }
    }

    private static func reasonForNoJSON(_ data: Data) -> String {
        let lines = String(decoding: data, as: UTF8.self).split(omittingEmptySubsequences: false) { $0 == "\n" || $0 == "\r\n" }
        if let conflict = lines.firstIndex(where: { $0.hasPrefix("<<<<<<< ") }) {
            return "line \(conflict + 1): there is an unresolved merge conflict"
        }
        var tokens = JSONTokens(data)
        while (try? tokens.next()) != nil {}
        let line = tokens.bytes[..<min(tokens.position, tokens.bytes.count)].count { $0 == 0x0A } + 1
        return "line \(line): this is not JSON\(lines.first?.hasPrefix("<") == true ? ", but HTML or XML" : "")"
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
