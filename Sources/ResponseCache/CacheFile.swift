import Foundation

/// The content of a file of a ``DiskCache``: a binary property list.
struct CacheFile: Codable {
    private static let currentVersion = 4

    private let version: Int
    private let key: String
    private let responses: [Response]

    private struct Response: Codable {
        let status: Int
        let fields: [String: String]
        let body: Data
        let requestTime: Date
        let responseTime: Date
        let varyFields: [String: String]
    }

    static func data(of responses: [CachedResponse], for key: String) -> Data? {
        let responses = responses.map {
            Response(
                status: $0.status, fields: $0.fields, body: $0.body, requestTime: $0.requestTime, responseTime: $0.responseTime,
                varyFields: $0.varyFields)
        }
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode(CacheFile(version: currentVersion, key: key, responses: responses))
    }

    /// Returns the responses in a file, or `nil` if it is damaged, from another version or for another key.
    static func responses(in data: Data, for key: String) -> [CachedResponse]? {
        guard let file = try? PropertyListDecoder().decode(CacheFile.self, from: data), file.version == currentVersion, file.key == key
        else { return nil }
        return file.responses.map {
            CachedResponse(
                status: $0.status, fields: $0.fields, body: $0.body, requestTime: $0.requestTime, responseTime: $0.responseTime,
                varyFields: $0.varyFields)
        }
    }
}
