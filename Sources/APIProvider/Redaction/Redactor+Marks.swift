import Foundation

// What is written in the place of a secret.
extension Redactor {
    var mark: [UInt8] { Array((style == .recording ? Self.placeholder : "…").utf8) }

    /// The mark as a string of JSON.
    var quotedMark: [UInt8] { [UInt8(ascii: "\"")] + mark + [UInt8(ascii: "\"")] }

    /// Text that has `…` for what is secret in it.
    func marking(_ text: [UInt8]) -> [UInt8] {
        guard style == .recording else { return text }
        return Array(String(decoding: text, as: UTF8.self).replacingOccurrences(of: "…", with: Self.placeholder).utf8)
    }

    /// What stands for `value`: the mark, but for a UUID, a date and a number another of the same form.
    func replacement(for value: ArraySlice<UInt8>) -> [UInt8] {
        guard keepsKinds, value.count <= 40, value.contains(where: \.isDigit) else { return mark }
        let zeros = value.map { $0.isWordByte ? UInt8(ascii: "0") : $0 }
        if value.isNumber || UUID(uuidString: String(decoding: value, as: UTF8.self)) != nil { return zeros }
        guard value.beginsAsDate else { return mark }
        return Array("2000-01-01".utf8) + value.dropFirst(10).map { $0.isDigit ? UInt8(ascii: "0") : $0 }
    }
}

extension ArraySlice<UInt8> {
    fileprivate var isNumber: Bool {
        let digits = first.map { "+-".utf8.contains($0) } == true ? dropFirst() : self
        return digits.first?.isDigit == true && digits.last?.isDigit == true && digits.count { $0 == UInt8(ascii: ".") } < 2
            && digits.allSatisfy { $0.isDigit || $0 == UInt8(ascii: ".") }
    }

    /// Whether it is a date of ISO 8601, with a time or without.
    fileprivate var beginsAsDate: Bool {
        count >= 10
            && enumerated().allSatisfy { index, byte in
                switch index {
                case 4, 7: byte == UInt8(ascii: "-")
                case ..<10: byte.isDigit
                default: byte.isDigit || "T:.,Z+- ".utf8.contains(byte)
                }
            }
    }
}
