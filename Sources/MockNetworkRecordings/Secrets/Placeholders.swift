import APIProvider
import Foundation

/// The placeholders of secrets that a file lists. Nothing else tells them from other text.
struct Placeholders: Sendable {
    let origins: [String: Secret.Origin]
    private let lengths: [Int]
    /// What placeholders begin with.
    private let beginnings: BytePairs

    init(_ origins: [String: Secret.Origin]) {
        self.origins = origins
        lengths = Set(origins.keys.map(\.utf8.count)).sorted(by: >)
        var beginnings = BytePairs()
        for placeholder in origins.keys { beginnings.insert(placeholder.utf8) }
        self.beginnings = beginnings
    }

    init(_ secrets: [Secret]) { self.init(Dictionary(secrets.map { ($0.placeholder, $0.origin) }) { $1 }) }

    /// Whether the placeholder matches itself alone, because a response gave it to the app.
    func isFromResponse(_ placeholder: String) -> Bool { origins[placeholder] == .response }

    /// The placeholders in a text. If one is the signature of a JWT, its range is that of the whole JWT.
    func occurrences(in bytes: [UInt8]) -> [(range: Range<Int>, placeholder: String)] {
        guard !origins.isEmpty else { return [] }
        var found: [(range: Range<Int>, placeholder: String)] = []
        for place in beginnings.places(in: bytes) {
            let floor = found.last?.range.upperBound ?? 0
            // A number that is longer than a placeholder is none.
            guard place >= floor, !bytes[place].isDigit || place == 0 || !bytes[place - 1].isDigit else { continue }
            for end in lengths.map({ place + $0 }) where end <= bytes.count && (end == bytes.count || !bytes[end].isDigit) {
                let placeholder = String(decoding: bytes[place..<end], as: UTF8.self)
                guard origins[placeholder] != nil else { continue }
                found.append((startOfJWT(bytes, before: place, from: floor)..<end, placeholder))
                break
            }
        }
        return found
    }

    private func startOfJWT(_ bytes: [UInt8], before place: Int, from floor: Int) -> Int {
        guard place > floor, bytes[place - 1] == UInt8(ascii: ".") else { return place }
        let start = (bytes[floor..<place].lastIndex { !$0.isBase64URL && $0 != UInt8(ascii: ".") } ?? floor - 1) + 1
        let parts = bytes[start..<place - 1].split(separator: UInt8(ascii: "."), omittingEmptySubsequences: false)
        guard parts.count == 2 else { return place }
        // Other text may stand before it.
        let beginnings = parts[0].indices.lazy.filter { parts[0][$0...].starts(with: "ey".utf8) }.prefix(8)
        return beginnings.first { String(decoding: parts[0][$0...], as: UTF8.self).isBase64URLOfObject } ?? place
    }

    /// The text with the placeholder alone for each JWT.
    func canonical(_ bytes: [UInt8]) -> [UInt8] {
        guard !origins.isEmpty else { return bytes }
        return bytes.replacing(
            occurrences(in: bytes).lazy.filter { $0.range.count > $0.placeholder.utf8.count }.map { ($0.range, Array($0.placeholder.utf8)) }
        )
    }
}
