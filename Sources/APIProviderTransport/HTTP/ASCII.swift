package import Foundation

extension String {
    /// Calls `body` with the UTF-8 of this string, faster than through `utf8`.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return try copy.withUTF8(body)
    }
}

extension StringProtocol {
    /// Whether both have the same bytes. `==` compares characters: an `é` with one scalar equals one with two.
    ///
    /// `@inlinable`, because a generic function of another module is not specialized, and a mock compares many paths.
    @inlinable package func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }

    /// Whether these scalars occur. For `contains`, a combining mark makes the last one another character.
    package func hasScalars(_ text: String) -> Bool { range(of: text, options: .literal) != nil }

    /// The parts between the bytes `mark`, an ASCII character's. For `split`, a combining mark makes it another character.
    package func parts(between mark: UInt8) -> [Substring] {
        Substring(self).utf8.split(separator: mark, omittingEmptySubsequences: false).map { Substring($0) }
    }
}

extension Substring {
    /// The text before the first byte `mark`, an ASCII character's, and the text after it; `nil` without a mark.
    func split(at mark: UInt8) -> (Substring, Substring?) {
        guard let index = utf8.firstIndex(of: mark) else { return (self, nil) }
        return (self[..<index], self[utf8.index(after: index)...])
    }

    /// The number in decimal digits; `nil` for another character, such as a sign, and for too large a number.
    var number: Int64? { utf8.allSatisfy(\.isDigit) ? Int64(self) : nil }
}

extension NSRange {
    /// The range in `text`; `nil` if nothing was found. `Range(_:in:)` is `nil` within a character, too, as before a combining mark.
    package func indices(in text: String) -> Range<String.Index>? {
        guard location != NSNotFound else { return nil }
        let start = text.utf16.index(text.startIndex, offsetBy: location)
        return start..<text.utf16.index(start, offsetBy: length)
    }
}

extension UInt8 {
    package var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    package var isLowercaseLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }

    package var isUppercaseLetter: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

    /// The same letter in lowercase, or the byte itself.
    var lowercased: UInt8 { isUppercaseLetter ? self | 0x20 : self }
}
