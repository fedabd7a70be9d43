import MiniRx
import TestSupport
import Testing

@Suite("async", tenMinutes)
struct ValueTests {
    @Test("value gives the value or throws the error")
    func value() async throws {
        #expect(try await Single.just(1).map { $0 + 1 }.value == 2)
        await #expect(throws: TestError()) { try await Single<Int>.error(TestError()).value }
    }

    @Test("Cancelling the task disposes the source and throws CancellationError")
    func cancel() async {
        let (isSubscribed, subscribed) = AsyncStream.makeStream(of: Void.self)
        let (isReleased, released) = AsyncStream.makeStream(of: Void.self)
        let single = Single<Int>.create { _ in
            subscribed.yield()
            return Disposables.create { released.yield() }
        }
        let task = Task { try await single.value }
        for await _ in isSubscribed { break }
        task.cancel()
        await #expect(throws: CancellationError.self) { try await task.value }
        for await _ in isReleased { break }
    }

    @Test("A task that is cancelled already never subscribes")
    func cancelledBefore() async {
        let log = Log<String>()
        let single = Single<Int>.create { observer in
            log.append("body")
            observer(.success(1))
            return Disposables.create()
        }
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await single.value
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.entries == [])
    }

    @Test("A cancel that races the value, 10,000 times, resumes exactly once")
    func races() async {
        for _ in 0..<10_000 {
            let task = Task {
                try await Single<Int>.create { observer in
                    let work = Task { observer(.success(1)) }
                    return Disposables.create { work.cancel() }
                }.value
            }
            let canceller = Task { task.cancel() }
            switch await task.result {
            case .success(let value): #expect(value == 1)
            case .failure(let error): #expect(error is CancellationError)
            }
            await canceller.value
        }
    }

    @Test("create with async work delivers what it returns or throws")
    func work() async throws {
        #expect(try await Single.create { 5 }.value == 5)
        await #expect(throws: TestError()) { try await Single<Int>.create { throw TestError() }.value }
    }

    @Test("Disposing async work cancels its task")
    func workIsCancelled() async {
        let (isCancelled, cancelled) = AsyncStream.makeStream(of: Bool.self)
        let (isStarted, started) = AsyncStream.makeStream(of: Void.self)
        let disposable = Single<Int>.create {
            started.yield()
            while !Task.isCancelled { await Task.yield() }
            cancelled.yield(true)
            return 1
        }.subscribe { _ in Issue.record("An event came after dispose.") }
        for await _ in isStarted { break }
        disposable.dispose()
        for await _ in isCancelled { break }
    }
}
