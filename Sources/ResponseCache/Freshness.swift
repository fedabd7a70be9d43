import APIProvider
import Foundation

/// What the fields of a response say of how long it may be used (RFC 9111, section 4.2, and RFC 5861), in seconds.
struct Freshness: Sendable, Hashable {
    /// How long it is fresh, from when the server made it.
    let lifetime: TimeInterval
    /// How old it was when it came.
    let age: TimeInterval
    /// Whether the server is asked each time, fresh or not.
    let mustAlwaysValidate: Bool
    let mustRevalidate: Bool
    /// How long it may be used stale while it is validated.
    let whileRevalidating: TimeInterval?
    /// How long it may be used stale after an error.
    let ifError: TimeInterval?

    /// Statuses that may be kept without being told for how long (RFC 9110, section 15.1), but for 206.
    static let heuristicStatuses: Set<Int> = [200, 203, 204, 300, 301, 308, 404, 405, 410, 414, 501]

    init(_ status: Int, _ fields: [String: String], requested: Date, received: Date) {
        let control = CacheControl(fields.value("Cache-Control"))
        func date(_ name: String) -> Date? { fields.value(name).flatMap { Date(httpDate: $0, now: received) } }
        let made = date("Date") ?? received
        let told = fields.value("Age")?.split(separator: ",").first?.trimmingCharacters(in: .whitespaces).deltaSeconds ?? 0
        let age = max(0, received.timeIntervalSince(made), told + received.timeIntervalSince(requested))
        let lifetime: TimeInterval
        if let maximum = control.seconds("max-age") {
            lifetime = maximum
        } else if fields.value("Expires") != nil {
            lifetime = date("Expires").map { $0.timeIntervalSince(made) } ?? 0
        } else if Self.heuristicStatuses.contains(status) || control.has("public"), let modified = date("Last-Modified") {
            // A tenth of its age, as section 4.2.2 says, and not more than a day.
            lifetime = min(max(0, made.timeIntervalSince(modified)) / 10, 86_400)
        } else {
            lifetime = 0
        }
        (self.lifetime, self.age) = (lifetime, age)
        (mustAlwaysValidate, mustRevalidate) = (control.has("no-cache"), control.has("must-revalidate"))
        (whileRevalidating, ifError) = (control.seconds("stale-while-revalidate"), control.seconds("stale-if-error"))
    }
}
