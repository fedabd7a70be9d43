import APIProvider
import Foundation
import Testing

@Suite("HTTP dates")
struct HTTPDateTests {
    private let now = Date(timeIntervalSince1970: 1_700_000_000)

    @Test(
        "The three forms are parsed (RFC 9110, section 5.6.7)",
        arguments: [
            "Sun, 06 Nov 1994 08:49:37 GMT", "Sunday, 06-Nov-94 08:49:37 GMT", "Sun Nov  6 08:49:37 1994", "sUN, 06 nOV 1994 08:49:37 gmt",
        ])
    func forms(text: String) { #expect(Date(httpDate: text, now: now)?.timeIntervalSince1970 == 784_111_777) }

    @Test("Dates in each form match Foundation's calendar")
    func days() {
        let forms = ["EEE, dd MMM yyyy HH:mm:ss 'GMT'", "EEEE, dd-MMM-yy HH:mm:ss 'GMT'", "EEE MMM '_'dd HH:mm:ss yyyy"]
        let formatters = forms.map { form in
            let formatter = DateFormatter()
            (formatter.locale, formatter.timeZone) = (Locale(identifier: "en_US_POSIX"), TimeZone(secondsFromGMT: 0))
            formatter.dateFormat = form
            return formatter
        }
        for day in stride(from: -700_000, through: 2_900_000, by: 997) {
            let date = Date(timeIntervalSince1970: TimeInterval(day * 86_400 + day % 86_400))
            // Foundation uses the Julian calendar before 1582.
            guard date > Date(timeIntervalSince1970: -12_219_292_800), date < Date(timeIntervalSince1970: 253_402_300_800) else { continue }
            for formatter in formatters {
                // The last form has a space in place of a first digit that is 0.
                let text = formatter.string(from: date).replacingOccurrences(of: "_0", with: " ").replacingOccurrences(of: "_", with: "")
                // The form with two digits of the year tells nothing of the century.
                #expect(Date(httpDate: text, now: date) == date, "\(text)")
            }
        }
    }

    @Test(
        "Other text is not a date",
        arguments: [
            "", "Sun, 06 Nov 1994 08:49:37 UTC", "Sun, 06 Nov 94 08:49:37 GMT", "Sun 06 Nov 1994 08:49:37 GMT",
            "Sun, 06  Nov 1994 08:49:37 GMT", "Sun, 06-Nov-1994 08:49:37 GMT", "Sun, 06 Nov 1994 08.49.37 GMT",
            "Sun, 06 Nov 1994 8:49:37 GMT", "Sun, 06 Nov 1994 08:49:37 GMT, Sun, 06 Nov 1994 08:49:37 GMT",
            "Sun, 31 Feb 1994 08:49:37 GMT", "Sun, 00 Nov 1994 08:49:37 GMT", "Sun, 29 Feb 1900 08:49:37 GMT",
            "Sun, 06 Nov 1994 24:00:00 GMT", "Sun, 06 Nov 1994 08:60:00 GMT", "Sun, 06 Nov 1994 08:49:61 GMT",
            "Sun, 06 Nov 1994 08:49 GMT", "Sun, 06 Nov 1994 08::49:37 GMT", "Sun, 06 Nov 1994 :08:49:37 GMT",
            "Sun, 06 Foo 1994 08:49:37 GMT", "Sun, ٠٦ Nov 1994 08:49:37 GMT", "Sun Nov 6 08:49:37 1994",
        ])
    func none(text: String) { #expect(Date(httpDate: text, now: now) == nil) }

    @Test("A two-digit year is at most 50 years ahead, and a leap second counts as the second before")
    func years() {
        let years = [("99", 1999), ("23", 2023), ("73", 2073), ("74", 1974)]
        for (text, year) in years {
            let date = Date(httpDate: "Friday, 01-Jan-\(text) 00:00:00 GMT", now: now)
            #expect(date == Date(httpDate: "Fri, 01 Jan \(year) 00:00:00 GMT", now: now), "\(text)")
        }
        #expect(Date(httpDate: "Sat, 31 Dec 2016 23:59:60 GMT", now: now)?.timeIntervalSince1970 == 1_483_228_799)
    }
}
