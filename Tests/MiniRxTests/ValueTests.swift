import MiniRx
import TestSupport
import Testing

@Suite("async", tenMinutes)
struct ValueTests {
    @Test("value returns the value or throws the error, and create(work:) delivers what its work returns or throws")
    func value() async throws {
        #expect(try await Single.just(1).map { $0 + 1 }.value == 2)
        await #expect(throws: TestError()) { try await Single<Int>.error(TestError()).value }
        #expect(try await Single.create { 5 }.value == 5)
        await #expect(throws: TestError()) { try await Single<Int>.create { throw TestError() }.value }
    }

    @Test("Cancelling the task disposes the source, and then throws CancellationError")
    func cancel() async {
        for _ in 0..<20 {
            let (log, subscribed) = (Log<String>(), Signals<Void>())
            let single = Single<Int>.create { _ in
                subscribed.send(())
                return Disposables.create {
                    spin(upTo: 1_000)
                    log.append("released")
                }
            }
            let task = Task {
                await #expect(throws: CancellationError.self) { try await single.value }
                log.append("thrown")
            }
            await subscribed.next()
            task.cancel()
            await task.value
            #expect(log.entries == ["released", "thrown"])
        }
    }

    @Test("A task that is already cancelled never subscribes")
    func cancelledBefore() async {
        let log = Log<String>()
        let single = Single.just(1).do(onSubscribe: log.adds("subscribed"))
        let task = Task {
            withUnsafeCurrentTask { $0?.cancel() }
            return try await single.value
        }
        await #expect(throws: CancellationError.self) { try await task.value }
        #expect(log.entries == [])
    }

    @Test("A cancel that races the value resumes exactly once")
    func races() async {
        for _ in 0..<rounds(1_000) {
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

    @Test("Work in a task is released when it has returned or thrown", arguments: [true, false])
    func workIsReleased(isThrowing: Bool) async {
        weak var released: Token?
        do {
            let token = Token()
            released = token
            let single = Single<Int>.create {
                await Task.yield()
                if isThrowing { throw TestError() }
                return withExtendedLifetime(token) { 1 }
            }
            _ = try? await single.value
        }
        #expect(await eventually { released == nil })
    }

    @Test("Disposing async work cancels its task")
    func workIsCancelled() async {
        let (started, cancelled) = (Signals<Void>(), Signals<Void>())
        let disposable = Single<Int>.create {
            started.send(())
            while !Task.isCancelled { await Task.yield() }
            cancelled.send(())
            return 1
        }.subscribe { _ in Issue.record("An event came after dispose.") }
        await started.next()
        disposable.dispose()
        await cancelled.next()
    }
}
