import Dispatch
package import Testing

/// For tests that compute for long: they run one after the other, on a separate thread.
///
/// Elsewhere a few of them would take all the threads that tests share, and a request of another test would wait until it times out.
/// A test of another process does not need it. On this thread it would be told late of the end of that process, for which the testing
/// library waits in a busy loop.
package struct LongComputing: SuiteTrait, TestTrait, TestScoping {
    package let isRecursive = true

    package func provideScope(
        for test: Test, testCase: Test.Case?, performing function: @Sendable () async throws -> Void
    ) async throws {
        guard #available(macOS 15, iOS 18, tvOS 18, watchOS 11, *), testCase != nil else { return try await function() }
        try await withTaskExecutorPreference(OneThread.shared) { try await function() }
    }
}

extension Trait where Self == LongComputing {
    package static var longComputing: Self { Self() }
}

@available(macOS 15, iOS 18, tvOS 18, watchOS 11, *)
private final class OneThread: TaskExecutor {
    static let shared = OneThread()
    private let queue = DispatchQueue(label: "tests of long computing")

    func enqueue(_ job: consuming ExecutorJob) {
        let job = UnownedJob(job)
        queue.async { job.runSynchronously(on: self.asUnownedTaskExecutor()) }
    }
}
