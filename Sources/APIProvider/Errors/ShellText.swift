import Foundation

/// Bytes as a POSIX shell reads them (POSIX.1-2017, Shell Command Language, section 2.2).
package struct ShellText {
    let bytes: Data

    package init(_ text: String) { bytes = Data(text.utf8) }

    init(_ bytes: Data) { self.bytes = bytes }

    /// A shell word that expands to exactly these bytes. Bytes that are not ``isPlain`` must contain no NUL and must not end in a line
    /// break.
    package var word: String {
        guard let plain else { return "\"$(\(printf))\"" }
        return "'\(plain.replacingOccurrences(of: "'", with: #"'\''"#))'"
    }

    /// A command that prints exactly these bytes.
    var printf: String {
        let format = bytes.map { byte in
            switch byte {
            case UInt8(ascii: "%"): "%%"
            case UInt8(ascii: "\\"): #"\\"#
            case UInt8(ascii: "'"), ..<0x20, 0x7F...: octal(byte)
            default: String(UnicodeScalar(byte))
            }
        }.joined()
        // A hyphen would begin an option.
        return format.hasPrefix("-") ? "printf '\(octal(UInt8(ascii: "-")))\(format.dropFirst())'" : "printf '\(format)'"
    }

    /// Whether the bytes are text that may stand in a command as it is: a terminal would act on control characters while it is pasted, and
    /// a system limits a word to 128 KiB.
    var isPlain: Bool { plain != nil }

    private var plain: String? {
        guard bytes.count < 100_000, let text = String(data: bytes, encoding: .utf8) else { return nil }
        return text.unicodeScalars.allSatisfy { $0 == "\n" || $0.properties.generalCategory != .control } ? text : nil
    }

    private func octal(_ byte: UInt8) -> String {
        let digits = String(byte, radix: 8)
        return "\\" + String(repeating: "0", count: 3 - digits.count) + digits
    }
}
