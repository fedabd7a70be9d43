package import MiniRx

/// The right to read a stream. The transfer ends when nobody has it any more.
package final class StreamLease: Sendable {
    package let buffer: StreamBuffer

    init(_ buffer: StreamBuffer) { self.buffer = buffer }

    deinit { buffer.cancel() }
}

/// The lease of a stream until its first iterator takes it.
package typealias UnreadStream = Locked<StreamLease?>
