/// Text that is written in another way within a text: with the escapes of a JSON string, of a URL, or of HTML.
struct InnerText {
    enum Notation { case json, url, html }

    /// What it says.
    private(set) var bytes: [UInt8] = []
    /// Where it stands.
    let source: Range<Int>
    private let notation: Notation
    /// Where each of `bytes` stands.
    private var offsets: [Int] = []

    /// The content of a JSON string (RFC 8259, section 7), without its quotes.
    init(jsonString range: Range<Int>, in text: [UInt8]) {
        (source, notation) = (range, .json)
        var position = range.lowerBound
        while position < range.upperBound {
            let start = position
            position += 1
            guard text[start] == UInt8(ascii: "\\"), position < range.upperBound else {
                append(text[start], from: start)
                continue
            }
            position += 1
            switch text[start + 1] {
            case UInt8(ascii: "n"): append(0x0A, from: start)
            case UInt8(ascii: "r"): append(0x0D, from: start)
            case UInt8(ascii: "t"): append(0x09, from: start)
            case UInt8(ascii: "b"), UInt8(ascii: "f"): append(0x20, from: start)
            case UInt8(ascii: "u"):
                let (scalar, end) = text.scalar(at: position, to: range.upperBound)
                for byte in String(scalar).utf8 { append(byte, from: start) }
                position = end
            case let byte: append(byte, from: start)
            }
        }
    }

    /// Text with `%XX` for some of its bytes (RFC 3986, section 2.1).
    ///
    /// - Parameter plusIsSpace: Whether it is the value of a form.
    init(percentEncoded range: Range<Int>, in text: [UInt8], plusIsSpace: Bool = false) {
        (source, notation) = (range, .url)
        var position = range.lowerBound
        while position < range.upperBound {
            let start = position
            if text[start] == UInt8(ascii: "%"), let byte = text.hexNumber(at: start + 1, count: 2, to: range.upperBound) {
                append(UInt8(byte), from: start)
                position += 3
            } else {
                append(plusIsSpace && text[start] == UInt8(ascii: "+") ? 0x20 : text[start], from: start)
                position += 1
            }
        }
    }

    /// Text with references such as `&quot;` for some of its characters (the HTML standard, section 13.5).
    init(html range: Range<Int>, in text: [UInt8]) {
        (source, notation) = (range, .html)
        var position = range.lowerBound
        while position < range.upperBound {
            let isReference = text[position] == UInt8(ascii: "&")
            let reference = isReference ? Self.references.first { text[position..<range.upperBound].starts(with: $0.name) } : nil
            append(reference?.byte ?? text[position], from: position)
            position += reference?.name.utf8CodeUnitCount ?? 1
        }
    }

    /// The references for characters that would end a value. They all begin with `&`.
    private static let references: [(name: StaticString, byte: UInt8)] = [
        ("&quot;", 0x22), ("&#34;", 0x22), ("&#x22;", 0x22), ("&apos;", 0x27), ("&#39;", 0x27), ("&#x27;", 0x27), ("&amp;", 0x26),
        ("&#38;", 0x26), ("&lt;", 0x3C), ("&gt;", 0x3E),
    ]

    /// Whether a character is written here as HTML has it.
    static func isReference(_ text: [UInt8], at position: Int, to end: Int) -> Bool {
        references.contains { text[position..<end].starts(with: $0.name) }
    }

    private mutating func append(_ byte: UInt8, from offset: Int) {
        bytes.append(byte)
        offsets.append(offset)
    }

    /// Where a part of it stands, which is not empty.
    func source(of range: Range<Int>) -> Range<Int> {
        let end = range.upperBound < offsets.count ? offsets[range.upperBound] : source.upperBound
        return offsets[range.lowerBound]..<end
    }

    /// Other text, written as this one is.
    func written(_ text: [UInt8]) -> [UInt8] {
        text.flatMap { byte -> [UInt8] in
            switch notation {
            case .html where byte == UInt8(ascii: "\""): Array("&quot;".utf8)
            case .html where byte == UInt8(ascii: "&"): Array("&amp;".utf8)
            case .json where byte == UInt8(ascii: "\"") || byte == UInt8(ascii: "\\"): [UInt8(ascii: "\\"), byte]
            case .url where !byte.isWordByte && byte != UInt8(ascii: "-"):
                Array("%\(String(byte, radix: 16, uppercase: true))".utf8)
            default: [byte]
            }
        }
    }
}

extension [UInt8] {
    /// The scalar behind `\u`, and where its digits end. Half of a pair of surrogates is none.
    fileprivate func scalar(at position: Int, to end: Int) -> (Unicode.Scalar, end: Int) {
        guard let code = hexNumber(at: position, count: 4, to: end) else { return ("u", position) }
        if 0xD800..<0xDC00 ~= code, self[(position + 4)..<end].starts(with: "\\u"),
            let low = hexNumber(at: position + 6, count: 4, to: end), 0xDC00..<0xE000 ~= low,
            let scalar = Unicode.Scalar(UInt32(0x10000 + (code - 0xD800) << 10 + low - 0xDC00))
        {
            return (scalar, position + 10)
        }
        return (Unicode.Scalar(UInt32(code)) ?? "\u{FFFD}", position + 4)
    }

    /// The number that stands at `position` in `count` hexadecimal digits.
    func hexNumber(at position: Int, count: Int, to end: Int) -> Int? {
        guard end - position >= count else { return nil }
        var number = 0
        for byte in self[position..<position + count] {
            guard let digit = byte.hexDigit else { return nil }
            number = number << 4 | digit
        }
        return number
    }
}

extension UInt8 {
    fileprivate var hexDigit: Int? {
        switch self {
        case UInt8(ascii: "0")...UInt8(ascii: "9"): Int(self - UInt8(ascii: "0"))
        case UInt8(ascii: "A")...UInt8(ascii: "F"): Int(self - UInt8(ascii: "A")) + 10
        case UInt8(ascii: "a")...UInt8(ascii: "f"): Int(self - UInt8(ascii: "a")) + 10
        default: nil
        }
    }
}
