import APIProvider
import Foundation

/// Reads JSON text as RFC 8259 has it, value by value. Foundation rounds numbers, and lets through what is no JSON.
struct JSONReader {
    struct Unreadable: Error {}

    enum Beginning {
        case object, array, string
        /// A number or one of the three names, which is passed over.
        case word(String)
    }

    private var scanner: JSONTextScanner

    init(_ data: Data) {
        let data = data.starts(with: [0xEF, 0xBB, 0xBF]) ? data.dropFirst(3) : data
        // UTF-16 has a NUL beside each ASCII character.
        let encoding: String.Encoding = !data.prefix(4).contains(0) ? .utf8 : data.first == 0 ? .utf16BigEndian : .utf16LittleEndian
        scanner = JSONTextScanner(String(data: data, encoding: encoding) ?? "")
    }

    var isAtEnd: Bool {
        mutating get {
            scanner.skipSpace()
            return scanner.peek() == nil
        }
    }

    /// What comes next. The bracket of an object or an array is passed over.
    mutating func begin() throws -> Beginning {
        scanner.skipSpace()
        switch scanner.peek() {
        case UInt8(ascii: "{"):
            _ = scanner.next()
            return .object
        case UInt8(ascii: "["):
            _ = scanner.next()
            return .array
        case UInt8(ascii: "\""): return .string
        default:
            var word: [UInt8] = []
            while let byte = scanner.peek(), "+-.0123456789eEtrufalsn".utf8.contains(byte) { word += scanner.next() ?? [] }
            return .word(String(decoding: word, as: UTF8.self))
        }
    }

    mutating func string() throws -> String {
        scanner.skipSpace()
        // Of more than one byte is a string alone.
        guard let string = scanner.next(), string.count >= 2, string.last == UInt8(ascii: "\"") else { throw Unreadable() }
        return try JSONDecoder().decode(String.self, from: Data(string))
    }

    mutating func skip(_ mark: Unicode.Scalar) throws {
        scanner.skipSpace()
        guard scanner.next().map(Array.init) == [UInt8(ascii: mark)] else { throw Unreadable() }
    }

    /// Calls `read` at each element, and passes over the bracket at the end.
    mutating func forEachElement(endingWith bracket: Unicode.Scalar, _ read: (inout JSONReader) throws -> Void) throws {
        scanner.skipSpace()
        guard scanner.peek() != UInt8(ascii: bracket) else { return try skip(bracket) }
        try read(&self)
        scanner.skipSpace()
        while scanner.peek() == UInt8(ascii: ",") {
            try skip(",")
            try read(&self)
            scanner.skipSpace()
        }
        try skip(bracket)
    }
}
