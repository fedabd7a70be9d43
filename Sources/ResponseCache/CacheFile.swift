import Foundation

/// The content of a file of a ``DiskCache``: a binary property list.
struct CacheFile: Codable {
    private static let currentVersion = 5

    private var version = currentVersion
    private let key: String
    private let responses: [CachedResponse]

    static func data(of responses: [CachedResponse], for key: String) -> Data? {
        let encoder = PropertyListEncoder()
        encoder.outputFormat = .binary
        return try? encoder.encode(CacheFile(key: key, responses: responses))
    }

    /// Returns the responses in a file, or `nil` if it is damaged, from another version or for another key.
    static func responses(in data: Data, for key: String) -> [CachedResponse]? {
        guard let file = try? PropertyListDecoder().decode(CacheFile.self, from: data), file.version == currentVersion, file.key == key
        else { return nil }
        return file.responses
    }
}
