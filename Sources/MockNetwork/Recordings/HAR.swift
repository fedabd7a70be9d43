import Foundation

/// The parts of a HAR 1.2 file that a recording writes, which are all that the format requires.
///
/// http://www.softwareishard.com/blog/har-12-spec/. The format lets programs add names that start with an underscore.
enum HAR {
    struct Entry: Encodable {
        let startedDateTime: String
        /// In milliseconds, like all times.
        let time: Double
        let request: Request
        let response: Response
        let cache = Cache()
        let timings: Timings
        let comment: String?
    }

    struct Request: Encodable {
        let method: String
        let url: String
        let httpVersion = unknown
        let cookies: [Field]
        let headers: [Field]
        let queryString: [Field]
        let postData: PostData?
        let headersSize = -1
        let bodySize: Int
        let comment: String?
    }

    struct Response: Encodable {
        let status: Int
        let statusText: String
        let httpVersion = unknown
        let cookies: [Field]
        let headers: [Field]
        let content: Content
        let redirectURL: String
        let headersSize = -1
        let bodySize: Int
        /// The reason why there is no response. Chrome uses this name, too.
        let _error: String?
    }

    struct Field: Encodable {
        let name: String
        let value: String
    }

    struct PostData: Encodable {
        let mimeType: String
        let text: String
        /// `base64` if the body is not text.
        let _encoding: String?
    }

    struct Content: Encodable {
        let size: Int
        let mimeType: String
        let text: String
        /// `base64` if the body is not text.
        let encoding: String?
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
