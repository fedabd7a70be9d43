import APIProvider
import Dispatch
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("The whole time of a request, and its progress", tenMinutes)
struct WholeTimeTests {
    private func provider(_ answer: @escaping @Sendable () -> Single<APIResponse>, _ middlewares: any Middleware...) -> DefaultAPIProvider {
        DefaultAPIProvider(baseURL: example, transport: ClosureTransport { _ in answer() }, middlewares: middlewares)
    }

    @Test("A request that takes longer than its time in all fails with a sentence that names it")
    func timeout() async {
        let ended = Signals<Void>()
        let never = provider { .create { _ in Disposables.create { ended.send(()) } } }
        let error = await #expect(throws: APIError.self) {
            try await never.request(Endpoint<Void>(.get, "/slow").timeout(.milliseconds(20))).value
        }
        await ended.next()
        #expect(error?.urlError?.code == .timedOut)
        #expect(
            error?.description
                == "GET https://api.example.com/slow failed: it took longer than the 0.02 seconds that its endpoint allows in all (URLError -1001)."
        )
    }

    @Test("Attempts and waits of a middleware count")
    func retries() async {
        let policy = RetryPolicy(maxAttempts: 1_000, baseDelay: .milliseconds(1), maxDelay: .milliseconds(1))
        let failing = provider({ .error(URLError(.timedOut)) }, RetryMiddleware(policy))
        let error = await #expect(throws: APIError.self) {
            try await failing.request(Endpoint<Void>(.get, "/").timeout(.milliseconds(50))).value
        }
        #expect("\(String(describing: error))".contains("allows in all"))
    }

    @Test("In time, the value comes", arguments: [1, 3_600])
    func inTime(hours: Int) async throws {
        let quick = provider { .just(APIResponse(to: PreparedRequest("GET"), data: Data("x".utf8))) }
        #expect(
            try await quick.request(Endpoint<String>(.get, "/").map { $0 + "y" }.timeout(.seconds(hours * 3_600)).map { $0 + "z" }).value
                == "xyz")
    }

    @Test("A time that is not above 0 is an error that says so", arguments: [0, -1])
    func wrong(seconds: Int) async {
        let quick = provider { .just(APIResponse(to: PreparedRequest("GET"))) }
        let error = await #expect(throws: APIError.self) {
            try await quick.request(Endpoint<Void>(.get, "/").timeout(.seconds(seconds))).value
        }
        #expect(error?.description == "The request was not sent: its timeout must be more than 0 seconds.")
    }

    /// Reports progress as often as it is told to, and then answers.
    private struct Uploads: Transport {
        let reports: Int
        var answer = true

        func send(_ request: PreparedRequest) -> Single<APIResponse> {
            .create { observer in
                DispatchQueue.global().async {
                    for count in 1...Int64(reports) {
                        request.reportProgress?(TransferProgress(bytesSent: count, bytesToSend: Int64(reports)))
                    }
                    if answer { observer(.success(APIResponse(to: request))) }
                }
                return Disposables.create()
            }
        }
    }

    @Test("Progress on the main actor comes rarely, and the last before the value")
    @MainActor func progress() async {
        let provider = DefaultAPIProvider(baseURL: example, transport: Uploads(reports: 20_000))
        let (counts, done, background) = (Log<Int64>(), Signals<Void>(), Locked(0))
        let endpoint = Endpoint<Void>(.post, "/").onProgress { _ in background.withLock { $0 += 1 } }
            .onProgress(on: MainActor.shared, every: .seconds(3_600)) { progress in
                MainActor.assertIsolated()
                counts.append(progress.bytesSent)
            }
        let subscription = provider.request(endpoint.map { 1 }).observe(on: MainActor.shared).subscribe { _ in
            counts.append(-1)
            done.send(())
        }
        await done.next()
        // The first comes at once, the last before the value, and none between: an hour has not passed.
        #expect(counts.count <= 3)
        #expect(counts.entries.suffix(2) == [20_000, -1])
        #expect(background.withLock { $0 } == 20_000)
        withExtendedLifetime(subscription) {}
    }

    @Test("After a dispose on the main actor, none comes")
    @MainActor func disposed() async {
        let provider = DefaultAPIProvider(baseURL: example, transport: Uploads(reports: 100, answer: false))
        let first = Signals<Void>()
        let counts = Log<Int64>()
        let endpoint = Endpoint<Void>(.post, "/").onProgress(on: MainActor.shared, every: .milliseconds(1)) { progress in
            counts.append(progress.bytesSent)
            first.send(())
        }
        let subscription = provider.request(endpoint).subscribe { _ in }
        await first.next()
        subscription.dispose()
        let count = counts.count
        for _ in 0..<100 {
            await withCheckedContinuation { continuation in DispatchQueue.main.async { continuation.resume() } }
        }
        #expect(counts.count == count)
    }

    @Test("Two requests of one endpoint report their own progress")
    @MainActor func two() async {
        let provider = DefaultAPIProvider(baseURL: example, transport: Uploads(reports: 10))
        let counts = Log<Int64>()
        let endpoint = Endpoint<Void>(.post, "/").onProgress(on: MainActor.shared, every: .seconds(60)) { counts.append($0.bytesSent) }
        let done = Signals<Void>()
        let both = (0..<2).map { _ in provider.request(endpoint).observe(on: MainActor.shared).subscribe { _ in done.send(()) } }
        await done.next(2)
        #expect(counts.entries.filter { $0 == 10 }.count >= 2)
        withExtendedLifetime(both) {}
    }
}
