import Dispatch
import MiniRx

/// A report on the main actor, and how often it may come.
struct ThrottledReport: Sendable {
    let interval: DispatchTimeInterval
    let report: @MainActor (TransferProgress) -> Void
}

/// The progress of one request: the closure that the transport calls, and the reports that wait to be delivered.
struct RequestProgress: Sendable {
    let report: (@Sendable (TransferProgress) -> Void)?
    fileprivate let queued: QueuedProgress?
    fileprivate let throttled: [ThrottledProgress]

    /// Returns a single that reports the last progress before its value, and none after a dispose. While a stream is read, closures without an interval go on.
    func finishing<Element>(before single: Single<Element>) -> Single<Element> {
        guard report != nil else { return single }
        return (queued.map { single.observe(on: $0.scheduler) } ?? single).do(
            onSuccess: { [queued, throttled] _ in
                queued?.finish()
                throttled.forEach { $0.finish() }
            },
            onDispose: { [queued, throttled] in
                queued?.stop()
                throttled.forEach { $0.stop() }
            })
    }
}

/// Calls a closure beside the callbacks of the network stack, so that one that blocks holds up its own request alone.
private final class QueuedProgress: Sendable {
    let scheduler = SerialDispatchQueueScheduler(queue: .global(qos: .userInitiated))
    private let report: @Sendable (TransferProgress) -> Void
    private let state = Locked((isFinished: false, isStopped: false))

    init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

    func enqueue(_ progress: TransferProgress) {
        _ = scheduler.schedule(after: .nanoseconds(0)) { [self] in
            if !state.withLock(\.isStopped) { report(progress) }
        }
    }

    func finish() { state.withLock { $0.isFinished = true } }

    /// Nothing more is reported, unless the value has come.
    func stop() { state.withLock { $0.isStopped = !$0.isFinished } }
}

extension Endpoint {
    /// The progress of a new request.
    var progress: RequestProgress {
        guard details.report != nil || !details.throttledReports.isEmpty else {
            return RequestProgress(report: nil, queued: nil, throttled: [])
        }
        let queued = details.report.map { QueuedProgress($0) }
        let throttled = details.throttledReports.map { ThrottledProgress($0) }
        return RequestProgress(
            report: { progress in
                queued?.enqueue(progress)
                for one in throttled { one.enqueue(progress) }
            }, queued: queued, throttled: throttled)
    }
}

/// Keeps the latest progress until the next report is due.
private final class ThrottledProgress: Sendable {
    private struct State {
        var latest: TransferProgress?
        /// When the next report may come.
        var due = DispatchTime(uptimeNanoseconds: 0)
        var isScheduled = false
        var isFinished = false
    }

    private let settings: ThrottledReport
    private let state = Locked(State())

    init(_ settings: ThrottledReport) { self.settings = settings }

    func enqueue(_ progress: TransferProgress) {
        let due = state.withLock { state -> DispatchTime? in
            guard !state.isFinished else { return nil }
            state.latest = progress
            defer { state.isScheduled = true }
            return state.isScheduled ? nil : state.due
        }
        if let due { deliver(at: max(due, .now())) }
    }

    /// Reports the last progress at once.
    func finish() {
        let isWaiting = state.withLock { state in
            state.isFinished = true
            return state.latest != nil
        }
        if isWaiting { deliver(at: .now()) }
    }

    /// Nothing more is reported, unless all has come and the rest is on its way.
    func stop() {
        state.withLock { state in
            if !state.isFinished { state.latest = nil }
            state.isFinished = true
        }
    }

    private func deliver(at time: DispatchTime) {
        let report = DispatchWorkItem { [self] in
            let progress = state.withLock { state in
                (state.isScheduled, state.due) = (false, .now() + settings.interval)
                return state.latest.take()
            }
            if let progress { MainActor.assumeIsolated { settings.report(progress) } }
        }
        if time <= .now() {
            DispatchQueue.main.async(execute: report)
        } else {
            DispatchQueue.main.asyncAfter(deadline: time, execute: report)
        }
    }
}
