package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

extension String {
    /// `data` as text, in the charset of the response's Content-Type (RFC 9110, section 8.3.2), or else in UTF-8.
    init(_ data: Data, of response: HTTPURLResponse) throws {
        let name = response.contentType?.charset ?? "utf-8"
        guard let encoding = Encoding(charset: name.lowercased(), of: data) else {
            throw Self.mismatch("its charset \(name.cut(to: 40)) is not known here; read it as Data")
        }
        // On Linux, Foundation decodes UTF-16 with an odd number of bytes as an empty string.
        let isWhole = !encoding.isUTF16 || data.count % 2 == 0
        guard isWhole, let text = String(data: data, encoding: encoding) else {
            throw Self.mismatch("it is not \(name.cut(to: 40)) text, or has characters that this system cannot read in that charset")
        }
        self = text
    }

    private static func mismatch(_ problem: String) -> DecodingError {
        .dataCorrupted(.init(codingPath: [], debugDescription: problem, underlyingError: BodyMismatch(problem)))
    }
}

extension String.Encoding {
    /// - Parameters:
    ///   - charset: The name in lowercase, as registered by IANA or as written by servers.
    ///   - text: The text, maybe with a byte order mark.
    package init?(charset: String, of text: Data) {
        switch charset {
        case "utf-8", "utf8", "us-ascii", "ascii": self = .utf8
        case "iso-8859-1", "latin1", "l1": self = .isoLatin1
        case "windows-1252", "cp1252": self = .windowsCP1252
        case "utf-16le": self = .utf16LittleEndian
        case "utf-16be": self = .utf16BigEndian
        // Without a byte order mark, the text is big-endian (RFC 2781, section 4.3).
        case "utf-16": self = text.starts(with: [0xFF, 0xFE]) || text.starts(with: [0xFE, 0xFF]) ? .utf16 : .utf16BigEndian
        default:
            guard let number = Self.number(of: charset) else { return nil }
            self.init(rawValue: 0x8000_0000 | number)
        }
    }

    fileprivate var isUTF16: Bool { [.utf16, .utf16LittleEndian, .utf16BigEndian].contains(self) }

    /// Core Foundation's number. A raw value may be such a number with the highest bit set. Not all of these have constants, and on Linux,
    /// `macOSRoman` gives wrong text.
    private static func number(of charset: String) -> UInt? {
        if charset.hasPrefix("iso-8859-"), let part = UInt(charset.dropFirst(9)), 2...16 ~= part, part != 12 { return 0x0200 + part }
        return numbers[charset.hasPrefix("cp125") ? "windows-\(charset.dropFirst(2))" : charset]
    }

    private static let numbers: [String: UInt] = [
        "macintosh": 0, "tis-620": 0x041D, "windows-874": 0x041D, "ibm866": 0x041B, "windows-31j": 0x0420, "windows-949": 0x0422,
        "windows-1250": 0x0501, "windows-1251": 0x0502, "windows-1253": 0x0503, "windows-1254": 0x0504, "windows-1255": 0x0505,
        "windows-1256": 0x0506, "windows-1257": 0x0507, "windows-1258": 0x0508, "gb2312": 0x0632, "gbk": 0x0632, "gb18030": 0x0632,
        "iso-2022-jp": 0x0820, "euc-jp": 0x0920, "euc-kr": 0x0940, "shift_jis": 0x0A01, "shift-jis": 0x0A01, "sjis": 0x0A01,
        "koi8-r": 0x0A02, "big5": 0x0A03, "koi8-u": 0x0A08,
    ]
}
