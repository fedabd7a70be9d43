import APIProvider
import Foundation

/// The content of a ``DiskCache`` file: a binary property list.
struct CacheFile: Codable {
    private struct Entry: Codable {
        let statusCode: Int, headers: [String: String], data: Data, requestTime: Date, responseTime: Date, varyValues: [String: String]

        init(_ response: CachedResponse) {
            (statusCode, headers, data) = (response.statusCode, response.headers.dictionary, response.data)
            (requestTime, responseTime, varyValues) = (response.requestTime, response.responseTime, response.varyValues)
        }

        var response: CachedResponse {
            CachedResponse(
                statusCode: statusCode, headers: HTTPHeaders(headers), data: data, requestTime: requestTime, responseTime: responseTime,
                varyValues: varyValues)
        }
    }

    private static let currentVersion = 6

    private var version = currentVersion
    private let key: String
    private let responses: [Entry]

    static func data(of responses: [CachedResponse], for key: String) -> Data? {
        try? PropertyListEncoder().encode(CacheFile(key: key, responses: responses.map(Entry.init)))
    }

    /// Returns the responses in a file, or `nil` for a damaged file, another version or another key.
    static func responses(in data: Data, for key: String) -> [CachedResponse]? {
        guard let file = try? PropertyListDecoder().decode(CacheFile.self, from: data), file.version == currentVersion, file.key == key
        else { return nil }
        return file.responses.map(\.response)
    }
}
