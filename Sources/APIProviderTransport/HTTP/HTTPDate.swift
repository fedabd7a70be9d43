package import Foundation

extension Date {
    /// Creates a date from an HTTP date, in any of the three forms in RFC 9110, section 5.6.7; `nil` for another text.
    ///
    /// - Parameters:
    ///   - text: `Sun, 06 Nov 1994 08:49:37 GMT`, `Sunday, 06-Nov-94 08:49:37 GMT` or `Sun Nov  6 08:49:37 1994`. Upper and lower case do
    ///     not matter.
    ///   - now: The current time. A two-digit year is the last such year at most 50 years after `now`.
    package init?(httpDate text: String, now: Date) {
        let fields = text.lowercased().parts(between: UInt8(ascii: " "))
        let (day, month, year, time): (Substring, Substring, Substring, Substring)
        switch fields.count {
        case 6 where fields[0].count == 4 && fields[0].last == "," && fields[3].count == 4 && fields[5] == "gmt":
            (day, month, year, time) = (fields[1], fields[2], fields[3], fields[4])
        case 4 where fields[0].count > 6 && fields[0].last == "," && fields[3] == "gmt":
            let parts = fields[1].parts(between: UInt8(ascii: "-"))
            guard parts.count == 3, parts[2].count == 2 else { return nil }
            (day, month, year, time) = (parts[0], parts[1], parts[2], fields[2])
        case 5 where fields[0].count == 3 && fields[4].count == 4:
            (day, month, year, time) = (fields[2], fields[1], fields[4], fields[3])
        case 6 where fields[0].count == 3 && fields[2].isEmpty && fields[3].count == 1 && fields[5].count == 4:
            (day, month, year, time) = ("0" + fields[3], fields[1], fields[5], fields[4])
        default: return nil
        }
        let clock = time.parts(between: UInt8(ascii: ":"))
        guard let monthIndex = Self.months.firstIndex(of: String(month)), let days = day.number(2), var years = year.number(year.count),
            clock.count == 3, let hours = clock[0].number(2), let minutes = clock[1].number(2), let seconds = clock[2].number(2),
            seconds <= 60
        else { return nil }
        if year.count == 2 {
            let latest = Int(now.timeIntervalSince1970 / 31_556_952) + 1970 + 50
            years += (latest - years) / 100 * 100
        }
        // The 60th second is a leap second, unknown to clocks here.
        self.init(years, monthIndex, days, (hours, minutes, Swift.min(seconds, 59)))
    }

    // MARK: - Cookie dates

    /// Creates a cookie's expiry by the algorithm in RFC 6265bis, section 5.1.1, from the first time, day, month and year in the text, in
    /// any order; `nil` if one is missing, or for an impossible date.
    init?(cookieDate text: String) {
        var time: (Int, Int, Int)?
        var day: Int?
        var month: Int?
        var year: Int?
        for part in text.utf8.split(whereSeparator: \.isCookieDateDelimiter) {
            let part = Substring(part)
            if time == nil, let clock = part.clock {
                time = clock
            } else if day == nil, let number = part.leadingNumber(1...2) {
                day = number
            } else if month == nil, let index = Self.months.firstIndex(where: { part.lowercased().hasPrefix($0) }) {
                month = index
            } else if year == nil, let number = part.leadingNumber(2...4) {
                year = number < 70 ? number + 2000 : number < 100 ? number + 1900 : number
            }
        }
        guard let time, let day, let month, let year, year >= 1601 else { return nil }
        self.init(year, month, day, time)
    }

    /// - Parameter monthIndex: The month's number, from 0.
    private init?(_ years: Int, _ monthIndex: Int, _ days: Int, _ clock: (hours: Int, minutes: Int, seconds: Int)) {
        guard clock.hours < 24, clock.minutes < 60, clock.seconds < 60 else { return nil }
        let isLeapYear = years % 4 == 0 && (years % 100 != 0 || years % 400 == 0)
        guard days >= 1, days <= (monthIndex == 1 && !isLeapYear ? 28 : Self.monthLengths[monthIndex]) else { return nil }
        // Days since 1970, with years beginning in March.
        let marchYear = monthIndex < 2 ? years - 1 : years
        let sinceMarch = (153 * ((monthIndex + 10) % 12) + 2) / 5 + days - 1
        let count = marchYear * 365 + marchYear / 4 - marchYear / 100 + marchYear / 400 + sinceMarch - 719_468
        // A 32-bit `Int` ends in 2038.
        let time = (clock.hours * 60 + clock.minutes) * 60 + clock.seconds
        self.init(timeIntervalSince1970: TimeInterval(count) * 86_400 + TimeInterval(time))
    }

    private static let months = ["jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec"]
    private static let monthLengths = [31, 29, 31, 30, 31, 30, 31, 31, 30, 31, 30, 31]
}

// MARK: - Parsing

extension Substring {
    /// A number with exactly this many digits.
    fileprivate func number(_ digits: Int) -> Int? {
        utf8.count == digits ? number.map { Int($0) } : nil
    }

    /// The number at the start, with this many digits.
    fileprivate func leadingNumber(_ digits: ClosedRange<Int>) -> Int? {
        let start = utf8.prefix(while: \.isDigit)
        return digits.contains(start.count) ? Substring(start).number.map { Int($0) } : nil
    }

    /// A time such as `8:49:37`, at the start.
    fileprivate var clock: (Int, Int, Int)? {
        let parts = parts(between: UInt8(ascii: ":"))
        guard parts.count >= 3, parts[..<2].allSatisfy({ $0.number != nil }), let hours = parts[0].leadingNumber(1...2),
            let minutes = parts[1].leadingNumber(1...2), let seconds = parts[2].leadingNumber(1...2)
        else { return nil }
        return (hours, minutes, seconds)
    }
}

extension UInt8 {
    fileprivate var isCookieDateDelimiter: Bool {
        switch self {
        case 0x09, 0x20...0x2F, 0x3B...0x40, 0x5B...0x60, 0x7B...0x7E: true
        default: false
        }
    }
}
