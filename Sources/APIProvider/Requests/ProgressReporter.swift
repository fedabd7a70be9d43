import Dispatch
import MiniRx

/// Reports one request's progress to a handler, in order and one call at a time, but not on the network stack's callback queue. So a
/// blocking handler delays only one request.
final class ProgressReporter: Sendable {
    /// An endpoint's handler.
    struct Handler: Sendable {
        /// The shortest time between two reports on the main queue. `nil` reports each progress on a background queue.
        var interval: DispatchTimeInterval?
        let report: @Sendable (TransferProgress) -> Void
    }

    private struct State {
        /// The unreported progress. On the main queue, only the latest.
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

    /// - Parameter isStream: Whether the request's value is a stream. Progress is then reported after the value, too, while the stream is
    ///   read.
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

    /// Wraps `single` so that the last progress is reported before the value, and none after the value or a dispose.
    func reportingLast<Element>(before single: Single<Element>) -> Single<Element> {
        // The value follows the reports on their queue. The main queue is the app's to choose.
        let ordered = handler.interval != nil ? single : single.observe(on: SerialDispatchQueueScheduler(queue: queue))
        return ordered.do(onSuccess: { [self] _ in finish() }, onDispose: { [self] in stop() })
    }

    /// Reports the last progress at once. A stream's progress continues.
    private func finish() {
        let isLast = state.withLock { state in
            (state.hasSucceeded, state.isEnded) = (true, !isStream)
            return state.isEnded && !state.waiting.isEmpty
        }
        if isLast { schedule(at: .now()) }
    }

    /// Drops unreported progress, unless the request succeeded.
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
