import APIProvider
package import Foundation

/// The tokens of JSON text (RFC 8259), in order.
///
/// It checks the whole grammar, builds nothing and does not recurse, so neither long nor deep text can harm it. Time is linear.
package struct JSONTokens {
    package enum Kind: Sendable {
        case beginObject, endObject, beginArray, endArray
        /// The name of a member, and the colon after it.
        case name
        case string, number, `true`, `false`, null
    }

    package struct Token: Sendable {
        package let kind: Kind
        /// Strings and names include their quotes.
        package let range: Range<Int>
    }

    /// The text is not JSON.
    package struct Invalid: Error {}

    private enum Expected { case value, firstElement, firstName, name, separator }

    package let bytes: [UInt8]
    /// Where the next token is looked for. After an error, the place of the fault.
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

    /// The next token, or `nil` at the end of the text.
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
        while let byte, byte >= 0x20 {
            position += 1
            if byte == UInt8(ascii: "\"") { return }
            if byte == UInt8(ascii: "\\") { try consumeEscape() }
        }
        throw Invalid()
    }

    private mutating func consumeEscape() throws(Invalid) {
        switch byte {
        case UInt8(ascii: "u"):
            guard hexNumber(at: position + 1) != nil else { throw Invalid() }
            position += 5
        case let byte? where Self.escapes[Int(byte)] != 0: position += 1
        default: throw Invalid()
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

extension JSONTokens {
    /// The content of a string or a name, decoded.
    package func text(of token: Token) -> String { String(decoding: content(of: token), as: UTF8.self) }

    /// The content of a string or a name in UTF-8, decoded. Half of a pair of surrogates becomes U+FFFD.
    func content(of token: Token) -> [UInt8] {
        let inner = bytes[(token.range.lowerBound + 1)..<(token.range.upperBound - 1)]
        guard inner.contains(UInt8(ascii: "\\")) else { return Array(inner) }
        var content: [UInt8] = []
        var position = inner.startIndex
        while position < inner.endIndex {
            guard inner[position] == UInt8(ascii: "\\") else {
                content.append(inner[position])
                position += 1
                continue
            }
            if let code = inner[position + 1] == UInt8(ascii: "u") ? hexNumber(at: position + 2) : nil {
                position += 6
                var scalar = Unicode.Scalar(code)
                if 0xD800..<0xDC00 ~= code, bytes[position...].starts(with: "\\u".utf8), let low = hexNumber(at: position + 2),
                    0xDC00..<0xE000 ~= low
                {
                    scalar = Unicode.Scalar(0x10000 + (code - 0xD800) << 10 + (low - 0xDC00))
                    position += 6
                }
                content += String(scalar ?? "\u{FFFD}").utf8
            } else {
                content.append(Self.escapes[Int(inner[position + 1])])
                position += 2
            }
        }
        return content
    }

    private func hexNumber(at position: Int) -> UInt32? {
        guard position + 4 <= bytes.count else { return nil }
        var number: UInt32 = 0
        for byte in bytes[position..<position + 4] {
            guard let digit = byte.hexDigit else { return nil }
            number = number << 4 | digit
        }
        return number
    }

    /// The meaning of each byte behind a backslash. 0 if it has none.
    private static let escapes: [UInt8] = {
        var escapes = [UInt8](repeating: 0, count: 256)
        for (byte, meaning) in zip("\"\\/bfnrt".utf8, [0x22, 0x5C, 0x2F, 0x08, 0x0C, 0x0A, 0x0D, 0x09] as [UInt8]) {
            escapes[Int(byte)] = meaning
        }
        return escapes
    }()
}

extension UInt8 {
    fileprivate var hexDigit: UInt32? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): UInt32(self - UInt8(ascii: "0"))
        case UInt8(ascii: "a")...UInt8(ascii: "f"): UInt32(self - UInt8(ascii: "a")) + 10
        case UInt8(ascii: "A")...UInt8(ascii: "F"): UInt32(self - UInt8(ascii: "A")) + 10
        default: nil
        }
    }
}

extension String {
    /// The text as a string of JSON.
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
