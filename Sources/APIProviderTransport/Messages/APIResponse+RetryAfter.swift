package import Foundation

extension APIResponse {
    /// The number of seconds that the server asks to wait, which may be negative: the largest, if the field comes more than once.
    package func retryAfter(now: Date) -> Double? {
        guard let text = value(forHTTPHeaderField: "Retry-After") else { return nil }
        let sent = value(forHTTPHeaderField: "Date").flatMap { Date(httpDate: $0, now: now) } ?? now
        let parts = text.split(separator: ",").map { $0.trimmingCharacters(in: .whitespaces) }
        // A date has a comma of its own.
        let texts = parts + zip(parts, parts.dropFirst()).map { "\($0), \($1)" }
        return texts.compactMap { $0.delaySeconds ?? Date(httpDate: $0, now: now)?.timeIntervalSince(sent) }.max()
    }
}

extension String {
    /// A number of seconds, rounded up. Not all servers send whole numbers without a sign.
    fileprivate var delaySeconds: Double? {
        let number = utf8.drop { $0 == UInt8(ascii: "+") }
        guard number.first?.isDigit == true, number.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }) else { return nil }
        // Unlike an Int, a Double takes any number of digits.
        return Double(Substring(number))?.rounded(.up)
    }
}
