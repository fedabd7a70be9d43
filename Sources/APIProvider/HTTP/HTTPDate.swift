import Foundation

extension Date {
    /// Creates the time of an HTTP date, in any of the three forms of RFC 9110, section 5.6.7. `nil` if the text is not such a date.
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`.
    ///   - now: The time now. A year of two digits is at most 50 years later.
    init?(httpDate text: String, now: Date) {
        var fields = text.split { " ,-:".contains($0) }.map(String.init)
        if fields.count == 7 { fields = [fields[0], fields[2], fields[1], fields[6], fields[3], fields[4], fields[5], "GMT"] }
        guard fields.count == 8, fields[7] == "GMT", let month = Self.months.firstIndex(of: fields[2]), [2, 4].contains(fields[3].count)
        else { return nil }
        let numbers = [1, 3, 4, 5, 6].compactMap { Int(fields[$0]) }
        guard numbers.count == 5 else { return nil }

        var calendar = Calendar(identifier: .gregorian)
        calendar.timeZone = TimeZone(secondsFromGMT: 0) ?? .current
        var year = numbers[1]
        if fields[3].count == 2 {
            let latest = calendar.component(.year, from: now) + 50
            year += (latest - year) / 100 * 100
        }
        // The 60th second is a leap second, which Foundation does not know.
        let components = DateComponents(
            calendar: calendar, year: year, month: month + 1, day: numbers[0], hour: numbers[2], minute: numbers[3],
            second: numbers[4] == 60 ? 59 : numbers[4])
        guard components.isValidDate, let date = components.date else { return nil }
        self = date
    }

    private static let months = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
}
