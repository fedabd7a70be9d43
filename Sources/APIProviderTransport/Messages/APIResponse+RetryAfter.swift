public import Foundation

extension APIResponse {
    /// The server's `Retry-After` in seconds (RFC 9110, section 10.2.3), maybe negative; `nil` without one. The longest of several fields
    /// counts. A date is compared with the response's own `Date`, so a wrong clock does no harm.
    ///
    /// - Parameter now: The current time, for a response without a `Date`.
    public func retryAfter(now: Date = Date()) -> TimeInterval? {
        guard let text = value(forHTTPHeaderField: "Retry-After") else { return nil }
        let sent = value(forHTTPHeaderField: "Date").flatMap { Date(httpDate: $0, now: now) } ?? now
        let parts = text.parts(between: UInt8(ascii: ",")).map { $0.trimmingCharacters(in: .whitespaces) }
        // A date contains a comma.
        let texts = parts + zip(parts, parts.dropFirst()).map { "\($0), \($1)" }
        return texts.compactMap { $0.delaySeconds ?? Date(httpDate: $0, now: now)?.timeIntervalSince(sent) }.max()
    }
}

extension String {
    /// A number of seconds, rounded up. Some servers send fractions and signs.
    fileprivate var delaySeconds: Double? {
        let number = utf8.drop { $0 == UInt8(ascii: "+") }
        guard number.first?.isDigit == true, number.allSatisfy({ $0.isDigit || $0 == UInt8(ascii: ".") }) else { return nil }
        // Unlike an Int, a Double takes any number of digits.
        return Double(Substring(number))?.rounded(.up)
    }
}
