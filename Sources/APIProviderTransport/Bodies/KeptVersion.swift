import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Says which version of which file an unfinished download's bytes belong to. The version is the file's name, so it never describes other
/// bytes.
///
/// URLs may contain secrets, so only their hashes are written.
struct KeptVersion: Sendable {
    /// A hash of the endpoint's URL.
    let endpoint: String
    /// A hash of the answering URL's path. Two files may share an entity tag made from a time and a size.
    let path: String
    /// A hash of the system's boot in which the bytes were written, ``synchronized`` or ``unknown``.
    private(set) var boot = Self.currentBoot
    /// The whole file's number of bytes.
    let length: Int64
    /// A strong entity tag (RFC 9110, section 8.8.3).
    let eTag: String

    /// `nil` if the rest of this response could not be requested, or the name would be too long.
    init?(_ response: HTTPURLResponse, endpoint: String) {
        guard response.statusCode == 200, let eTag = response.strongETag, let length = response.bodyLength,
            eTag.escapedAsValue.utf8.count <= 80
        else { return nil }
        (self.endpoint, path, self.length, self.eTag) = (endpoint, response.pathHash, length, eTag)
    }

    /// `nil` for a name of another form.
    init?(name: String) {
        let fields = name.parts(between: UInt8(ascii: ",")).map(String.init)
        guard fields.count == 5, let length = Int64(fields[3]), length > 0, let eTag = fields[4].removingPercentEncoding,
            eTag.isStrongETag
        else { return nil }
        (endpoint, path, boot, self.length, self.eTag) = (fields[0], fields[1], fields[2], length, eTag)
    }

    /// The file's name, if its bytes were written in `boot`.
    func name(in boot: String = currentBoot) -> String { "\(endpoint),\(path),\(boot),\(length),\(eTag.escapedAsValue)" }

    /// Whether a 206 continues the same file at `offset`, with a stated length. The part may end early.
    func isContinued(by response: HTTPURLResponse, from offset: Int64) -> Bool {
        guard response.statusCode == 206, !response.isCoded, response.strongETag == eTag, response.pathHash == path,
            let range = response.contentRange
        else { return false }
        return range.first == offset && range.length == length && range.last < length
            && response.expectedContentLength == range.last - offset + 1
    }

    // MARK: - Boots

    /// All bytes are on the disk, and survive a restart of the system.
    static let synchronized = "0"
    static let unknown = "-"

    /// Whether the bytes are there: after a restart of the system, the last ones may be missing.
    var isWhole: Bool { boot == Self.synchronized || boot == Self.currentBoot && boot != Self.unknown }

    static let currentBoot: String = {
        #if canImport(Darwin)
        var (id, size) = ([UInt8](repeating: 0, count: 64), 64)
        guard sysctlbyname("kern.bootsessionuuid", &id, &size, nil, 0) == 0 else { return unknown }
        return String(decoding: id.prefix { $0 != 0 }, as: UTF8.self).fileNameHash
        #else
        return (try? String(contentsOfFile: "/proc/sys/kernel/random/boot_id", encoding: .utf8))?.fileNameHash ?? unknown
        #endif
    }()
}

extension HTTPURLResponse {
    fileprivate var strongETag: String? { joinedValue(forHTTPHeaderField: "ETag").flatMap { $0.isStrongETag ? $0 : nil } }

    fileprivate var pathHash: String {
        (url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }?.percentEncodedPath ?? "").fileNameHash
    }
}

extension String {
    fileprivate var isStrongETag: Bool {
        let quote = UInt8(ascii: "\"")
        return utf8.count >= 2 && utf8.first == quote && utf8.last == quote
            && utf8.dropFirst().dropLast().allSatisfy { 0x21...0x7E ~= $0 && $0 != quote }
    }
}
