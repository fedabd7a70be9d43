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
    var boot = Self.currentBoot
    /// The whole file's number of bytes.
    let length: Int64
    /// A strong entity tag (RFC 9110, section 8.8.3), without quotes.
    let tag: String

    /// `nil` if the rest of this response could not be requested, or the name would be too long.
    init?(_ response: HTTPURLResponse, endpoint: String) {
        guard response.statusCode == 200, let tag = response.strongTag, let length = response.bodyLength,
            tag.escapedAsValue.utf8.count <= 80
        else { return nil }
        (self.endpoint, path, self.length, self.tag) = (endpoint, response.pathHash, length, tag)
    }

    /// `nil` for a name of another form.
    init?(name: String) {
        let fields = name.parts(between: UInt8(ascii: ",")).map(String.init)
        guard fields.count == 5, let length = Int64(fields[3]), length > 0, let tag = fields[4].removingPercentEncoding, tag.isTag
        else { return nil }
        (endpoint, path, boot, self.length, self.tag) = (fields[0], fields[1], fields[2], length, tag)
    }

    var name: String { "\(endpoint),\(path),\(boot),\(length),\(tag.escapedAsValue)" }

    /// The same version under another boot.
    func at(_ boot: String) -> KeptVersion {
        var copy = self
        copy.boot = boot
        return copy
    }

    /// Whether a 206 continues the same file at `offset`, with a stated length. The part may end early.
    func isContinued(by response: HTTPURLResponse, from offset: Int64) -> Bool {
        guard response.statusCode == 206, !response.isCoded, response.strongTag == tag, response.pathHash == path,
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
    /// The entity tag without quotes, if strong.
    fileprivate var strongTag: String? {
        guard let tag = joinedValue(forHTTPHeaderField: "ETag"), tag.utf8.count >= 2, tag.utf8.first == UInt8(ascii: "\""),
            tag.utf8.last == UInt8(ascii: "\"")
        else { return nil }
        let text = String(Substring(tag.utf8.dropFirst().dropLast()))
        return text.isTag ? text : nil
    }

    fileprivate var pathHash: String {
        (url.flatMap { URLComponents(url: $0, resolvingAgainstBaseURL: true) }?.percentEncodedPath ?? "").fileNameHash
    }
}

extension String {
    fileprivate var isTag: Bool { utf8.allSatisfy { 0x21...0x7E ~= $0 && $0 != UInt8(ascii: "\"") } }
}
