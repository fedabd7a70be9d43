import Dispatch
import MiniRx

/// A progress handler that is called on the main actor, at most once in each `interval`.
struct ThrottledProgressHandler: Sendable {
    let interval: DispatchTimeInterval
    let report: @MainActor (TransferProgress) -> Void
}

/// Reports the progress of one request to the handlers of its endpoint. The transport calls `report`.
struct ProgressReporter: Sendable {
    let report: (@Sendable (TransferProgress) -> Void)?
    fileprivate let queue: ProgressQueue?
    fileprivate let throttles: [ProgressThrottle]
    fileprivate let isStreamed: Bool

    /// Wraps `single` so that the last progress is reported before its value, and none after it or after a dispose. For a stream, the
    /// handlers of ``Endpoint/onProgress(_:)`` are still called after the value, while it is read.
    func reportingLast<Element>(before single: Single<Element>) -> Single<Element> {
        guard report != nil else { return single }
        return (queue.map { single.observe(on: $0.scheduler) } ?? single).do(
            onSuccess: { [queue, throttles, isStreamed] _ in
                if isStreamed { queue?.continueAfterDispose() } else { queue?.stop() }
                throttles.forEach { $0.finish() }
            },
            onDispose: { [queue, throttles] in
                queue?.stop()
                throttles.forEach { $0.stop() }
            })
    }
}

// MARK: - Reports on a background queue

/// Calls a progress handler on its own queue and not on the callback queue of the network stack. A handler that blocks then delays only its
/// own request.
private final class ProgressQueue: Sendable {
    let scheduler = SerialDispatchQueueScheduler(queue: .global(qos: .userInitiated))
    private let report: @Sendable (TransferProgress) -> Void
    private let state = Locked((continuesAfterDispose: false, isStopped: false))

    init(_ report: @escaping @Sendable (TransferProgress) -> Void) { self.report = report }

    func enqueue(_ progress: TransferProgress) {
        _ = scheduler.schedule(after: .nanoseconds(0)) { [self] in
            if !state.withLock(\.isStopped) { report(progress) }
        }
    }

    func continueAfterDispose() { state.withLock { $0.continuesAfterDispose = true } }

    /// Stops reporting, unless it continues for the reader of a stream. Progress that is already enqueued is dropped.
    func stop() { state.withLock { $0.isStopped = !$0.continuesAfterDispose } }
}

extension Endpoint {
    /// Creates the reporter for one request.
    func makeProgressReporter() -> ProgressReporter {
        guard configuration.report != nil || !configuration.throttledHandlers.isEmpty else {
            return ProgressReporter(report: nil, queue: nil, throttles: [], isStreamed: false)
        }
        let queue = configuration.report.map { ProgressQueue($0) }
        let throttles = configuration.throttledHandlers.map { ProgressThrottle($0) }
        return ProgressReporter(
            report: { progress in
                queue?.enqueue(progress)
                for one in throttles { one.enqueue(progress) }
            }, queue: queue, throttles: throttles, isStreamed: destination.isStream)
    }
}

// MARK: - Reports on the main actor

/// Keeps the latest progress until the next report is due.
private final class ProgressThrottle: Sendable {
    private struct State {
        var latest: TransferProgress?
        /// The earliest time of the next report.
        var due = DispatchTime(uptimeNanoseconds: 0)
        var isScheduled = false
        var isFinished = false
    }

    private let handler: ThrottledProgressHandler
    private let state = Locked(State())

    init(_ handler: ThrottledProgressHandler) { self.handler = handler }

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

    /// Stops reporting. After `finish()`, it does nothing, so that the last report is still delivered.
    func stop() {
        state.withLock { state in
            if !state.isFinished { state.latest = nil }
            state.isFinished = true
        }
    }

    private func deliver(at time: DispatchTime) {
        let report = DispatchWorkItem { [self] in
            let progress = state.withLock { state in
                (state.isScheduled, state.due) = (false, .now() + handler.interval)
                return state.latest.take()
            }
            if let progress { MainActor.assumeIsolated { handler.report(progress) } }
        }
        if time <= .now() {
            DispatchQueue.main.async(execute: report)
        } else {
            DispatchQueue.main.asyncAfter(deadline: time, execute: report)
        }
    }
}
