import Foundation

/// The parts of a HAR 1.2 file that recordings write and replay reads.
///
/// http://www.softwareishard.com/blog/har-12-spec/. Recordings have all that the format requires. Replay asks for little, because programs
/// that write HAR files agree on little. The format lets programs add names that start with an underscore.
enum HAR {
    struct Entry: Encodable {
        var startedDateTime = ""
        /// In milliseconds, like all times.
        var time = 0.0
        let request: Request
        /// `nil` if a program has recorded none.
        let response: Response?
        let cache = Cache()
        var timings = Timings(wait: 0)
    }

    struct Request: Encodable {
        let method: String
        let url: String
        let httpVersion = unknown
        /// They stand in the headers.
        let cookies: [Field] = []
        var headers: [Field] = []
        var queryString: [Field] = []
        var postData: PostData?
        let headersSize = -1
        var bodySize = -1
    }

    struct Response: Encodable {
        let status: Int
        var statusText = ""
        let httpVersion = unknown
        /// They stand in the headers.
        let cookies: [Field] = []
        var headers: [Field] = []
        var content: Content?
        var redirectURL = ""
        let headersSize = -1
        let bodySize = -1
        /// The reason why there is no response. Chrome uses this name, too.
        var _error: String?
    }

    struct Field: Codable {
        let name: String
        /// Some programs write `null` for a field that was not sent.
        let value: String?
    }

    struct PostData: Codable {
        let mimeType: String
        let text: String
        /// `base64` if the body is not text.
        let _encoding: String?
        let comment: String?
    }

    struct Content: Encodable {
        var size = 0
        var mimeType = ""
        var text: String?
        /// `base64` if the body is not text.
        var encoding: String?
        /// Why there is no text.
        var comment: String?
        /// When each line of a stream came, in milliseconds since the head of the response.
        var _times: [Double]?
    }

    struct Cache: Encodable {}

    struct Timings: Encodable {
        let send = 0
        let wait: Double
        let receive = 0
    }

    /// Stands for an unknown version of HTTP. An unknown number is -1.
    static let unknown = "unknown"
}

extension Data {
    /// The body as a HAR file has it. It counts as text only if the text has the same bytes.
    var harText: (text: String, encoding: String?) {
        guard let text = String(data: self, encoding: .utf8), Data(text.utf8) == self else { return (base64EncodedString(), "base64") }
        return (text, nil)
    }
}

extension HAR.Content {
    /// The body that stands in the file. `nil` if its text is not Base64, though it should be.
    var body: Data? {
        guard let text else { return Data() }
        guard encoding == "base64" else { return Data(text.utf8) }
        // Charles adds line breaks.
        return Data(base64Encoded: text) ?? Data(base64Encoded: text.filter { !$0.isWhitespace })
    }
}
