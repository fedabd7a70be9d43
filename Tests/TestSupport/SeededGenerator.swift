/// SplitMix64: the same numbers for the same seed.
package struct SeededGenerator: RandomNumberGenerator {
    private var state: UInt64

    package init(seed: UInt64) { state = seed }

    package mutating func next() -> UInt64 {
        state &+= 0x9E37_79B9_7F4A_7C15
        var z = state
        z = (z ^ (z >> 30)) &* 0xBF58_476D_1CE4_E5B9
        z = (z ^ (z >> 27)) &* 0x94D0_49BB_1331_11EB
        return z ^ (z >> 31)
    }

    /// Up to eight characters. Many of them need escapes; the first is no byte order mark, which Foundation drops where it reads a text.
    package mutating func text() -> String {
        let scalars = (0..<Int.random(in: 0...8, using: &self)).compactMap { _ in
            switch Int.random(in: 0...3, using: &self) {
            case 0: Array("/%?#&=+ .;:\"\r\n".unicodeScalars).randomElement(using: &self)
            case 1: Unicode.Scalar(UInt32.random(in: 1...0x10_FFFF, using: &self))
            default: Unicode.Scalar(UInt32.random(in: 1...0x2FF, using: &self))
            }
        }
        return String(String.UnicodeScalarView(scalars.drop { $0 == "\u{FEFF}" }))
    }
}
