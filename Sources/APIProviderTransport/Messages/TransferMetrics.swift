public import Foundation

/// The durations of a request's phases, in seconds. After redirects, only the last request is measured.
public struct TransferMetrics: Sendable {
    /// The wait for other requests to the same origin. On Apple's systems, about 0 with a ``URLSessionTransport``, because requests wait in
    /// the session.
    public internal(set) var queueDuration: TimeInterval = 0
    /// The time from sending the request to the response's head.
    public internal(set) var timeToFirstByte: TimeInterval = 0
    /// The time from the head to the body's end; 0 for an unfinished stream.
    public internal(set) var bodyDuration: TimeInterval = 0
    #if !canImport(FoundationNetworking)
    /// The session's own metrics: name lookup, connection, TLS.
    public internal(set) var taskMetrics: URLSessionTaskMetrics?
    #endif
}

/// Measures a request's phases.
struct TransferStopwatch {
    private var start = DispatchTime.now().uptimeNanoseconds
    var metrics = TransferMetrics()

    /// Returns the last phase's duration in seconds, and begins another phase.
    mutating func lap() -> TimeInterval {
        let now = DispatchTime.now().uptimeNanoseconds
        defer { start = now }
        return TimeInterval(now - start) / 1e9
    }
}
