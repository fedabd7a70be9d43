import APIProvider
import Foundation

/// A response's lifetime, by its headers (RFC 9111, section 4.2, and RFC 5861). Intervals are in seconds.
struct Freshness: Sendable, Equatable {
    /// The response's `Date`, or else its arrival.
    let date: Date
    /// The fresh time, from ``date`` on.
    let lifetime: TimeInterval
    /// Whether the server sets that time.
    let isExplicit: Bool
    /// The age on arrival (`corrected_initial_age` in RFC 9111).
    let initialAge: TimeInterval
    /// `no-cache`: even a fresh response is validated before each use.
    let requiresValidation: Bool
    /// `must-revalidate`: a stale response must not be used.
    let mustRevalidate: Bool
    let staleWhileRevalidate: TimeInterval?
    let staleIfError: TimeInterval?

    /// Status codes that are cacheable by default (RFC 9110, section 15.1), except 206.
    static let heuristicStatusCodes: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    init(_ statusCode: Int, _ headers: HTTPHeaders, requestTime: Date, responseTime: Date) {
        let control = CacheControl(headers["Cache-Control"])
        func time(of name: String) -> Date? { headers[name].flatMap { Date(httpDate: $0, now: responseTime) } }
        let date = time(of: "Date") ?? responseTime
        let ageValue = headers["Age"]?.split(separator: ",").first?.trimmingCharacters(in: .whitespaces).deltaSeconds ?? 0
        let initialAge = max(0, responseTime.timeIntervalSince(date), ageValue + responseTime.timeIntervalSince(requestTime))
        let lifetime: TimeInterval
        if let maximum = control.seconds("max-age") {
            lifetime = maximum
        } else if headers["Expires"] != nil {
            lifetime = time(of: "Expires").map { $0.timeIntervalSince(date) } ?? 0
        } else if Self.heuristicStatusCodes.contains(statusCode) || control.contains("public"), let modified = time(of: "Last-Modified") {
            // By section 4.2.2, a tenth of the time since `Last-Modified`, here at most a day.
            lifetime = min(max(0, date.timeIntervalSince(modified)) / 10, 86_400)
        } else {
            lifetime = 0
        }
        (self.date, self.lifetime, self.initialAge) = (date, lifetime, initialAge)
        isExplicit = control.seconds("max-age") != nil || headers["Expires"] != nil
        (requiresValidation, mustRevalidate) = (control.contains("no-cache"), control.contains("must-revalidate"))
        (staleWhileRevalidate, staleIfError) = (control.seconds("stale-while-revalidate"), control.seconds("stale-if-error"))
    }
}
