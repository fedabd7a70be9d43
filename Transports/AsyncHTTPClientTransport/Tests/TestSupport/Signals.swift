/// Events that a test waits for, in order.
package final class Signals<Signal: Sendable>: Sendable {
    private let stream: AsyncStream<Signal>
    private let continuation: AsyncStream<Signal>.Continuation

    package init() { (stream, continuation) = AsyncStream.makeStream() }

    package func send(_ signal: Signal) { continuation.yield(signal) }

    @discardableResult
    package func next(_ count: Int = 1) async -> [Signal] {
        var signals: [Signal] = []
        for await signal in stream {
            signals.append(signal)
            if signals.count == count { break }
        }
        return signals
    }

    @discardableResult
    package func next() async -> Signal? { await next(1).first }
}
