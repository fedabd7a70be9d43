/// The progress of a transfer. A total is `nil` while it is unknown.
public struct TransferProgress: Sendable, Hashable {
    /// The number of bytes of the request's body that have been sent.
    public var bytesSent: Int64
    /// The size of the request's body in bytes.
    public var bytesToSend: Int64?
    /// The number of bytes of the response's body that have arrived.
    public var bytesReceived: Int64
    /// The size of the response's body in bytes.
    public var bytesToReceive: Int64?

    /// Creates a report. A ``Transport`` uses it.
    public init(bytesSent: Int64 = 0, bytesToSend: Int64? = nil, bytesReceived: Int64 = 0, bytesToReceive: Int64? = nil) {
        self.bytesSent = bytesSent
        self.bytesToSend = bytesToSend
        self.bytesReceived = bytesReceived
        self.bytesToReceive = bytesToReceive
    }
}
