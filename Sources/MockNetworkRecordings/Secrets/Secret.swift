import APIProvider
import APIProviderMocks
import Foundation

/// A text that does not stand in the file, and the placeholder that stands there for it.
struct Secret {
    enum Origin: String {
        /// The app took it from a response: its placeholder matches itself alone.
        case response
        /// It is the test's or the environment's: its placeholder matches any text.
        case request
        /// It changes with each run: its placeholder matches anything.
        case ignored
    }

    enum Kind: Equatable {
        case text, number, uuid
        /// The header and the payload of the JWT, in Base64.
        case jwt(header: String, payload: String)
    }

    let text: [UInt8]
    let base: String
    private(set) var kind: Kind
    var isCookie: Bool
    /// The index of the part of the traffic in which it was found first.
    let firstPart: Int
    var origin = Origin.request
    var placeholder = ""
    /// The placeholder, after the header and the payload of a JWT.
    var replacement = ""
    /// Whether it may stand in the traffic by chance, so that it is replaced only where it is known to be the secret.
    let isOrdinary: Bool

    init(_ text: [UInt8], base: String, isCookie: Bool, isIgnored: Bool, firstPart: Int) {
        (self.text, self.base, self.isCookie, self.firstPart) = (text, base, isCookie, firstPart)
        isOrdinary = text.isOrdinary
        if isIgnored { origin = .ignored }
        let string = String(decoding: text, as: UTF8.self)
        let parts = string.split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        if text.count == 36, UUID(uuidString: string) != nil {
            kind = .uuid
        } else if text.allSatisfy(\.isDigit), text.count < 19, text.first != UInt8(ascii: "0") || text.count == 1 {
            kind = .number
        } else if string.isJWT {
            kind = .jwt(header: parts[0], payload: parts[1])
        } else {
            kind = .text
        }
    }

    /// Makes its placeholder a number, because it stands as a number in JSON, which must stay JSON.
    mutating func becomeNumber() { kind = .number }

    /// The beginning of a placeholder, and the least number of digits that follow.
    var pattern: (prefix: String, width: Int) {
        switch kind {
        case .text, .jwt: ("\(base)-", 3)
        case .number: ("90000000", 1)
        case .uuid: ("00000000-0000-4000-8000-", 12)
        }
    }
}

// MARK: - Texts

extension [UInt8] {
    /// Whether the text is likely to stand elsewhere by chance: it has under 8 bytes, is letters of one case, has under 12 digits and
    /// nothing else but signs, as a date, or is a fraction.
    var isOrdinary: Bool {
        if count < 8 || allSatisfy({ $0.isLowercaseLetter }) || allSatisfy({ $0.isUppercaseLetter }) { return true }
        guard allSatisfy({ $0.isDigit || "eE.+-".utf8.contains($0) }) else { return false }
        return filter(\.isDigit).count < 12 || !allSatisfy(\.isDigit) && Double(String(decoding: self, as: UTF8.self)) != nil
    }

    /// Whether it is an object or an array of JSON, which is looked into.
    var isBracketed: Bool {
        (first == UInt8(ascii: "{") && last == UInt8(ascii: "}") || first == UInt8(ascii: "[") && last == UInt8(ascii: "]"))
            && (try? JSONTree(Data(self))) != nil
    }

    /// Whether it can be secret: something other than space and punctuation.
    var hasWord: Bool { contains(where: \.isWordByte) }
}

extension String {
    /// Whether this is a signed JSON Web Token (RFC 7519): the head, the claims and the signature.
    var isJWT: Bool {
        guard utf8.starts(with: "ey".utf8) else { return false }
        let parts = split(separator: ".", omittingEmptySubsequences: false).map(String.init)
        return parts.count == 3 && parts[2].utf8.count > 3 && parts.allSatisfy { $0.utf8.allSatisfy(\.isBase64URL) }
            && parts[..<2].allSatisfy(\.isBase64URLOfObject)
    }
}

extension String {
    /// Whether it is an object of JSON in Base64, as the head and the claims of a JWT are.
    var isBase64URLOfObject: Bool {
        guard let data = Data(base64URL: self), case .object? = try? JSONTree(data) else { return false }
        return true
    }
}

extension UInt8 {
    var isBase64URL: Bool { isLetter || isDigit || self == UInt8(ascii: "-") || self == UInt8(ascii: "_") }
}

extension Data {
    /// RFC 4648, section 5, without padding.
    init?(base64URL text: String) {
        let plain = text.replacingOccurrences(of: "-", with: "+").replacingOccurrences(of: "_", with: "/")
        self.init(base64Encoded: plain + String(repeating: "=", count: (4 - plain.utf8.count % 4) % 4))
    }

    var base64URL: String {
        base64EncodedString().replacingOccurrences(of: "+", with: "-").replacingOccurrences(of: "/", with: "_")
            .replacingOccurrences(of: "=", with: "")
    }
}

// MARK: - Overlapping places

extension [(range: Range<Int>, secret: Int)] {
    /// Of those that overlap, the longest.
    var removingOverlaps: Self {
        var chosen: Self = []
        // By their starts, so that only neighbours may overlap.
        for hit in sorted(by: { ($1.range.count, $0.range.lowerBound, $0.secret) < ($0.range.count, $1.range.lowerBound, $1.secret) })
        where !hit.range.isEmpty {
            let place = chosen.partitioningIndex { $0.range.lowerBound >= hit.range.lowerBound }
            if place < chosen.count, chosen[place].range.lowerBound < hit.range.upperBound { continue }
            if place > 0, chosen[place - 1].range.upperBound > hit.range.lowerBound { continue }
            chosen.insert(hit, at: place)
        }
        return chosen
    }

    private func partitioningIndex(where isAfter: (Element) -> Bool) -> Int {
        var (low, high) = (0, count)
        while low < high {
            let middle = (low + high) / 2
            if isAfter(self[middle]) { high = middle } else { low = middle + 1 }
        }
        return low
    }
}
