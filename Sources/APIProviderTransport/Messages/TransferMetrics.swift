public import Foundation

/// The durations of a request's phases, in seconds. After redirects, only the last request is measured.
public struct TransferMetrics: Sendable {
    /// The wait for other requests to the same origin. On Apple's systems, about 0 with a ``URLSessionTransport``, because there the
    /// session makes requests wait.
    public internal(set) var queueDuration: TimeInterval = 0
    /// The time from sending the request to the head of the response.
    public internal(set) var timeToFirstByte: TimeInterval = 0
    /// The time from the head to the end of the body; 0 for a stream, which has not ended yet.
    public internal(set) var bodyDuration: TimeInterval = 0
    #if !canImport(FoundationNetworking)
    /// The session's own metrics: name lookup, connection, TLS.
    public internal(set) var taskMetrics: URLSessionTaskMetrics?
    #endif
}

/// Measures the phases of a request.
struct TransferStopwatch {
    private var start = DispatchTime.now().uptimeNanoseconds
    var metrics = TransferMetrics()

    /// Returns the seconds since the last phase began, and begins another.
    mutating func lap() -> TimeInterval {
        let now = DispatchTime.now().uptimeNanoseconds
        defer { start = now }
        return TimeInterval(now - start) / 1e9
    }
}
