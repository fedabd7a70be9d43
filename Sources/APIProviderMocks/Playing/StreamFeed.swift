public import APIProvider
public import Foundation
import MiniRx

/// A response body that a test sends piece by piece.
///
/// ```swift
/// let feed = StreamFeed()
/// MockURLProtocol.stub(Chat(prompt: "Hi"), respond: .events(from: feed))
/// model.send("Hi")
///
/// feed.send(ServerSentEvent(data: "Hel"))
/// await feed.waitUntilRead()
/// #expect(model.text == "Hel")
/// feed.fail(URLError(.networkConnectionLost))
/// ```
///
/// A feed answers one request. Data sent before the request arrives is buffered. You may use a feed on any thread.
///
/// <doc:SendingAStreamByHand> shows a test without and with a feed.
public final class StreamFeed: Sendable {
    enum Part {
        case data(Data)
        case end((any Error)?)
    }

    private struct State {
        var hasAnswered = false
        var isCancelled = false
        /// Whether the test has ended the body.
        var isFinished = false
        var isEndDelivered = false
        /// Undelivered parts.
        var parts: [Part] = []
        var onNextPart: Action?
        var onCancel: Action?
        var sent = 0
        var read = 0
        var waiters: [Waiter] = []
    }

    /// A waiting test.
    private struct Waiter {
        let condition: @Sendable (State) -> Bool
        let continuation: CheckedContinuation<Void, Never>
    }

    private let state = Locked(State())

    /// Creates an empty feed.
    public init() {}

    /// Whether the request ended before the end of the body: the reader stopped, was cancelled or disposed, or timed out, or the response
    /// allows no body. On Linux, a request in your own `URLSession` does not time out while waiting for a feed.
    public var isCancelled: Bool { state.withLock(\.isCancelled) }

    // MARK: - Sending

    /// Sends `data` as part of the body.
    public func send(_ data: Data) { add(.data(data), count: data.count) }

    /// Sends `text` as part of the body, in UTF-8.
    public func send(_ text: String) { send(Data(text.utf8)) }

    /// Sends `event` as a server-sent event. If the event's type or identifier contains a line break or a NUL, breaks the connection.
    public func send(_ event: ServerSentEvent) {
        do { send(try event.text) } catch { fail(error) }
    }

    /// Ends the body. Later data is dropped.
    public func finish() { add(.end(nil)) }

    /// Breaks the connection with `error`. Later data is dropped.
    public func fail(_ error: any Error) { add(.end(error)) }

    // MARK: - Waiting

    /// Waits until the reader takes everything, including the body's end, or until the request ends. With ``MockURLProtocol``, the session
    /// is the reader.
    ///
    /// Returns early in a cancelled task, as by a test's time limit.
    public func waitUntilRead() async {
        await wait { $0.read >= $0.sent && (!$0.isFinished || $0.isEndDelivered) || $0.isCancelled }
    }

    /// Waits until the reader leaves, or reads to the end. Check ``isCancelled`` afterwards.
    ///
    /// Returns early in a cancelled task, as by a test's time limit.
    public func waitUntilCancelled() async { await wait { $0.isCancelled || $0.isEndDelivered } }

    private func wait(until condition: @escaping @Sendable (State) -> Bool) async {
        let isTaskCancelled = Locked(false)
        await withTaskCancellationHandler {
            await withCheckedContinuation { continuation in
                let waiter = Waiter(condition: { isTaskCancelled.withLock { $0 } || condition($0) }, continuation: continuation)
                withState { $0.waiters.append(waiter) }
            }
        } onCancel: {
            // Under the lock, so that no condition changes meanwhile.
            withState { _ in isTaskCancelled.withLock { $0 = true } }
        }
    }

    /// Changes the state, and resumes the waiters with true conditions.
    private func withState<Value>(_ body: (inout State) -> Value) -> Value {
        let (value, resumed) = state.withLock { state -> (Value, [Waiter]) in
            let value = body(&state)
            let resumed = state.waiters.filter { $0.condition(state) }
            state.waiters = state.waiters.filter { !$0.condition(state) }
            return (value, resumed)
        }
        resumed.forEach { $0.continuation.resume() }
        return value
    }

    private func add(_ part: Part, count: Int = 0) {
        let more = state.withLock { state -> Action? in
            guard !state.isFinished else { return nil }
            if case .end = part { state.isFinished = true }
            state.parts.append(part)
            state.sent += count
            return state.onNextPart.take()
        }
        more?()
    }
}

// MARK: - Reading, by the mock

extension StreamFeed {
    /// Marks the feed as used by a request.
    ///
    /// - Throws: If another request has used it.
    func claim() throws {
        let hasAnswered = state.withLock { exchange(&$0.hasAnswered, with: true) }
        if hasAnswered { throw MockFailure("This StreamFeed has already answered a request. Create one feed per request.") }
    }

    /// The next part, if any.
    func next() -> Part? {
        withState { state in
            guard !state.parts.isEmpty else { return nil }
            if case .end = state.parts[0] { state.isEndDelivered = true }
            return state.parts.removeFirst()
        }
    }

    /// Calls `body` once for the next part, on the sender's thread. Returns `false`, and makes no call, if a part has already arrived.
    func onNextPart(_ body: @escaping @Sendable () -> Void) -> Bool {
        state.withLock { state in
            // After the request's end, the action would retain the reader.
            if state.parts.isEmpty, !state.isCancelled { state.onNextPart = Action(body) }
            return state.parts.isEmpty
        }
    }

    /// Calls `body` when the reader leaves early. Set this before the feed answers.
    package func onCancel(_ body: @escaping @Sendable () -> Void) { state.withLock { $0.onCancel = Action(body) } }

    /// Records `count` more bytes as read.
    func didRead(_ count: Int) { withState { $0.read += count } }

    /// Marks the feed as cancelled, unless the end is delivered. Call this at the request's end.
    func requestDidEnd() {
        // Released after unlocking, because a deinit may run any code.
        var (more, left): (Action?, Action?)
        withState { state in
            guard !state.isEndDelivered else { return }
            state.isCancelled = true
            (more, left) = (state.onNextPart.take(), state.onCancel.take())
        }
        _ = more
        left?()
    }
}

// MARK: - Events

extension ServerSentEvent {
    /// The event in a server's format.
    ///
    /// - Throws: If the type or the identifier would be another line, or ignored by readers.
    var text: String {
        get throws {
            guard !"\(type)\(lastEventID)".utf8.contains(where: "\r\n\0".utf8.contains) else {
                throw MockFailure(
                    "A server-sent event's type and lastEventID cannot contain a line break or a NUL: \(type.debugDescription), "
                        + lastEventID.debugDescription)
            }
            // A carriage return ends a line, too.
            let data = data.replacingOccurrences(of: "\r\n?", with: "\n", options: .regularExpression)
            var lines = data.parts(between: UInt8(ascii: "\n")).map { "data: \($0)" }
            if !lastEventID.isEmpty { lines.insert("id: \(lastEventID)", at: 0) }
            if type != "message" { lines.insert("event: \(type)", at: 0) }
            return lines.joined(separator: "\n") + "\n\n"
        }
    }
}
