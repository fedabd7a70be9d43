public import APIProvider
public import Foundation
import MiniRx

/// The body of a response that a test sends by hand, while its reader reads.
///
/// ```swift
/// let feed = StreamFeed()
/// MockURLProtocol.stub(Chat(prompt: "Hi"), respond: .events(from: feed))
/// model.send("Hi")
///
/// feed.send(ServerSentEvent(data: "Hel"))
/// await feed.untilRead()
/// #expect(model.text == "Hel")
/// feed.fail(URLError(.networkConnectionLost))
/// ```
///
/// A feed answers one request. What is sent before the request comes, waits for it. Call it on any thread.
public final class StreamFeed: Sendable {
    enum Part {
        case data(Data)
        case end((any Error)?)
    }

    private struct State {
        var isTaken = false
        var isLeft = false
        /// The test has ended the body.
        var isEnded = false
        /// The end was passed on.
        var isOver = false
        /// What the mock has not passed on yet.
        var parts: [Part] = []
        var whenMore: Action?
        var sent = 0
        var read = 0
        var readers: [CheckedContinuation<Void, Never>] = []
        var leavers: [CheckedContinuation<Void, Never>] = []
    }

    private let state = Locked(State())

    /// Creates a feed that has sent nothing.
    public init() {}

    /// How many bytes the reader has taken. With ``MockURLProtocol``, it is the session that has taken them: it does not tell what its reader
    /// does.
    public var bytesRead: Int { state.withLock(\.read) }

    /// Whether the reader has left before the end: it has broken off, was cancelled or disposed, or has run into its timeout.
    public var isLeft: Bool { state.withLock(\.isLeft) }

    /// Sends bytes of the body.
    public func send(_ data: Data) { add(.data(data), count: data.count) }

    /// Sends text of the body, in UTF-8.
    public func send(_ text: String) { send(Data(text.utf8)) }

    /// Sends an event.
    public func send(_ event: ServerSentEvent) { send(event.text) }

    /// Ends the body. What is sent after that, is dropped.
    public func finish() { add(.end(nil)) }

    /// Breaks the connection. What is sent after that, is dropped.
    public func fail(_ error: any Error) { add(.end(error)) }

    /// Waits until the reader has taken all that was sent, and asks for more or has left. With ``MockURLProtocol``, until the session has taken
    /// it.
    public func untilRead() async {
        await withCheckedContinuation { continuation in
            let isRead = state.withLock { state in
                if state.read < state.sent, !state.isLeft { state.readers.append(continuation) }
                return state.read >= state.sent || state.isLeft
            }
            if isRead { continuation.resume() }
        }
    }

    /// Waits until the reader has left before the end.
    public func untilLeft() async {
        await withCheckedContinuation { continuation in
            let isLeft = state.withLock { state in
                if !state.isLeft { state.leavers.append(continuation) }
                return state.isLeft
            }
            if isLeft { continuation.resume() }
        }
    }

    private func add(_ part: Part, count: Int = 0) {
        let more = state.withLock { state -> Action? in
            guard !state.isEnded else { return nil }
            if case .end = part { state.isEnded = true }
            state.parts.append(part)
            state.sent += count
            return state.whenMore.take()
        }
        more?()
    }
}

// The side of the mock.
extension StreamFeed {
    /// - Throws: If the feed has answered another request.
    func begin() throws {
        let isTaken = state.withLock { exchange(&$0.isTaken, with: true) }
        if isTaken { throw MockFailure("A StreamFeed answers one request, and this is the second: make a feed for each.") }
    }

    /// What comes next, if it is there.
    func next() -> Part? {
        state.withLock { state in
            guard !state.parts.isEmpty else { return nil }
            if case .end = state.parts[0] { state.isOver = true }
            return state.parts.removeFirst()
        }
    }

    /// Calls `body` once when ``next()`` has something, maybe at once.
    func whenMore(_ body: @escaping @Sendable () -> Void) {
        let isThere = state.withLock { state in
            if state.parts.isEmpty { state.whenMore = Action(body) }
            return !state.parts.isEmpty
        }
        if isThere { body() }
    }

    /// The reader has taken `count` bytes more.
    func read(_ count: Int) {
        let readers = state.withLock { state -> [CheckedContinuation<Void, Never>] in
            state.read += count
            guard state.read >= state.sent else { return [] }
            defer { state.readers = [] }
            return state.readers
        }
        readers.forEach { $0.resume() }
    }

    /// The request is over. The reader has left, unless the end was passed on.
    func leave() {
        let old = state.withLock { state -> State? in
            guard !state.isOver else { return nil }
            state.isLeft = true
            defer { (state.whenMore, state.readers, state.leavers) = (nil, [], []) }
            return state
        }
        old?.readers.forEach { $0.resume() }
        old?.leavers.forEach { $0.resume() }
    }
}
