extension String {
    /// Calls `body` with the UTF-8 of this string, faster than through `utf8`.
    package func withBytes<Result>(_ body: (UnsafeBufferPointer<UInt8>) throws -> Result) rethrows -> Result {
        if let result = try utf8.withContiguousStorageIfAvailable(body) { return result }
        var copy = self
        return try copy.withUTF8(body)
    }
}

extension UInt8 {
    package var isDigit: Bool { UInt8(ascii: "0")...UInt8(ascii: "9") ~= self }

    package var isLowercaseLetter: Bool { UInt8(ascii: "a")...UInt8(ascii: "z") ~= self }

    package var isUppercaseLetter: Bool { UInt8(ascii: "A")...UInt8(ascii: "Z") ~= self }

    /// The same letter in lowercase, or the byte itself.
    package var lowercased: UInt8 { isUppercaseLetter ? self | 0x20 : self }
}
