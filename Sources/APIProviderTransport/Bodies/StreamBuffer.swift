import Foundation
import MiniRx

/// Buffers a stream's bytes between the transfer and the reader.
///
/// If the reader is behind, ``isWritable`` is false. Then the transfer should pause until ``onWritable(_:)`` calls the closure.
///
/// A reader leaves when the iterator is released or the task is cancelled.
final class StreamBuffer: Sendable {
    /// The number of buffered bytes at which the transfer should pause.
    static let highWaterMark = 65_536

    private struct State {
        /// The unread chunks. Joining them would copy the bytes and fragment the heap.
        var waiting: ArraySlice<Data> = []
        var count = 0
        /// The stream's end or error; `nil` while more bytes may arrive.
        var end: Result<Data?, any Error>?
        var reader: CheckedContinuation<Data?, any Error>?
        /// Called when a full buffer becomes less than half full.
        var writableCallbacks: [@Sendable () -> Void] = []
        /// Called when the buffer is empty and the reader asks for more bytes, or when the reader leaves.
        var drainedCallbacks: [@Sendable () -> Void] = []
        /// Ends the transfer.
        var transfer: (any Disposable)?

        var isWritable: Bool { end != nil || count < StreamBuffer.highWaterMark }

        mutating func takeFirst() -> Data? {
            guard let chunk = waiting.first else { return nil }
            // A slice's `removeFirst()` leaves the element in the array, so the bytes are released first.
            waiting[waiting.startIndex] = Data()
            waiting.removeFirst()
            count -= chunk.count
            return chunk
        }
    }

    private let state: Locked<State>

    /// - Parameter transfer: Disposed when the reader leaves before the end.
    init(transfer: any Disposable) { state = Locked(State(transfer: transfer)) }

    // MARK: - The transfer

    /// Whether the transfer may continue: false while the reader is behind.
    var isWritable: Bool { state.withLock(\.isWritable) }

    /// Calls `proceed` once: immediately, if the buffer is writable. Otherwise, as soon as the buffer is less than half full, the stream
    /// ends, or the reader leaves, on that event's thread.
    func onWritable(_ proceed: @escaping @Sendable () -> Void) {
        let isWritable = state.withLock { state in
            if !state.isWritable { state.writableCallbacks.append(proceed) }
            return state.isWritable
        }
        if isWritable { proceed() }
    }

    /// Calls `body` when the reader has read everything and waits for more, or leaves: immediately if so already, and otherwise on that
    /// event's thread. After the stream's end, the reader need not wait for more.
    func onDrained(_ body: @escaping @Sendable () -> Void) {
        let isDrained = state.withLock { state in
            guard state.reader == nil, state.end == nil || !state.waiting.isEmpty else { return true }
            state.drainedCallbacks.append(body)
            return false
        }
        if isDrained { body() }
    }

    /// Adds bytes, or drops them if the reader has left.
    func append(_ chunk: Data) {
        guard !chunk.isEmpty else { return }
        let reader = state.withLock { state -> CheckedContinuation<Data?, any Error>? in
            guard state.end == nil else { return nil }
            if let reader = state.reader.take() { return reader }
            state.waiting.append(chunk)
            state.count += chunk.count
            return nil
        }
        reader?.resume(returning: chunk)
    }

    /// Ends the stream. The reader gets the buffered bytes, and then the error or the end.
    func finish(_ error: (any Error)? = nil) {
        let end: Result<Data?, any Error> = if let error { .failure(error) } else { .success(nil) }
        let old = state.withLock { state -> State? in
            guard state.end == nil else { return nil }
            defer { state = State(waiting: state.waiting, count: state.count, end: end, drainedCallbacks: state.drainedCallbacks) }
            return state
        }
        old?.writableCallbacks.forEach { $0() }
        old?.reader?.resume(with: end)
    }

    // MARK: - The reader

    /// Waits for the next bytes and returns them; `nil` is the end.
    func next(isolation: isolated (any Actor)? = #isolation) async throws -> Data? {
        try Task.checkCancellation()
        if let ready = take() { return try ready.get() }
        return try await withTaskCancellationHandler {
            try await withCheckedThrowingContinuation { continuation in
                let ready = take(orWaitWith: continuation)
                if let ready { continuation.resume(with: ready) }
            }
        } onCancel: {
            cancel(CancellationError())
        }
    }

    /// The next bytes, or the end; `nil` if neither has arrived.
    private func take(orWaitWith reader: CheckedContinuation<Data?, any Error>? = nil) -> Result<Data?, any Error>? {
        let (ready, calls) = state.withLock { state -> (Result<Data?, any Error>?, [@Sendable () -> Void]) in
            if let chunk = state.takeFirst() {
                // Not just below the mark, so that the transfer does not pause and resume for each chunk.
                guard state.count < Self.highWaterMark / 2 else { return (.success(chunk), []) }
                defer { state.writableCallbacks = [] }
                return (.success(chunk), state.writableCallbacks)
            }
            guard state.end != nil || reader != nil else { return (nil, []) }
            // A copy of the iterator, in another task.
            guard state.reader == nil else { return (.failure(StreamIsBeingRead()), []) }
            defer { state.drainedCallbacks = [] }
            if state.end == nil { state.reader = reader }
            return (state.end, state.drainedCallbacks)
        }
        calls.forEach { $0() }
        return ready
    }

    /// Ends the transfer and drops the buffered bytes. Call this when the reader leaves.
    func cancel(_ reason: any Error = CancellationError()) {
        let old = state.withLock { state in
            defer { state = State(end: .failure(reason)) }
            return state
        }
        old.transfer?.dispose()
        (old.writableCallbacks + old.drainedCallbacks).forEach { $0() }
        old.reader?.resume(throwing: reason)
    }
}

/// Another task waits for the next bytes of the stream.
struct StreamIsBeingRead: Error {}
