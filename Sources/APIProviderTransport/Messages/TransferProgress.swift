/// A transfer's progress. Unknown totals and fractions are `nil`.
public struct TransferProgress: Sendable, Hashable {
    /// The number of sent bytes from the request's body.
    public var bytesSent: Int64
    /// The size of the request's body in bytes.
    public var bytesToSend: Int64?
    /// The number of arrived bytes from the response's body.
    public var bytesReceived: Int64
    /// The size of the response's body in bytes.
    public var bytesToReceive: Int64?

    /// The sent fraction of the request's body, from 0 to 1.
    public var fractionSent: Double? { Self.fraction(bytesSent, of: bytesToSend) }
    /// The arrived fraction of the response's body, from 0 to 1.
    public var fractionReceived: Double? { Self.fraction(bytesReceived, of: bytesToReceive) }

    private static func fraction(_ count: Int64, of total: Int64?) -> Double? {
        total.map { $0 > 0 ? min(max(Double(count) / Double($0), 0), 1) : 1 }
    }

    /// Creates a report for a ``Transport`` to pass to ``PreparedRequest/reportProgress``.
    ///
    /// - Parameters:
    ///   - bytesSent: The number of sent bytes from the request's body.
    ///   - bytesToSend: The size of the request's body; `nil` if unknown.
    ///   - bytesReceived: The number of arrived bytes from the response's body.
    ///   - bytesToReceive: The size of the response's body; `nil` if unknown.
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

/// A closure in a struct: a bare closure would get a thunk at each store and read.
private struct ProgressReport: Sendable { let report: @Sendable (TransferProgress) -> Void }

private enum ProgressKey: BuiltInOptionKey { static var defaultValue: ProgressReport? { nil } }
