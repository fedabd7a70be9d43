import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

/// A transport with virtual time for the timeouts of endpoints.
private struct TimedTransport: Transport {
    let scheduler: any Scheduler
    let answer: @Sendable (PreparedRequest) -> Single<APIResponse>

    func send(_ request: PreparedRequest) -> Single<APIResponse> { answer(request) }
}

@Suite("The whole time of a request, and its progress", tenMinutes)
struct WholeTimeTests {
    @Test(
        "A request that takes longer than its time in all, also while a retry waits, fails with an error that says so",
        arguments: [true, false])
    func timeout(isRetry: Bool) async {
        let (began, ended, clock) = (Signals<Void>(), Signals<Void>(), TestScheduler())
        let transport = TimedTransport(scheduler: clock) { _ in
            began.send(())
            return isRetry ? .error(URLError(.timedOut)) : .create { _ in Disposables.create { ended.send(()) } }
        }
        let retry = RetryMiddleware(scheduler: TestScheduler())
        let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: isRetry ? [retry] : [])
        let request = Task { try await provider.request(Endpoint<Void>(.get, "/slow").timeout(.milliseconds(20))).value }
        await began.next()
        clock.advance(by: .milliseconds(20))
        let error = await #expect(throws: APIError.self) { try await request.value }
        if !isRetry { await ended.next() }
        #expect(error?.urlError?.code == .timedOut)
        let reason = "it took longer than its endpoint's timeout of 0.02 seconds"
        #expect(error?.description == "GET https://api.example.com/slow failed: \(reason) (URLError -1001).")
    }

    private let requests = Log<PreparedRequest>()
    private let responses = Producer<APIResponse>()
    private let counts = Log<Int64>()

    @MainActor private func subscribe(_ endpoint: Endpoint<Void>, done: Signals<Void> = Signals()) -> any Disposable {
        let transport = ClosureTransport { [requests, responses] request in
            requests.append(request)
            return responses.single
        }
        return DefaultAPIProvider(baseURL: example, transport: transport).request(endpoint).observe(on: MainActor.shared).subscribe { _ in
            counts.append(-1)
            done.send(())
        }
    }

    @MainActor private func endpoint(every interval: DispatchTimeInterval) -> Endpoint<Void> {
        Endpoint<Void>(.post, "/").onProgress(on: MainActor.shared, every: interval) {
            MainActor.assertIsolated()
            counts.append($0.bytesSent)
        }
    }

    private func report(_ count: Int64, of index: Int = 0) { requests.entries[index].reportProgress?(TransferProgress(bytesSent: count)) }

    /// Waits until the main queue has done its work.
    private func mainQueue() async {
        await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
    }

    @Test("Progress on the main actor comes once in each interval, and the last before the value; other progress is complete")
    @MainActor func progress() async {
        let (done, background) = (Signals<Void>(), Log<Int64>())
        let endpoint = endpoint(every: .seconds(3_600)).onProgress { background.append($0.bytesSent) }
        let subscription = subscribe(endpoint, done: done)
        for count in 1...10 { report(Int64(count)) }
        await mainQueue()
        for count in 11...20 { report(Int64(count)) }
        await mainQueue()
        #expect(counts.entries == [10])
        responses.send(.success(APIResponse(to: requests.entries[0])))
        await done.next()
        #expect(counts.entries == [10, 20, -1])
        #expect(background.entries == Array(1...20))
        withExtendedLifetime(subscription) {}
    }

    private typealias Sender = @Sendable (any Scheduler) -> [any Middleware]

    private static let senders: [(Sender, [Int])] = [
        ({ _ in [] }, [200]), ({ _ in [CoalescingMiddleware()] }, [200]), ({ _ in [ConcurrencyLimitMiddleware(maxConcurrent: 1)] }, [200]),
        ({ [RetryMiddleware(RetryPolicy(), scheduler: $0, random: { 1 })] }, [503, 200]),
        ({ _ in [AuthenticationMiddleware(token: "old") { _ in .just("new") }] }, [401, 200]),
    ]

    @Test("No progress follows the value, whoever has sent the request", arguments: senders.indices)
    func late(index: Int) async {
        let (makeMiddlewares, statuses) = Self.senders[index]
        let (log, released, requests) = (Log<Int64>(), Signals<Void>(), Locked<[PreparedRequest]>([]))
        let transport = ClosureTransport { request in
            .deferred {
                let status = requests.withLock { requests in
                    requests.append(request)
                    return statuses[requests.count - 1]
                }
                request.reportProgress?(TransferProgress(bytesReceived: Int64(status)))
                return .just(APIResponse(to: request, statusCode: status))
            }
        }
        func send() {
            let (held, scheduler) = (OnRelease { released.send(()) }, TestScheduler())
            let endpoint = Endpoint<Void>(.get, "/").onProgress { progress in
                withExtendedLifetime(held) { log.append(progress.bytesReceived) }
            }
            let provider = DefaultAPIProvider(baseURL: example, transport: transport, middlewares: makeMiddlewares(scheduler))
            _ = provider.request(endpoint).subscribe { _ in
                log.append(0)
                let all = requests.withLock { requests in
                    defer { requests = [] }
                    return requests
                }
                for request in all { request.reportProgress?(TransferProgress(bytesReceived: -1)) }
            }
            scheduler.run()
        }
        send()
        await released.next()
        #expect(log.entries.suffix(2) == [200, 0])
    }

    @Test("After disposing on the main actor, no progress comes")
    @MainActor func disposed() async {
        let subscription = subscribe(endpoint(every: .nanoseconds(0)))
        report(1)
        await mainQueue()
        report(2)
        subscription.dispose()
        report(3)
        await mainQueue()
        #expect(counts.entries == [1])
    }

    @Test("Two requests of one endpoint have separate progress")
    @MainActor func two() async {
        let endpoint = endpoint(every: .seconds(3_600))
        let both = [subscribe(endpoint), subscribe(endpoint)]
        report(1, of: 0)
        report(2, of: 1)
        await mainQueue()
        #expect(counts.entries == [1, 2])
        withExtendedLifetime(both) {}
    }
}
