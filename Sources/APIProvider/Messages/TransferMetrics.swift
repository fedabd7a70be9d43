public import Foundation

/// How long the parts of a request took, in seconds. Of a request that was redirected, it is the last part of the way.
public struct TransferMetrics: Sendable {
    /// From when the request was ready to when it was handed to the network stack: how long it waited for one of the connections that its host
    /// gets at once. On Apple's systems the session lets requests wait, and this is 0.
    public internal(set) var waiting: TimeInterval = 0
    /// From then to the head of the response.
    public internal(set) var firstByte: TimeInterval = 0
    /// From then to the end of the body. 0 for a stream, which has no end yet.
    public internal(set) var body: TimeInterval = 0
    #if !canImport(FoundationNetworking)
    /// What the session has measured: name lookup, connection, TLS.
    public internal(set) var taskMetrics: URLSessionTaskMetrics?
    #endif
}

/// Notes when the parts of a request begin.
struct TransferClock {
    private var start = DispatchTime.now().uptimeNanoseconds
    var metrics = TransferMetrics()

    /// Returns the seconds since the last part began, and begins another.
    mutating func lap() -> TimeInterval {
        let now = DispatchTime.now().uptimeNanoseconds
        defer { start = now }
        return TimeInterval(now - start) / 1e9
    }
}
