/// An escape in a JSON string. A lone surrogate is U+FFFD.
package struct JSONEscape {
    package let scalar: Unicode.Scalar
    package let end: Int

    /// `nil` if no escape begins at `position`.
    package init?(_ bytes: [UInt8], at position: Int) {
        guard position + 1 < bytes.count, bytes[position] == UInt8(ascii: "\\") else { return nil }
        guard bytes[position + 1] == UInt8(ascii: "u") else {
            guard let index = Self.letters.firstIndex(of: bytes[position + 1]) else { return nil }
            (scalar, end) = (Self.meanings[index], position + 2)
            return
        }
        guard let high = Self.hexNumber(bytes, at: position + 2) else { return nil }
        if 0xD800..<0xDC00 ~= high, bytes[(position + 6)...].starts(with: "\\u".utf8), let low = Self.hexNumber(bytes, at: position + 8),
            0xDC00..<0xE000 ~= low
        {
            (scalar, end) = (Unicode.Scalar(0x10000 + (high - 0xD800) << 10 + (low - 0xDC00)) ?? "\u{FFFD}", position + 12)
        } else {
            (scalar, end) = (Unicode.Scalar(high) ?? "\u{FFFD}", position + 6)
        }
    }

    private static let letters = Array("\"\\/bfnrt".utf8)
    private static let meanings: [Unicode.Scalar] = ["\"", "\\", "/", "\u{8}", "\u{C}", "\n", "\r", "\t"]

    private static func hexNumber(_ bytes: [UInt8], at position: Int) -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        return bytes[position..<position + 4].reduce(0) { number, byte in number.flatMap { n in byte.hexValue.map { n << 4 | UInt32($0) } }
        }
    }
}

extension UInt8 {
    /// The value of this hexadecimal digit. `nil` if it is none.
    package var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
