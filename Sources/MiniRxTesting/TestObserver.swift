public import Dispatch
public import MiniRx

/// Subscribes to a single in virtual time, and records the event: see ``TestScheduler/observe(_:)``.
///
/// You may use an observer on any thread. Releasing the observer doesn't dispose the subscription.
public final class TestObserver<Element: Sendable>: Disposable {
    /// The event of a single, and the virtual time since the scheduler was created.
    ///
    /// Two events are equal if their times and values are. Errors are compared by type and description.
    public enum Event: Sendable {
        /// The value, and the virtual time since the scheduler was created.
        case success(Element, at: DispatchTimeInterval)
        /// The error, and the virtual time since the scheduler was created.
        case failure(any Error, at: DispatchTimeInterval)
    }

    private struct State {
        var events: [Event] = []
        var isDisposed = false
    }

    /// Only the observer retains the scheduler. A subscription that did so would make a cycle, because the scheduler retains pending
    /// actions.
    private let scheduler: TestScheduler
    private let subscription: any Disposable
    private let state: Locked<State>

    init(_ single: Single<Element>, _ scheduler: TestScheduler) {
        let state = Locked(State())
        (self.scheduler, self.state) = (scheduler, state)
        let record: @Sendable (@escaping (DispatchTimeInterval) -> Event) -> Void = { [weak scheduler] makeEvent in
            guard let time = scheduler?.elapsed else { return }
            state.withLock { $0.events.append(makeEvent(time)) }
        }
        subscription = single.subscribe(
            onSuccess: { element in record { .success(element, at: $0) } }, onFailure: { error in record { .failure(error, at: $0) } },
            onDisposed: { state.withLock { $0.isDisposed = true } })
    }

    // MARK: - The result

    /// The event, in an array; empty until then.
    public var events: [Event] { state.withLock(\.events) }

    /// The value, in an array; empty without one.
    public var values: [Element] {
        events.compactMap { event in
            guard case .success(let element, _) = event else { return nil }
            return element
        }
    }

    /// The error; `nil` without a failure.
    public var error: (any Error)? {
        guard case .failure(let error, _)? = events.first else { return nil }
        return error
    }

    /// Whether the source is torn down, after its event or after ``dispose()``.
    public var isDisposed: Bool { state.withLock(\.isDisposed) }

    /// Disposes the subscription. No event is recorded after that.
    public func dispose() { subscription.dispose() }
}

extension TestObserver.Event: Equatable where Element: Equatable {
    /// Returns whether both have the same time, and the same value or the same error.
    public static func == (a: Self, b: Self) -> Bool {
        switch (a, b) {
        case (.success(let a, let time), .success(let b, let otherTime)): a == b && time == otherTime
        case (.failure(let a, let time), .failure(let b, let otherTime)):
            type(of: a) == type(of: b) && "\(a)" == "\(b)" && time == otherTime
        default: false
        }
    }
}

extension TestScheduler {
    /// Subscribes to `single`, and records the event with the virtual time.
    ///
    /// - Returns: The observer with the recorded event.
    public func observe<Element: Sendable>(_ single: Single<Element>) -> TestObserver<Element> { TestObserver(single, self) }
}
