import Foundation

/// What a file of a ``DiskCache`` has: a binary property list.
struct CacheFile: Codable {
    /// The version of this format. A file of another one counts as none.
    private static let version = 3

    private let version: Int
    private let key: String
    private let responses: [Response]

    private struct Response: Codable {
        let status: Int
        let fields: [String: String]
        let body: Data
        let requested: Date
        let received: Date
        let selectingFields: [String: String]
    }

    static func data(of responses: [CachedResponse], for key: String) -> Data? {
        let responses = responses.map {
            Response(
                status: $0.status, fields: $0.fields, body: $0.body, requested: $0.requested, received: $0.received,
                selectingFields: $0.selectingFields)
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode(CacheFile(version: version, key: key, responses: responses))
    }

    /// `nil` if the data is anything else than responses for this key.
    static func responses(in data: Data, for key: String) -> [CachedResponse]? {
        guard let file = try? PropertyListDecoder().decode(CacheFile.self, from: data), file.version == version, file.key == key
        else { return nil }
        return file.responses.map {
            CachedResponse(
                status: $0.status, fields: $0.fields, body: $0.body, requested: $0.requested, received: $0.received,
                selectingFields: $0.selectingFields)
        }
    }
}
