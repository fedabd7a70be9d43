package import Foundation

#if canImport(FoundationNetworking)
import FoundationNetworking
#endif

/// Owns a stream's buffer. Releasing the handle ends the transfer.
package final class StreamHandle: Sendable {
    let buffer: StreamBuffer
    private let request: PreparedRequest

    init(_ buffer: StreamBuffer, of request: PreparedRequest) { (self.buffer, self.request) = (buffer, request) }

    /// Waits for the next bytes and returns them; `nil` at the end.
    package func next(isolation: isolated (any Actor)?) async throws -> Data? {
        do { return try await buffer.next(isolation: isolation) } catch is StreamIsBeingRead {
            let reason = "a stream can be read by one task at a time, and another one waits for its next bytes"
            throw APIError.transport(request, underlying: URLError(.unknown, reason: reason))
        }
    }

    deinit { buffer.cancel() }
}
