import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// What is known of the bytes of a download that has not ended: which version of which file they are.
///
/// URLs may have secrets, so only their hashes are written.
struct DownloadNotes: Codable, Sendable {
    /// Stands for the URL of the endpoint.
    let endpoint: String
    /// Stands for the path of the URL that has answered. One entity tag may stand for two files, where it is made of a time and a size.
    let path: String
    /// A strong entity tag (RFC 9110, section 8.8.3).
    let eTag: String
    /// The number of bytes of the whole file.
    let length: Int64
    /// The number of bytes that also a power failure leaves.
    var synchronized: Int64 = 0
    /// The boot of the system in which the other bytes were written.
    var boot = Self.currentBoot

    /// Returns `nil` unless the rest of this response could be asked for.
    init?(_ response: HTTPURLResponse, endpoint: String) {
        guard response.statusCode == 200, let eTag = response.strongETag, let length = response.bodyLength else { return nil }
        (self.endpoint, path, self.eTag, self.length) = (endpoint, response.hashOfPath, eTag, length)
    }

    /// Whether a 206 has the part of the same file from `offset` on, and tells its length. The part may end early.
    func areContinued(by response: HTTPURLResponse, from offset: Int64) -> Bool {
        guard !response.isCoded, response.strongETag == eTag, response.hashOfPath == path, let range = response.contentRange else {
            return false
        }
        return range.first == offset && range.length == length && range.last < length
            && response.expectedContentLength == range.last - offset + 1
    }

    // MARK: - The file

    /// Reads the notes at `path`. Returns `nil` if they are missing or damaged, or are not a file of this user alone.
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

    /// The end of the name of notes that are being written. It is always the same, so that those of a killed process can be removed.
    static let newSuffix = ".new"

    /// The identity of the time since the system was started; `nil` if the system does not tell.
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
    /// Whether it is a regular file of this user, and has one name.
    var isOwnFile: Bool { st_mode & S_IFMT == S_IFREG && st_uid == geteuid() && st_nlink == 1 }
}

extension HTTPURLResponse {
    /// The entity tag, if it is a strong one.
    fileprivate var strongETag: String? {
        joinedValue(forHTTPHeaderField: "ETag").flatMap { $0.isStrongETag ? $0 : nil }
    }

    fileprivate var hashOfPath: String {
        (url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }?.percentEncodedPath ?? "").fileNameHash
    }
}

extension String {
    fileprivate var isStrongETag: Bool {
        utf8.count >= 2 && hasPrefix("\"") && hasSuffix("\"")
            && utf8.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") }
    }
}
