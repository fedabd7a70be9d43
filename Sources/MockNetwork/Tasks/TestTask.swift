import Dispatch
import MiniRx

/// The task of a test, for the closures that the test gives to the mock. Sessions call them on threads of their own, where Swift Testing
/// does not know whose expectation fails: it knows the test by the values of its task.
///
/// A task that has been created, but not started, keeps the values of its creator. To call a closure, it is started on the caller's thread,
/// and creates the next one first.
final class TestTask: Sendable {
    /// The scope of the current task, whatever it is. A test and its children share it.
    @TaskLocal static var scope: (any AnyObject & Sendable)?

    private let next: Locked<(any UnstartedTask)?>
    private let hasNext = DispatchSemaphore(value: 1)
    private let scope = TestTask.scope.map { ObjectIdentifier($0) }

    private init(_ first: any UnstartedTask) { next = Locked(first) }

    deinit {
        // Not on this thread, which may be that of a task.
        if let last = next.withLock({ $0.take() }) { DispatchQueue.global().async { last.run {} } }
    }

    /// The current task. `nil` outside a task, as in most XCTests, and on older systems, where a task cannot be created like that.
    static var current: TestTask? {
        guard withUnsafeCurrentTask(body: { $0 != nil }) else { return nil }
        return unstartedTask().map { TestTask($0) }
    }

    /// Calls `body` with the values of the task, and waits for its result.
    func call<Value: Sendable, Failure: Error>(_ body: @escaping @Sendable () throws(Failure) -> Value) throws(Failure) -> Value {
        let isInTask = withUnsafeCurrentTask { $0 != nil }
        // The task of the test, or a child of it.
        if isInTask, Self.scope.map({ ObjectIdentifier($0) }) == scope { return try body() }
        hasNext.wait()
        guard let task = next.withLock({ $0.take() }) else { return try body() }
        let result = Locked<Result<Value, Failure>?>(nil)
        let work: @Sendable () -> Void = { [self] in
            next.withLock { $0 = unstartedTask() }
            hasNext.signal()
            let value = Result(catching: body)
            result.withLock { $0 = value }
        }
        if isInTask {
            // One task is not started within another.
            let done = DispatchSemaphore(value: 0)
            DispatchQueue.global().async {
                task.run(work)
                done.signal()
            }
            done.wait()
        } else {
            task.run(work)
        }
        guard let value = result.withLock({ $0 }) else { return try body() }
        return try value.get()
    }
}

extension TestTask? {
    /// Calls `body`, with the values of the task if there is one.
    func call<Value: Sendable, Failure: Error>(_ body: @escaping @Sendable () throws(Failure) -> Value) throws(Failure) -> Value {
        guard let self else { return try body() }
        return try self.call(body)
    }
}

// MARK: - Tasks that are not started

private protocol UnstartedTask: Sendable {
    /// Starts the task on this thread, and calls `work` in it. Call it once.
    func run(_ work: @escaping @Sendable () -> Void)
}

/// A task with the values of the current one.
private func unstartedTask() -> (any UnstartedTask)? {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return nil }
    return ExecutorOfOneTask()
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class ExecutorOfOneTask: TaskExecutor, UnstartedTask {
    private let job = Locked<UnownedJob?>(nil)
    private let work = Locked<(@Sendable () -> Void)?>(nil)

    init() {
        Task(executorPreference: self) { [self] in work.withLock { $0.take() }?() }
    }

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        self.job.withLock { $0 = job }
    }

    func run(_ work: @escaping @Sendable () -> Void) {
        self.work.withLock { $0 = work }
        job.withLock { $0.take() }?.runSynchronously(on: asUnownedTaskExecutor())
    }
}
