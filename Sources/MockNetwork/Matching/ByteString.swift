import Foundation

/// Text that is compared by its bytes, as servers do. A `String` compares characters, so an `é` of one scalar equals one of two.
struct ByteString: Sendable, Hashable, CustomStringConvertible {
    private let utf8: [UInt8]

    init(_ text: some StringProtocol) { utf8 = Array(text.utf8) }

    var description: String { String(decoding: utf8, as: UTF8.self) }
}

extension StringProtocol {
    /// Whether both have the same bytes.
    func hasBytes(of other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension String {
    /// Whether `text` fits this recorded text, in which a placeholder stands for any secret.
    func matchesRedacted(_ text: String) -> Bool {
        let placeholder = RecordingRedactor.placeholder
        guard let start = range(of: placeholder), let end = range(of: placeholder, options: .backwards) else { return hasBytes(of: text) }
        let (prefix, suffix) = (self[..<start.lowerBound], self[end.upperBound...])
        return text.hasPrefix(prefix) && text.dropFirst(prefix.count).hasSuffix(suffix)
    }
}
