import Foundation
import Testing

typealias Fields = [[String: String]]

/// A HAR file as any program reads it.
struct RecordedFile {
    let text: String
    let log: [String: Any]
    let entries: [[String: Any]]

    init(_ file: URL) throws {
        let data = try Data(contentsOf: file)
        text = String(decoding: data, as: UTF8.self)
        let object = try #require(try JSONSerialization.jsonObject(with: data) as? [String: Any])
        log = try #require(object["log"] as? [String: Any])
        entries = try #require(log["entries"] as? [[String: Any]])
    }

    /// The value at a path such as `request.url`.
    func value(_ path: String, of index: Int = 0) -> Any? {
        path.split(separator: ".").reduce(entries[index] as Any?) { ($0 as? [String: Any])?[String($1)] }
    }
}
