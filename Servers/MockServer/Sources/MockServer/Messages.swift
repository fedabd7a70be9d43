import APIProvider
import Foundation

/// A request as it came, without its body.
struct ServerRequest: Sendable {
    let method: String
    let target: String
    /// Fields of one name are joined.
    let headers: Fields
    /// The IP address of the client.
    let client: String?

    var path: Substring { target.prefix { $0 != "?" } }
}

struct ServerResponse: Sendable {
    enum Body: Sendable {
        case data(Data)
        case stream(ByteStream, length: Int?)

        var length: Int? {
            switch self {
            case .data(let data): data.count
            case .stream(_, let length): length
            }
        }
    }

    var status: Int
    /// A name may be there several times.
    var headers: [(name: String, value: String)] = []
    /// Not sent with a 204 or a 304, nor to a HEAD, which gets its length.
    var body = Body.data(Data())

    /// An answer with a sentence, or with a text of another type.
    static func text(_ status: Int, _ text: String, type: String = "text/plain; charset=utf-8") -> ServerResponse {
        ServerResponse(status: status, headers: [("Content-Type", type)], body: .data(Data("\(text)\n".utf8)))
    }
}
