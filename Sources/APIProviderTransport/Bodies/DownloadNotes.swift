import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Says which version of which file an unfinished download's bytes belong to.
///
/// URLs may contain secrets, so only their hashes are written.
struct DownloadNotes: Codable, Sendable {
    /// A hash of the endpoint's URL.
    let endpoint: String
    /// A hash of the answering URL's path. Two files may share an entity tag made from a time and a size.
    let path: String
    /// A strong entity tag (RFC 9110, section 8.8.3).
    let eTag: String
    /// The whole file's number of bytes.
    let length: Int64
    /// The number of bytes that survive a power failure.
    var synchronized: Int64 = 0
    /// The system boot in which the other bytes were written.
    var boot = Self.currentBoot

    /// `nil` if the rest of this response could not be requested.
    init?(_ response: HTTPURLResponse, endpoint: String) {
        guard response.statusCode == 200, let eTag = response.strongETag, let length = response.bodyLength else { return nil }
        (self.endpoint, path, self.eTag, self.length) = (endpoint, response.pathHash, eTag, length)
    }

    /// Whether a 206 continues the same file at `offset`, with a stated length. The part may end early.
    func areContinued(by response: HTTPURLResponse, from offset: Int64) -> Bool {
        guard !response.isCoded, response.strongETag == eTag, response.pathHash == path, let range = response.contentRange else {
            return false
        }
        return range.first == offset && range.length == length && range.last < length
            && response.expectedContentLength == range.last - offset + 1
    }

    // MARK: - The file

    /// Reads the notes at `path`; `nil` if missing, damaged, or not this user's file.
    init?(contentsOf path: String) {
        let descriptor = open(path, O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC)
        guard descriptor >= 0 else { return nil }
        let file = FileHandle(fileDescriptor: descriptor, closeOnDealloc: true)
        var status = stat()
        guard fstat(descriptor, &status) == 0, status.isOwnFile, let data = try? file.read(upToCount: 65_536),
            let notes = try? JSONDecoder().decode(Self.self, from: data), notes.eTag.isStrongETag, notes.length > 0
        else { return nil }
        self = notes
    }

    func write(to path: String) throws {
        let file = URL(fileURLWithPath: path)
        let name = file.lastPathComponent + Self.newSuffix
        try PartialFile.replace(file, with: JSONEncoder().encode(self), mode: 0o600, name: name)
    }

    /// The suffix of notes during a write: always the same, so that a killed process's notes can be removed.
    static let newSuffix = ".new"

    /// Identifies the time since the system's start; `nil` if unknown.
    static let currentBoot: String? = {
        #if canImport(Darwin)
        var (id, size) = ([UInt8](repeating: 0, count: 64), 64)
        guard sysctlbyname("kern.bootsessionuuid", &id, &size, nil, 0) == 0 else { return nil }
        return String(decoding: id.prefix { $0 != 0 }, as: UTF8.self)
        #else
        return try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8)
        #endif
    }()
}

extension stat {
    /// Whether this is the user's regular file, with one name.
    var isOwnFile: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() && st_nlink == 1 }
}

extension HTTPURLResponse {
    /// The entity tag, if strong.
    fileprivate var strongETag: String? {
        joinedValue(forHTTPHeaderField: "ETag").flatMap { $0.isStrongETag ? $0 : nil }
    }

    fileprivate var pathHash: String {
        (url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }?.percentEncodedPath ?? "").fileNameHash
    }
}

extension String {
    fileprivate var isStrongETag: Bool {
        utf8.count >= 2 && hasPrefix("\"") && hasSuffix("\"")
            && utf8.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }
    }
}
