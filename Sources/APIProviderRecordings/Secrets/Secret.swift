import APIProvider
import APIProviderMocks
import Foundation

/// A text that does not stand in the file, and the placeholder that stands there for it.
struct Secret: Sendable {
    let text: String
    /// The beginning of the placeholder, such as `token`.
    let label: String
    /// Whether the app has it from a response. Then its placeholder is a text like any other. Otherwise it matches other texts in a replay.
    var isFromResponse = false
    /// Whether it may stand elsewhere by chance, so that it is replaced only where a name says that it is the secret.
    var isCommon = true
    /// The general lines of requests where a replay takes a text for it: where it has its name, or all if the program says that it is
    /// secret.
    var places: Set<String> = []
    private(set) var placeholder = ""
    /// The placeholder, after the head and the claims of a JWT.
    var replacement = ""

    /// Gives it the placeholder with this number. A number stays one of as many digits, and a UUID a UUID.
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

    /// A number that begins with 1: `-48.137` becomes `-10.000`. It has more digits if there are not enough numbers.
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
