import Foundation

/// Walks over JSON text without building anything, so that it takes text that breaks off.
package struct JSONTextScanner {
    package let bytes: [UInt8]
    package private(set) var position = 0

    package init(_ text: some StringProtocol) { bytes = Array(text.utf8) }

    /// The first byte of what comes next.
    package func peek() -> UInt8? { position < bytes.count ? bytes[position] : nil }

    /// A whole string, with its quotes, or one byte of anything else.
    package mutating func next() -> ArraySlice<UInt8>? {
        guard position < bytes.count else { return nil }
        let start = position
        position += 1
        guard bytes[start] == UInt8(ascii: "\"") else { return bytes[start..<position] }
        while position < bytes.count, bytes[position] != UInt8(ascii: "\"") {
            position += bytes[position] == UInt8(ascii: "\\") ? 2 : 1
        }
        position = min(position + 1, bytes.count)
        return bytes[start..<position]
    }

    /// A colon with the white space around it, if that comes next.
    package mutating func colon() -> ArraySlice<UInt8>? {
        var end = position
        var hasColon = false
        while end < bytes.count, [9, 10, 13, 32].contains(bytes[end]) || (!hasColon && bytes[end] == UInt8(ascii: ":")) {
            hasColon = hasColon || bytes[end] == UInt8(ascii: ":")
            end += 1
        }
        guard hasColon else { return nil }
        defer { position = end }
        return bytes[position..<end]
    }

    /// Passes over white space.
    package mutating func skipSpace() {
        while position < bytes.count, [9, 10, 13, 32].contains(bytes[position]) { position += 1 }
    }

    /// What a string says, without its quotes and escapes.
    package static func content(of string: ArraySlice<UInt8>) -> String {
        guard string.contains(UInt8(ascii: "\\")), let text = try? JSONDecoder().decode(String.self, from: Data(string)) else {
            return String(decoding: string.dropFirst().dropLast(), as: UTF8.self)
        }
        return text
    }
}
