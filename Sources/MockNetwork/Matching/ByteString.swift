import Foundation

/// Text that is compared by its bytes, as servers do. A `String` compares characters, so an `é` of one scalar equals one of two.
struct ByteString: Sendable, Hashable, CustomStringConvertible {
    private let utf8: [UInt8]

    init(_ text: some StringProtocol) { utf8 = Array(text.utf8) }

    var description: String { String(decoding: utf8, as: UTF8.self) }
}

extension StringProtocol {
    /// Whether both have the same bytes.
    func hasSameBytes(as other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}

extension String {
    /// Whether `text` fits this text of a recording, in which a placeholder stands for any secret.
    func matchesRedacted(_ text: String) -> Bool {
        let pieces = components(separatedBy: RecordingRedactor.placeholder).map { Data($0.utf8) }
        var rest = Data(text.utf8)[...]
        guard pieces.count > 1, let last = pieces.last, rest.starts(with: pieces[0]) else { return hasSameBytes(as: text) }
        rest = rest.dropFirst(pieces[0].count)
        guard rest.count >= last.count, rest.suffix(last.count).elementsEqual(last) else { return false }
        rest = rest.dropLast(last.count)
        for piece in pieces.dropFirst().dropLast() where !piece.isEmpty {
            guard let place = rest.range(of: piece) else { return false }
            rest = rest[place.upperBound...]
        }
        return true
    }
}
