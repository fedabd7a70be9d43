import APIProvider
import APIProviderMocks
import Foundation

// MARK: - Secrets by their form

extension SourceText {
    /// The parts that cannot be anything but a secret, whatever the name: a JWT, the text behind `Bearer` and `Basic`, a private key, the
    /// keys of services, and the user and the password of a URL.
    func unmistakableSecrets() -> [(range: Range<Int>, base: String)] {
        guard bytes.count >= 8 else { return [] }
        var found: [(range: Range<Int>, base: String)] = []
        var endOfKey = 0
        for place in Self.beginnings.places(in: bytes) where place >= endOfKey {
            let before = place > 0 ? bytes[place - 1] : 0x20
            switch bytes[place] {
            case UInt8(ascii: "e") where !before.isBase64URL && has("ey", at: place):
                var dots = 0
                let run = word(from: place) { byte in
                    if byte == UInt8(ascii: ".") { dots += 1 }
                    return byte.isBase64URL || byte == UInt8(ascii: ".") && dots < 3
                }
                // A sentence may end behind it.
                let end = run.upperBound - bytes[run].reversed().prefix { $0 == UInt8(ascii: ".") }.count
                if String(decoding: bytes[place..<end], as: UTF8.self).isJWT { found.append((place..<end, "token")) }
            case UInt8(ascii: "B") where !before.isWordByte, UInt8(ascii: "b") where !before.isWordByte:
                guard let length = ["bearer ", "basic "].first(where: { has($0, at: place, ignoringCase: true) })?.utf8.count else {
                    continue
                }
                let run = word(from: place + length) { $0.isLetter || $0.isDigit || "-._~+/=".utf8.contains($0) }
                let end = run.upperBound - bytes[run].reversed().prefix { ".-".utf8.contains($0) }.count
                let secret = run.lowerBound..<max(end, run.lowerBound)
                // "Basic Subscription" and "Bearer Authentication" are words of an app.
                let isBasic = bytes[place + 1] == UInt8(ascii: "a") || bytes[place + 1] == UInt8(ascii: "A")
                let isCredential =
                    isBasic
                    ? Data(base64Encoded: String(decoding: bytes[secret], as: UTF8.self))?.contains(UInt8(ascii: ":")) == true
                    : !Array(bytes[secret]).isOrdinary && bytes[secret].contains(where: \.isDigit)
                if isCredential { found.append((secret, "authorization")) }
            case UInt8(ascii: "-") where has("-----BEGIN ", at: place):
                // The kind of the key is a few words at most. A list of certificates has thousands of such lines.
                let line = Array(bytes[place...].prefix(40 + 16))
                guard let end = line.firstOffset(of: Array("PRIVATE KEY-----".utf8)).map({ place + $0 }) else { continue }
                let close = first(of: "-----END", from: end + 16) ?? bytes.count
                found.append((end + 16..<close, "private-key"))
                endOfKey = close
            case UInt8(ascii: ":") where has("://", at: place):
                let authority = word(from: place + 3) { $0 > 0x20 && !"/?#\"'<>\\".utf8.contains($0) }
                guard let at = bytes[authority].lastIndex(of: UInt8(ascii: "@")) else { continue }
                let colon = first(":", in: authority.lowerBound..<at)
                if let colon { found.append((colon + 1..<at, "password")) }
                let user = authority.lowerBound..<(colon ?? at)
                if colon != nil || !Array(bytes[user]).isOrdinary { found.append((user, "user")) }
            default:
                guard !before.isWordByte, let key = Self.keys.first(where: { has($0.prefix, at: place) }) else { continue }
                let run = word(from: place) { $0.isLetter || $0.isDigit || "-_".utf8.contains($0) }
                if run.count >= key.length { found.append((run, "key")) }
            }
        }
        return found.filter { !$0.range.isEmpty }
    }

    private static let beginnings: BytePairs = {
        var pairs = BytePairs()
        let others = ["ey", "BE", "Be", "bE", "be", "BA", "Ba", "bA", "ba", "--", ":/"]
        for text in others + keys.map(\.prefix) { pairs.insert(text.utf8) }
        return pairs
    }()

    private static let keys: [(prefix: String, length: Int)] = [
        ("ghp_", 16), ("gho_", 16), ("ghs_", 16), ("github_pat_", 20), ("sk_live_", 14), ("sk_test_", 14), ("rk_live_", 14),
        ("xoxb-", 14), ("xoxp-", 14), ("AKIA", 20), ("ASIA", 20), ("AIza", 30),
    ]

    func has(_ text: String, at place: Int, ignoringCase: Bool = false) -> Bool {
        var position = place
        for byte in text.utf8 {
            guard position < bytes.count, bytes[position] == byte || ignoringCase && bytes[position].lowercased == byte else {
                return false
            }
            position += 1
        }
        return true
    }

    private func word(from start: Int, _ isPart: (UInt8) -> Bool) -> Range<Int> {
        let start = min(start, bytes.count)
        return start..<(bytes[start...].firstIndex { !isPart($0) } ?? bytes.count)
    }
}
