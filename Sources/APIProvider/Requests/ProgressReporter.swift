import Dispatch
import MiniRx

/// Reports the progress of one request to a handler, in order and one call at a time, and not on the callback queue of the network stack. A
/// handler that blocks then delays only its own request.
final class ProgressReporter: Sendable {
    /// A handler of an endpoint.
    struct Handler: Sendable {
        /// The shortest time between two reports on the main queue. With `nil`, each progress is reported, on a background queue.
        var interval: DispatchTimeInterval?
        let report: @Sendable (TransferProgress) -> Void
    }

    private struct State {
        /// What is not reported yet. On the main queue, that is the latest progress only.
        var waiting: ArraySlice<TransferProgress> = []
        /// The earliest time of the next report.
        var due = DispatchTime(uptimeNanoseconds: 0)
        var isScheduled = false
        var hasSucceeded = false
        /// Whether no more progress is taken.
        var isEnded = false
    }

    private let handler: Handler
    private let isStream: Bool
    private let queue: DispatchQueue
    private let state = Locked(State())

    /// - Parameter isStream: Whether the value of the request is a stream. Progress is then still reported after the value, while the
    ///   stream is read.
    init(_ handler: Handler, isStream: Bool) {
        (self.handler, self.isStream) = (handler, isStream)
        queue = handler.interval != nil ? .main : DispatchQueue(label: "APIProvider.progress", target: .global(qos: .userInitiated))
    }

    func report(_ progress: TransferProgress) {
        let due = state.withLock { state -> DispatchTime? in
            guard !state.isEnded else { return nil }
            if handler.interval != nil { state.waiting = [] }
            state.waiting.append(progress)
            defer { state.isScheduled = handler.interval != nil }
            return state.isScheduled ? nil : state.due
        }
        if let due { schedule(at: due) }
    }

    /// Wraps `single` so that the last progress is reported before its value, and none after it or after a dispose.
    func reportingLast<Element>(before single: Single<Element>) -> Single<Element> {
        // The value follows the reports on their queue. The main queue is the app's to choose.
        let ordered = handler.interval != nil ? single : single.observe(on: SerialDispatchQueueScheduler(queue: queue))
        return ordered.do(onSuccess: { [self] _ in finish() }, onDispose: { [self] in stop() })
    }

    /// Reports the last progress at once. A stream's goes on.
    private func finish() {
        let isLast = state.withLock { state in
            (state.hasSucceeded, state.isEnded) = (true, !isStream)
            return state.isEnded && !state.waiting.isEmpty
        }
        if isLast { schedule(at: .now()) }
    }

    /// Drops what is not reported yet, unless the request has succeeded.
    private func stop() {
        state.withLock { state in
            if !state.hasSucceeded { (state.isEnded, state.waiting) = (true, []) }
        }
    }

    private func schedule(at time: DispatchTime) {
        let report = DispatchWorkItem { [self] in
            let progress = state.withLock { state in
                if let interval = handler.interval { (state.isScheduled, state.due) = (false, .now() + interval) }
                return state.waiting.popFirst()
            }
            if let progress { handler.report(progress) }
        }
        if time <= .now() { queue.async(execute: report) } else { queue.asyncAfter(deadline: time, execute: report) }
    }
}
