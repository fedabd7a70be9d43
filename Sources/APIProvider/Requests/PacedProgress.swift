import Dispatch
import MiniRx

/// A report on the main actor, and how often it may come.
struct PacedReport: Sendable {
    let interval: DispatchTimeInterval
    let report: @MainActor (TransferProgress) -> Void
}

/// The progress of one request: what the transport calls, and what of it waits for the main actor.
struct RequestProgress: Sendable {
    let report: (@Sendable (TransferProgress) -> Void)?
    fileprivate let queued: QueuedProgress?
    fileprivate let paced: [PacedProgress]

    /// Tells the last progress before the value, and none after a dispose. While a stream is read, closures that are not paced go on.
    func pacing<Element>(_ single: Single<Element>) -> Single<Element> {
        guard report != nil else { return single }
        return (queued.map { single.observe(on: $0.scheduler) } ?? single).do(
            onSuccess: { [queued, paced] _ in
                queued?.finish()
                paced.forEach { $0.finish() }
            },
            onDispose: { [queued, paced] in
                queued?.stop()
                paced.forEach { $0.stop() }
            })
    }
}

/// Calls a closure beside the callbacks of the network stack, so that one that blocks holds up its own request alone.
private final class QueuedProgress: Sendable {
    let scheduler = SerialDispatchQueueScheduler(queue: .global(qos: .userInitiated))
    private let report: @Sendable (TransferProgress) -> Void
    private let state = Locked((isFinished: false, isStopped: false))

    init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

    func tell(_ progress: TransferProgress) {
        _ = scheduler.schedule(after: .nanoseconds(0)) { [self] in
            if !state.withLock(\.isStopped) { report(progress) }
        }
    }

    func finish() { state.withLock { $0.isFinished = true } }

    /// Nothing more is told, unless the value has come.
    func stop() { state.withLock { $0.isStopped = !$0.isFinished } }
}

extension Endpoint {
    /// The progress of a new request.
    var progress: RequestProgress {
        guard report != nil || !pacedReports.isEmpty else { return RequestProgress(report: nil, queued: nil, paced: []) }
        let queued = report.map { QueuedProgress($0) }
        let paced = pacedReports.map { PacedProgress($0) }
        return RequestProgress(
            report: { progress in
                queued?.tell(progress)
                for one in paced { one.tell(progress) }
            }, queued: queued, paced: paced)
    }
}

/// Keeps the latest progress until the next report is due.
private final class PacedProgress: Sendable {
    private struct State {
        var latest: TransferProgress?
        /// When the next report may come.
        var due = DispatchTime(uptimeNanoseconds: 0)
        var isScheduled = false
        var isOver = false
    }

    private let paced: PacedReport
    private let state = Locked(State())

    init(_ paced: PacedReport) { self.paced = paced }

    func tell(_ progress: TransferProgress) {
        let due = state.withLock { state -> DispatchTime? in
            guard !state.isOver else { return nil }
            state.latest = progress
            defer { state.isScheduled = true }
            return state.isScheduled ? nil : state.due
        }
        if let due { deliver(at: max(due, .now())) }
    }

    /// The last progress is told at once.
    func finish() {
        let isWaiting = state.withLock { state in
            state.isOver = true
            return state.latest != nil
        }
        if isWaiting { deliver(at: .now()) }
    }

    /// Nothing more is told, unless all has come and the rest is on its way.
    func stop() {
        state.withLock { state in
            if !state.isOver { state.latest = nil }
            state.isOver = true
        }
    }

    private func deliver(at time: DispatchTime) {
        let report = DispatchWorkItem { [self] in
            let progress = state.withLock { state in
                (state.isScheduled, state.due) = (false, .now() + paced.interval)
                return state.latest.take()
            }
            if let progress { MainActor.assumeIsolated { paced.report(progress) } }
        }
        if time <= .now() {
            DispatchQueue.main.async(execute: report)
        } else {
            DispatchQueue.main.asyncAfter(deadline: time, execute: report)
        }
    }
}
