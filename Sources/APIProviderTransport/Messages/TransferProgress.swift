/// The progress of a transfer. A total is `nil` while it is unknown, and so is the fraction.
public struct TransferProgress: Sendable, Hashable {
    /// The number of sent bytes of the request's body.
    public var bytesSent: Int64
    /// The size of the request's body in bytes.
    public var bytesToSend: Int64?
    /// The number of bytes of the response's body that have arrived.
    public var bytesReceived: Int64
    /// The size of the response's body in bytes.
    public var bytesToReceive: Int64?

    /// The fraction of the request's body that has been sent, from 0 to 1.
    public var fractionSent: Double? { Self.fraction(bytesSent, of: bytesToSend) }
    /// The fraction of the response's body that has arrived, from 0 to 1.
    public var fractionReceived: Double? { Self.fraction(bytesReceived, of: bytesToReceive) }

    private static func fraction(_ count: Int64, of total: Int64?) -> Double? {
        total.map { $0 > 0 ? min(max(Double(count) / Double($0), 0), 1) : 1 }
    }

    /// Creates a report for a ``Transport`` to pass to ``PreparedRequest/reportProgress``.
    ///
    /// - Parameters:
    ///   - bytesSent: The number of sent bytes of the request's body.
    ///   - bytesToSend: The size of the request's body; `nil` if it is unknown.
    ///   - bytesReceived: The number of bytes of the response's body that have arrived.
    ///   - bytesToReceive: The size of the response's body; `nil` if it is unknown.
    public init(bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}

extension PreparedRequest {
    /// Reports sent and received bytes; `nil` without a progress handler. A ``Transport`` calls the closure on any thread, one call at a
    /// time.
    public var reportProgress: (@Sendable (TransferProgress) -> Void)? {
        get { options[ProgressKey.self]?.report }
        set { options[ProgressKey.self] = newValue.map { ProgressReport(report: $0) } }
    }
}

/// A closure in a value of its own: a bare closure would get a thunk at each store and read.
private struct ProgressReport: Sendable { let report: @Sendable (TransferProgress) -> Void }

private enum ProgressKey: BuiltInOptionKey { static var defaultValue: ProgressReport? { nil } }
