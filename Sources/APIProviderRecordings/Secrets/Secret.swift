import Foundation

/// A secret text, and the placeholder in the file.
struct Secret: Sendable {
    /// The best evidence that a text is secret.
    enum Origin: Comparable {
        /// A response has the text inside an object with a listed name.
        case object
        /// A response has the text under a listed name, or a request has a cookie that the app also sends in the open.
        case response
        /// The program calls the text secret, a request has the text under a listed name, or the text is a key.
        case test
        case environment
    }

    enum Reach {
        /// The text may occur by chance, and is replaced with its name only.
        case named
        case everywhere
    }

    let text: String
    /// The beginning of the placeholder, such as `token`.
    let label: String
    var origin: Origin
    var reach: Reach
    /// The general places of requests where the placeholder takes a text: those with a listed name or, for a marked secret, all. None for a
    /// response's secret: the app sends the placeholder.
    var places: Set<String> = []
    /// The messages with this secret: in any notation or, for a common text, with its name.
    var messages: Set<Int> = []
    private(set) var placeholder = ""
    /// The placeholder, or a whole JWT with the placeholder as the signature.
    var replacement = ""

    /// Sets the placeholder to the one with this number. A UUID stays a UUID, and a number keeps its digits' count.
    mutating func setPlaceholder(_ number: Int, width: Int) {
        if UUID(uuidString: text) != nil {
            placeholder = "00000000-0000-4000-8000-\("\(number)".leftPadded(to: 12))"
        } else if text.isNumber {
            placeholder = Self.number(like: text, number)
        } else {
            placeholder = "\(label)-\("\(number)".leftPadded(to: width))"
        }
        replacement = placeholder
    }

    /// A number starting with 1: `-48.137` becomes `-10.000`. More secrets than such numbers need more digits.
    private static func number(like text: String, _ number: Int) -> String {
        let sign = text.hasPrefix("-") ? "-" : ""
        let counts = text.dropFirst(sign.count).prefix { $0.isNumber || $0 == "." }.split(separator: ".").map(\.count)
        let rest = counts.reduce(-1, +), fraction = counts.count > 1 ? counts[1] : 0
        let digits = "1" + (rest > 0 || number > 1 ? "\(number - 1)".leftPadded(to: rest) : "")
        return sign + digits.dropLast(fraction) + (fraction > 0 ? ".\(digits.suffix(fraction))" : "")
    }
}

extension String {
    fileprivate func leftPadded(to count: Int) -> String { String(repeating: "0", count: max(0, count - utf8.count)) + self }
}
