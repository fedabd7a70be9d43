import Foundation

/// Text that is compared by its bytes, as servers do. A `String` compares characters, so an `é` of one scalar equals one of two.
struct ByteString: Sendable, Hashable, CustomStringConvertible {
    private let utf8: [UInt8]

    init(_ text: some StringProtocol) { utf8 = Array(text.utf8) }

    var description: String { String(decoding: utf8, as: UTF8.self) }
}
