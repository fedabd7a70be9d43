import Foundation

/// What a recording writes of a HAR 1.2 file: all that the format requires.
///
/// http://www.softwareishard.com/blog/har-12-spec/. Names with an underscore are such as the format leaves to each program.
enum HAR {
    struct Entry: Encodable {
        let startedDateTime: String
        /// In milliseconds, as all times.
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
        /// Why no response came, as Chrome has it.
        let _error: String?
    }

    struct Field: Encodable {
        let name: String
        let value: String
    }

    struct PostData: Encodable {
        let mimeType: String
        let text: String
        /// `base64`, where the body is no text.
        let _encoding: String?
    }

    struct Content: Encodable {
        let size: Int
        let mimeType: String
        let text: String
        /// `base64`, where the body is no text.
        let encoding: String?
    }

    struct Cache: Encodable {}

    struct Timings: Encodable {
        let send = 0
        let wait: Double
        let receive = 0
    }

    /// A number that nobody told is -1, and the version of HTTP this.
    static let unknown = "unknown"
}

extension Data {
    /// The body as a HAR file has it. Text that would come out of it in other bytes is no text.
    var harText: (text: String, encoding: String?) {
        guard let text = String(data: self, encoding: .utf8), Data(text.utf8) == self else { return (base64EncodedString(), "base64") }
        return (text, nil)
    }
}
