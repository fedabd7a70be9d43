import APIProvider
package import Foundation

/// JSON tokens (RFC 8259), in order.
///
/// Checks the whole grammar in linear time, without building values and without recursion, so neither long nor deep text does harm.
package struct JSONTokens {
    enum Kind: Sendable {
        case beginObject, endObject, beginArray, endArray
        /// A member's name and the colon after it.
        case name
        case string, number, `true`, `false`, null
    }

    package struct Token: Sendable {
        let kind: Kind
        /// Strings and names include their quotes.
        package let range: Range<Int>
    }

    /// The text is not JSON.
    package struct Invalid: Error {}

    private enum Expected { case value, firstElement, firstName, name, separator }

    package let bytes: [UInt8]
    /// The next token's place, or after an error the fault's.
    package private(set) var position = 0
    private var expected = Expected.value
    /// For each open bracket, whether it begins an object.
    private var open: [Bool] = []

    /// Skips a byte order mark at the beginning.
    package init(_ data: Data) {
        bytes = [UInt8](data)
        if bytes.starts(with: [0xEF, 0xBB, 0xBF]) { position = 3 }
    }

    /// The number of open brackets.
    var depth: Int { open.count }

    /// The next token; `nil` at the end.
    package mutating func next() throws(Invalid) -> Token? {
        skipSpace()
        if expected == .separator {
            guard let isObject = open.last else {
                guard position == bytes.count else { throw Invalid() }
                return nil
            }
            if byte == UInt8(ascii: isObject ? "}" : "]") { return close() }
            try consume(",")
            skipSpace()
            expected = isObject ? .name : .value
        }
        switch (expected, byte) {
        case (.firstName, UInt8(ascii: "}")), (.firstElement, UInt8(ascii: "]")): return close()
        case (.firstName, _), (.name, _): return try name()
        default: return try value()
        }
    }

    // MARK: - The grammar

    private var byte: UInt8? { position < bytes.count ? bytes[position] : nil }

    private mutating func value() throws(Invalid) -> Token {
        let start = position
        let kind: Kind
        switch byte {
        case UInt8(ascii: "{"), UInt8(ascii: "["):
            let isObject = byte == UInt8(ascii: "{")
            position += 1
            open.append(isObject)
            expected = isObject ? .firstName : .firstElement
            return Token(kind: isObject ? .beginObject : .beginArray, range: start..<position)
        case UInt8(ascii: "\""):
            try consumeString()
            kind = .string
        case UInt8(ascii: "t"):
            try consume("true")
            kind = .true
        case UInt8(ascii: "f"):
            try consume("false")
            kind = .false
        case UInt8(ascii: "n"):
            try consume("null")
            kind = .null
        default:
            try consumeNumber()
            kind = .number
        }
        expected = .separator
        return Token(kind: kind, range: start..<position)
    }

    private mutating func name() throws(Invalid) -> Token {
        let start = position
        try consumeString()
        let range = start..<position
        skipSpace()
        try consume(":")
        expected = .value
        return Token(kind: .name, range: range)
    }

    private mutating func close() -> Token {
        let kind: Kind = open.popLast() == true ? .endObject : .endArray
        position += 1
        expected = .separator
        return Token(kind: kind, range: position - 1..<position)
    }

    private mutating func skipSpace() {
        while let byte, byte == 0x20 || byte == 0x0A || byte == 0x0D || byte == 0x09 { position += 1 }
    }

    private mutating func consume(_ text: StaticString) throws(Invalid) {
        guard bytes[position...].starts(with: UnsafeBufferPointer(start: text.utf8Start, count: text.utf8CodeUnitCount)) else {
            throw Invalid()
        }
        position += text.utf8CodeUnitCount
    }

    private mutating func consumeString() throws(Invalid) {
        try consume("\"")
        while true {
            position = endOfPlainText
            switch byte {
            case UInt8(ascii: "\""):
                position += 1
                return
            case UInt8(ascii: "\\"):
                guard let escape = JSONEscape(bytes, at: position) else { throw Invalid() }
                position = escape.end
            default: throw Invalid()
            }
        }
    }

    /// The next place with a quote, backslash or control character. The loop calls no function, because tests are built without the
    /// optimizer.
    private var endOfPlainText: Int {
        bytes.withUnsafeBufferPointer { buffer in
            guard let bytes = buffer.baseAddress else { return 0 }
            var place = position
            let count = buffer.count
            while place < count, bytes[place] >= 0x20, bytes[place] != 0x22, bytes[place] != 0x5C { place &+= 1 }
            return place
        }
    }

    private mutating func consumeNumber() throws(Invalid) {
        if byte == UInt8(ascii: "-") { position += 1 }
        if byte == UInt8(ascii: "0") { position += 1 } else { try consumeDigits() }
        if byte == UInt8(ascii: ".") {
            position += 1
            try consumeDigits()
        }
        guard byte == UInt8(ascii: "e") || byte == UInt8(ascii: "E") else { return }
        position += 1
        if byte == UInt8(ascii: "+") || byte == UInt8(ascii: "-") { position += 1 }
        try consumeDigits()
    }

    private mutating func consumeDigits() throws(Invalid) {
        let start = position
        while let byte, byte.isDigit { position += 1 }
        guard position > start else { throw Invalid() }
    }
}

// MARK: - Text

extension JSONTokens {
    /// A string's or name's content, decoded.
    ///
    /// A lone surrogate becomes U+FFFD.
    func text(of token: Token) -> String {
        let inner = bytes[(token.range.lowerBound + 1)..<(token.range.upperBound - 1)]
        let hasEscape = inner.withUnsafeBytes { inner in inner.baseAddress.flatMap { memchr($0, 0x5C, inner.count) } != nil }
        guard hasEscape else { return String(decoding: inner, as: UTF8.self) }
        var content: [UInt8] = []
        var position = inner.startIndex
        while position < inner.endIndex {
            if let escape = JSONEscape(bytes, at: position) {
                content += String(escape.scalar).utf8
                position = escape.end
            } else {
                content.append(inner[position])
                position += 1
            }
        }
        return String(decoding: content, as: UTF8.self)
    }
}

extension String {
    /// The text as a JSON string.
    package var jsonString: [UInt8] {
        var string = [UInt8(ascii: "\"")]
        for byte in utf8 {
            switch byte {
            case UInt8(ascii: "\""), UInt8(ascii: "\\"): string += [UInt8(ascii: "\\"), byte]
            case ..<0x20: string += Array("\\u00".utf8) + [byte >> 4, byte & 15].map { Array("0123456789abcdef".utf8)[Int($0)] }
            default: string.append(byte)
            }
        }
        return string + [UInt8(ascii: "\"")]
    }
}

// MARK: - Escapes

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
    /// A hexadecimal digit's value; `nil` for another character.
    package var hexValue: UInt8? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): self - UInt8(ascii: "0")
        case UInt8(ascii: "a")...UInt8(ascii: "f"): self - UInt8(ascii: "a") + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): self - UInt8(ascii: "A") + 10
        default: nil
        }
    }
}
