/// Text that is equal to other text if its bytes are. `String` takes an `é` of one scalar and one of two for the same, and servers do not.
struct ExactText: Sendable, Hashable, CustomStringConvertible {
    private let utf8: [UInt8]

    init(_ text: some StringProtocol) { utf8 = Array(text.utf8) }

    var description: String { String(decoding: utf8, as: UTF8.self) }
}

extension StringProtocol {
    /// Whether both have the same bytes.
    func hasBytes(of other: some StringProtocol) -> Bool { utf8.elementsEqual(other.utf8) }
}
