import Dispatch
import MiniRx
import TestSupport
import Testing

@Suite("Retry", tenMinutes)
struct RetryTests {
    private let log = Log<String>()
    private let scheduler = TestScheduler()

    /// Fails the first `failures` times, and then succeeds with the number of the attempt.
    private func flaky(failures: Int) -> Single<Int> {
        .create { [log] observer in
            log.append("attempt")
            let attempt = log.entries.count { $0 == "attempt" }
            observer(attempt > failures ? .success(attempt) : .failure(TestError("\(attempt)")))
            return log.disposable()
        }
    }

    @Test("retry(n) makes at most n attempts and delivers the last error", arguments: [(2, 3), (9, 3), (9, 1)])
    func limit(failures: Int, attempts: Int) async throws {
        let single = flaky(failures: failures).retry(attempts)
        if failures < attempts {
            #expect(try await single.value == attempts)
        } else {
            await #expect(throws: TestError("\(attempts)")) { try await single.value }
        }
        #expect(log.entries == (0..<attempts).flatMap { _ in ["attempt", "release"] })
    }

    #if compiler(>=6.2) && (os(Linux) || os(macOS))
    @Test("retry(0) stops with a message that says what to write")
    func zero() async {
        let result = await #expect(processExitsWith: .failure, observing: [\.standardErrorContent]) { _ = Single.just(1).retry(0) }
        let text = String(decoding: result?.standardErrorContent ?? [], as: UTF8.self)
        #expect(text.contains("retry(0) would never subscribe. The count is of attempts: write retry(1)"), "\(text)")
    }
    #endif

    @Test("100,000 synchronous retries keep the stack flat")
    func flat() {
        let (results, left) = (Log<Int>(), Locked(100_000))
        onSmallStack {
            _ = Single<Int>.create { observer in
                let isLast = left.withLock { left in
                    left -= 1
                    return left == 0
                }
                observer(isLast ? .success(1) : .failure(TestError()))
                return Disposables.create()
            }.retry().subscribe(onSuccess: results.append)
        }
        #expect(results.entries == [1])
    }

    @Test("retry(scheduler:when:) waits as long as it is told, counts failures, and gives up with the last error")
    func backoff() {
        let observer = scheduler.observe(
            flaky(failures: 9).retry(scheduler: scheduler) { [log] failures, error in
                log.append("\(failures): \((error as? TestError)?.name ?? "")")
                return failures < 3 ? .seconds(failures) : nil
            })
        #expect(log.entries == ["attempt", "1: 1", "release"])
        scheduler.advance(by: .milliseconds(999))
        #expect(log.count == 3)
        scheduler.advance(by: .milliseconds(1))
        #expect(log.entries.suffix(3) == ["attempt", "2: 2", "release"])
        scheduler.run()
        #expect(log.entries.suffix(3) == ["attempt", "3: 3", "release"])
        #expect(observer.events == [.failure(TestError("3"), at: .seconds(3))])
    }
}
