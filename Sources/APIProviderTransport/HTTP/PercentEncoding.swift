package import Foundation

/// A set of ASCII bytes, such as a URL's unescaped ones, with all other bytes or none.
struct ASCIISet {
    private var bits: (UInt64, UInt64) = (0, 0)
    private var containsNonASCII = false

    private init(_ characters: String) {
        for byte in characters.utf8 {
            if byte < 64 { bits.0 |= 1 << byte } else { bits.1 |= 1 << (byte - 64) }
        }
    }

    private init(allBut characters: String) {
        self.init(characters)
        (bits, containsNonASCII) = ((~bits.0, ~bits.1), true)
    }

    func contains(_ byte: UInt8) -> Bool {
        byte < 64 ? bits.0 >> byte & 1 == 1 : byte < 128 ? bits.1 >> (byte - 64) & 1 == 1 : containsNonASCII
    }

    private static let alphanumerics = "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789"

    /// RFC 3986, section 2.3.
    static let unreserved = ASCIISet(alphanumerics + "-._~")
    /// RFC 3986, section 3.3: `pchar`, and the slash between segments.
    static let path = ASCIISet(alphanumerics + "-._~" + "!$&'()*+,;=" + ":@" + "/")
    /// RFC 3986, section 2, without the brackets of an IPv6 address.
    static let url = ASCIISet(alphanumerics + "-._~" + "!$&'()*+,;=" + ":@" + "/?#")
    /// The delimiters after a URL's host, or after the user before the host.
    static let hostDelimiters = ASCIISet("/?#@:")
    /// RFC 9110, section 5.6.2: `tchar`.
    static let token = ASCIISet(alphanumerics + "!#$%&'*+-.^_`|~")
    /// The WHATWG URL standard, `application/x-www-form-urlencoded` percent-encode set.
    static let form = ASCIISet(alphanumerics + "*-._" + " ")
    /// The WHATWG HTML standard, section 4.10.21.8: names and file names of `multipart/form-data`.
    static let multipartName = ASCIISet(allBut: "\r\n\"")
}

// MARK: - Encoding

extension String {
    /// This string's UTF-8, with each byte outside `unescaped` as `%XX`.
    func percentEncoded(except unescaped: ASCIISet) -> String {
        guard !withBytes({ $0.allSatisfy(unescaped.contains) }) else { return self }
        var bytes: [UInt8] = []
        for byte in utf8 {
            if unescaped.contains(byte) {
                bytes.append(byte)
            } else {
                bytes += [UInt8(ascii: "%"), Self.hexDigits[Int(byte >> 4)], Self.hexDigits[Int(byte & 15)]]
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }

    /// A URL's text, with escapes for invalid bytes. Existing escapes stay unchanged.
    ///
    /// In a component with an invalid character, `URL(string:)` escapes everything, existing escapes included. So this method escapes all
    /// components but the authority, which `URL(string:)` encodes correctly.
    @_spi(Transports) public var escapedAsURL: String {
        let start = endOfAuthority
        let pieces = self[start...].parts(between: UInt8(ascii: "%"))
        var text = String(self[..<start])
        for (index, piece) in pieces.enumerated() {
            let isEscape = UInt8(hexDigits: piece.utf8.prefix(2)) != nil
            text += index == 0 ? "" : isEscape ? "%" : "%25"
            text += String(piece).percentEncoded(except: .url)
        }
        return text
    }

    /// The index after a URL's host and port, or the start of a text without them.
    private var endOfAuthority: Index {
        var rest = utf8[...]
        if let mark = rest.firstIndex(where: { ":/?#".utf8.contains($0) }), rest[mark] == UInt8(ascii: ":") {
            rest = rest[mark...].dropFirst()
        }
        guard rest.starts(with: "//".utf8) else { return startIndex }
        return rest.dropFirst(2).firstIndex { "/?#".utf8.contains($0) } ?? endIndex
    }

    /// The text as a query value or a path segment.
    package var escapedAsValue: String { percentEncoded(except: .unreserved) }

    /// The text as a path. Slashes stay.
    package var escapedAsPath: String { percentEncoded(except: .path) }

    /// The text as a name or a file name of `multipart/form-data`.
    package var escapedAsMultipartName: String { percentEncoded(except: .multipartName) }

    /// The text as a name or a value of `application/x-www-form-urlencoded`.
    package var formEncoded: String {
        percentEncoded(except: .form).replacingOccurrences(of: " ", with: "+")
    }

    private static let hexDigits = Array("0123456789ABCDEF".utf8)
}

// MARK: - Decoding

extension String {
    /// The text of UTF-8; `nil` for other bytes. On Linux, Foundation leaves out a byte order mark.
    package init?(utf8 data: Data) {
        guard let text = String(data: data, encoding: .utf8) else { return nil }
        self = text.utf8.count == data.count ? text : "\u{FEFF}\(text)"
    }
}

extension StringProtocol {
    /// The text without percent escapes; `nil` if one is invalid. On Linux, Foundation would leave out a byte order mark at its start.
    package var percentDecoded: String? {
        "/\(self)".removingPercentEncoding.map { String(Substring($0.utf8.dropFirst())) }
    }

    /// A form's or query's text without escapes, by the WHATWG URL standard (section 5.1).
    package var formDecoded: String {
        var bytes: [UInt8] = []
        bytes.reserveCapacity(utf8.count)
        var rest = Substring(self).utf8
        while let byte = rest.popFirst() {
            if byte == UInt8(ascii: "%"), let escaped = UInt8(hexDigits: rest.prefix(2)) {
                bytes.append(escaped)
                rest = rest.dropFirst(2)
            } else {
                bytes.append(byte == UInt8(ascii: "+") ? UInt8(ascii: " ") : byte)
            }
        }
        return String(decoding: bytes, as: UTF8.self)
    }
}

extension UInt8 {
    fileprivate var hexDigitValue: UInt8? { Character(Unicode.Scalar(self)).hexDigitValue.map { UInt8($0) } }

    /// The byte with two hexadecimal digits.
    fileprivate init?(hexDigits: Substring.UTF8View) {
        guard hexDigits.count == 2, let high = hexDigits.first?.hexDigitValue, let low = hexDigits.last?.hexDigitValue else { return nil }
        self = high << 4 | low
    }
}
