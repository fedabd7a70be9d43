#if os(Linux)
import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@testable import APIProviderTransport

@Suite("Downloads that go on, with faults from outside", tenMinutes)
struct ResumingFaultTests: DownloadSuite {
    let folder = TemporaryFolder()

    private static func provider() -> DefaultAPIProvider { DefaultAPIProvider(transport: TestedTransport(configuration: .patient)) }

    @Test(
        "Whichever call on a file fails, such as on a full disk, no download succeeds with wrong bytes, and the next one succeeds",
        .longComputing, arguments: [false, true], [false, true])
    func calls(isLasting: Bool, isChanged: Bool) async throws {
        let body = isChanged ? FileAnswer.changedBody : FileAnswer.body
        let server = try LoopbackServer { request, connection in
            let isFirst = request.headers["x-second"] == nil
            FileAnswer(
                eTag: isChanged && !isFirst ? "\"v2\"" : "\"v1\"", body: isFirst ? FileAnswer.body : body,
                breaksOffAfter: isFirst ? 12_000 : nil
            ).send(to: request, connection)
        }
        let provider = Self.provider()
        let count = try await Faults.inTurn(isLasting: isLasting) { faults in
            let folder = TemporaryFolder()
            let file = folder.url("file.bin")
            let first = Endpoint(.get, .url(server.url), downloadingTo: file).resuming()
            var second = first
            second.headers["X-Second"] = "1"
            _ = try? await provider.request(first).value
            let (isWhole, open) = await FaultyFiles.within(folder.url, faults) { (try? await provider.request(second).value) != nil }
            #expect(open == 0)
            if isWhole { #expect(try String(contentsOf: file, encoding: .utf8) == body) }
            _ = try await provider.request(second).value
            #expect(try String(contentsOf: file, encoding: .utf8) == body)
            #expect(try folder.names == ["file.bin"])
        }
        #expect(count > 5)
    }

    @Test("In a folder that has become read-only, no file is written under the name of another one, and the bytes stay")
    func readOnlyFolder() async throws {
        let server = try LoopbackServer(
            FileAnswer(breaksOffAfter: 12_000),
            FileAnswer(eTag: "W/\"v2\"", body: FileAnswer.changedBody, breaksOffAfter: 15_000, ignoresRange: true), FileAnswer())
        let provider = Self.provider()
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()
        await #expect(throws: APIError.self) { try await provider.request(endpoint).value }
        await FaultyFiles.withReadOnly(folder.url) {
            _ = await #expect(throws: APIError.self) { try await provider.request(endpoint).value }
        }
        _ = try await provider.request(endpoint).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-", "bytes=12000-"])
    }

    @Test("Where the hidden folder is never the one that was opened, as on some network file systems, a download keeps nothing and ends")
    func neverTheSameFile() async throws {
        let server = try LoopbackServer(FileAnswer())
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()
        _ = try await FaultyFiles.withVanishing(folder.url) { try await Self.provider().request(endpoint).value }
        try expectOnlyFile()
        #expect(server.ranges == [nil])
    }

    @Test("A request that is disposed while it opens its file lets the next one have it")
    func disposedWhileOpening() async throws {
        let download = DownloadHandoff(resuming: example, to: destination)
        let began = Signals<Void>()
        let subscription = download.running(Single<Void>.never().do(onSubscribe: { began.send(()) })).subscribe()
        await began.next()
        subscription.dispose()
        await #expect(throws: URLError.self) { try await download.beginAttempt()?.value }
        try KeptFolder.remove(for: destination)
        #expect(try folder.names.isEmpty)
    }

    @Test(
        "A dispose waits for no disk, and the next request goes on when the disk is done",
        arguments: [FaultyFiles.Call.write, .synchronize])
    func slowDisk(call: FaultyFiles.Call) async throws {
        let server = try LoopbackServer(FileAnswer(breaksOffAfter: call == .write ? 12_000 : nil), FileAnswer())
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()
        let provider = Self.provider()
        try await FaultyFiles.withSlow(call, folder.url) { began, goOn in
            let first = provider.request(endpoint).subscribe { Issue.record("An event came after dispose: \($0)") }
            await began.next()
            first.dispose()
            async let second = provider.request(endpoint).value
            #expect(FaultyFiles.openFiles(in: folder.url).count == 2)
            goOn()
            _ = try await second
        }
        try expectOnlyFile()
        #expect(server.ranges.count == 2 && server.ranges[1] != nil)
    }

    @Test("While the disk of one destination hangs, its own timeout comes, and so do the errors of all other destinations")
    func hangingDisk() async throws {
        let server = try LoopbackServer(FileAnswer(breaksOffAfter: 12_000), FileAnswer())
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()
        let clock = TestScheduler()
        let transport = TestedTransport(configuration: .patient)
        let failing = DefaultAPIProvider(transport: ClosureTransport { _ in .error(URLError(.cannotConnectToHost)) })
        await FaultyFiles.withSlow(.synchronize, folder.url) { began, goOn in
            let events = Signals<(any Error)?>()
            let timed = DefaultAPIProvider(transport: TimedTransport(transport: transport, clock: clock))
            let subscription = timed.request(endpoint.timeout(.seconds(9)))
                .subscribe(onSuccess: { _ in events.send(nil) }, onFailure: { events.send($0) })
            await began.next()
            clock.advance(by: .seconds(9))
            #expect((await events.next() as? APIError)?.urlError?.code == .timedOut)
            let others = TemporaryFolder()
            for number in 0..<100 {
                let other = Endpoint(.get, .url(server.url), downloadingTo: others.url("\(number)")).resuming()
                await #expect(throws: APIError.self) { try await failing.request(other).value }
            }
            goOn()
            subscription.dispose()
        }
        _ = try await Self.provider().request(endpoint).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-"])
    }

    @Test("An error that the app keeps holds no file open")
    func keptErrors() async throws {
        let server = try LoopbackServer(FileAnswer(breaksOffAfter: 12_000), FileAnswer(status: "503 Busy"))
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()
        var errors: [APIError?] = []
        for _ in 0..<2 { errors.append(await #expect(throws: APIError.self) { try await Self.provider().request(endpoint).value }) }
        #expect(FaultyFiles.openFiles(in: folder.url).isEmpty)
        withExtendedLifetime(errors) {}
    }

    #if compiler(>=6.3)  // An exit test that captures a value.
    @Test("The download of a process that was killed goes on in another one")
    func killed() async throws {
        let server = try LoopbackServer { request, connection in
            guard request.headers["range"] == nil else { return FileAnswer().send(to: request, connection) }
            FileAnswer(breaksOffAfter: 12_000).send(to: request, connection)
            connection.waitUntilClosed()
        }
        await #expect(processExitsWith: .signal(SIGKILL)) { [url = server.url as URL, file = destination as URL] in
            let endpoint = Endpoint(.get, .url(url), downloadingTo: file).resuming().onProgress {
                if $0.bytesReceived == 12_000 { kill(getpid(), SIGKILL) }
            }
            _ = try await Self.provider().request(endpoint).value
        }
        #expect(keptNames.count == 1 && !keptNames[0].hasPrefix("0,"))
        _ = try await Self.provider().request(Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()).value
        try expectOnlyFile()
        #expect(server.ranges == [nil, "bytes=12000-"])
    }

    @Test("However many downloads begin at once, they end with their files in a process that may open 200 more files")
    func many() async throws {
        let server = try LoopbackServer(FileAnswer())
        await #expect(processExitsWith: .success) { [url = server.url as URL, folder = folder.url("") as URL] in
            // The process inherits what other tests have open.
            let last = try FileManager.default.contentsOfDirectory(atPath: "/proc/self/fd").compactMap { rlim_t($0) }.max() ?? 0
            var limit = rlimit(rlim_cur: last + 200, rlim_max: last + 200)
            try #require(setrlimit(__rlimit_resource_t(RLIMIT_NOFILE.rawValue), &limit) == 0)
            let provider = Self.provider()
            try await withThrowingTaskGroup(of: Void.self) { group in
                for number in 0..<400 {
                    let endpoint = Endpoint(.get, .url(url), downloadingTo: folder.appendingPathComponent("\(number)")).resuming()
                    group.addTask { _ = try await provider.request(endpoint).value }
                }
                try await group.waitForAll()
            }
        }
        #expect(try folder.names.count == 400)
    }

    @Test("While one process downloads to a file, another one fails at once")
    func twoProcesses() async throws {
        let (arrived, goOn) = (Signals<Void>(), DispatchSemaphore(value: 0))
        let server = try LoopbackServer { request, connection in
            FileAnswer(breaksOffAfter: 12_000).send(to: request, connection)
            goOn.wait()
            connection.send(Data(FileAnswer.body.utf8.dropFirst(12_000)))
        }
        let endpoint = Endpoint(.get, .url(server.url), downloadingTo: destination).resuming()
        async let first = Self.provider().request(endpoint.onProgress { if $0.bytesReceived > 0 { arrived.send(()) } }).value
        await arrived.next()
        await #expect(processExitsWith: .success) { [url = server.url as URL, file = destination as URL] in
            let error = await #expect(throws: APIError.self) {
                try await Self.provider().request(Endpoint(.get, .url(url), downloadingTo: file).resuming()).value
            }
            #expect(error?.description.contains("another download to it is going on") == true)
        }
        goOn.signal()
        _ = try await first
        try expectOnlyFile()
        #expect(server.requests.count == 1)
    }
    #endif
}

/// A transport with virtual time for the timeouts of endpoints.
private struct TimedTransport: Transport {
    let transport: TestedTransport
    let clock: TestScheduler

    var scheduler: any Scheduler { clock }

    func send(_ request: PreparedRequest) -> Single<APIResponse> { transport.send(request) }
}
#endif
