import Dispatch
import MiniRx

/// A test's task-local values, for the test's closures in the mock. Swift Testing finds the test of a failed expectation by a task-local
/// value, and sessions call closures on other threads.
///
/// Keeps an unstarted task, which inherits the test's task-local values. A call starts that task on the caller's thread. There, the task
/// makes another for the next call, and then calls the closure.
final class TaskLocalContext: Sendable {
    /// The scope of the current task, shared by a test and its child tasks.
    @TaskLocal static var scope: (any AnyObject & Sendable)?

    private let nextTask: Locked<(any UnstartedTask)?>
    /// Signaled when `nextTask` is set.
    private let nextTaskSemaphore = DispatchSemaphore(value: 1)
    private let scope = TaskLocalContext.scope.map { ObjectIdentifier($0) }

    private init(_ first: any UnstartedTask) { nextTask = Locked(first) }

    deinit {
        // Not on this thread: a task may be running here.
        if let last = nextTask.withLock({ $0.take() }) { DispatchQueue.global().async { last.run {} } }
    }

    /// The current task's context; `nil` outside a task, as in most XCTests, and on older systems without such tasks.
    static var current: TaskLocalContext? {
        guard withUnsafeCurrentTask(body: { $0 != nil }) else { return nil }
        return unstartedTask().map { TaskLocalContext($0) }
    }

    /// Calls `body` with the task-local values, and waits for the result.
    func call<Value: Sendable, Failure: Error>(_ body: @escaping @Sendable () throws(Failure) -> Value) throws(Failure) -> Value {
        let isInTask = withUnsafeCurrentTask { $0 != nil }
        // In the test's task or a child task.
        if isInTask, Self.scope.map({ ObjectIdentifier($0) }) == scope { return try body() }
        nextTaskSemaphore.wait()
        guard let task = nextTask.withLock({ $0.take() }) else { return try body() }
        let result = Locked<Result<Value, Failure>?>(nil)
        let work: @Sendable () -> Void = { [self] in
            nextTask.withLock { $0 = unstartedTask() }
            nextTaskSemaphore.signal()
            let value = Result(catching: body)
            result.withLock { $0 = value }
        }
        if isInTask {
            // Do not start one task within another.
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

extension TaskLocalContext? {
    /// Calls `body`, with the task-local values, if any.
    func call<Value: Sendable, Failure: Error>(_ body: @escaping @Sendable () throws(Failure) -> Value) throws(Failure) -> Value {
        guard let self else { return try body() }
        return try self.call(body)
    }
}

// MARK: - Unstarted tasks

private protocol UnstartedTask: Sendable {
    /// Starts the task on this thread, and calls `work` in the task. Call this once.
    func run(_ work: @escaping @Sendable () -> Void)
}

/// A task with the current task's values.
private func unstartedTask() -> (any UnstartedTask)? {
    guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *) else { return nil }
    return SingleTaskExecutor()
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, visionOS 2, *)
private final class SingleTaskExecutor: TaskExecutor, UnstartedTask {
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
