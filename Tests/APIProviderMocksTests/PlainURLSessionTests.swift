import APIProvider
import APIProviderMocks
import APIProviderTesting
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("URLSession code without a provider", .mockNetwork, tenMinutes)
struct PlainURLSessionTests {
    private let session = URLSession(configuration: MockURLProtocol.configuration)
    private let body = Data("0123456789".utf8)

    @Test("A completion handler and an async call get the whole body of an answer in chunks")
    func wholeBody() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).chunked(into: 3))
        let outcome = await outcome { session.dataTask(with: request("/a"), completionHandler: $0).resume() }
        #expect(outcome.data == body && outcome.status == 200)
        #expect(try await session.data(for: request("/a")).0 == body)

        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/feed", respond: .stream(from: feed))
        for byte in body { feed.send(Data([byte])) }
        feed.finish()
        #expect(await self.outcome { session.dataTask(with: request("/feed"), completionHandler: $0).resume() }.data == body)
    }

    @Test("A transport gets the answer to a request that no provider has made")
    func transport() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body))
        let transport = URLSessionTransport(configuration: MockURLProtocol.configuration)
        #expect(try await transport.send(PreparedRequest(.get, example.appendingPathComponent("/a"))).value.data == body)
    }

    @Test("An answer may come at once, on the session's own thread, or at any moment from another")
    func answerAtOnce() async throws {
        for isAtOnce in [true, false] {
            MockURLProtocol.add(
                AnswerSource { request in
                    .answer(
                        Answer { deliver in
                            let answer = Result { Answer(head: try .mock(200, headers: nil, for: request.url)) }
                            let send: @Sendable () -> Void = { deliver((try? answer.get()) ?? .never) }
                            if isAtOnce { send() } else { DispatchQueue.global().async(execute: send) }
                            return Disposables.create()
                        }, name: "an answer")
                })
            for _ in 0..<rounds(20) {
                #expect(await outcome { session.dataTask(with: request("/a"), completionHandler: $0).resume() }.status == 200)
            }
        }
    }

    @Test("A part of a feed may come from a stub's condition, which the session's own thread calls")
    func feedInCondition() async throws {
        let (feed, reader) = (StreamFeed(), Reader())
        MockURLProtocol.stub(.get, "/feed", respond: .stream(from: feed))
        MockURLProtocol.stub(
            "a request that sends",
            where: {
                guard $0.url.path == "/a" else { return false }
                feed.send(body)
                return true
            }, respond: .status(200))
        let reading = URLSession(configuration: MockURLProtocol.configuration, delegate: reader, delegateQueue: nil)
        reading.dataTask(with: request("/feed")).resume()
        for _ in 0..<rounds(50) {
            #expect(await outcome { session.dataTask(with: request("/a"), completionHandler: $0).resume() }.status == 200)
        }
        feed.finish()
        #expect(await reader.end.next() == true)
        #expect(reader.data.withLock(\.count) == rounds(50) * body.count)
        reading.finishTasksAndInvalidate()
    }

    @Test("A part of a feed may come at any moment of the session's reading")
    func feedRace() async throws {
        for _ in 0..<rounds(20) {
            let (feed, reader) = (StreamFeed(), Reader())
            MockURLProtocol.stub(.get, "/feed", times: 1, respond: .stream(from: feed))
            let session = URLSession(configuration: MockURLProtocol.configuration, delegate: reader, delegateQueue: nil)
            session.dataTask(with: request("/feed")).resume()
            for part in 0..<500 {
                feed.send(Data([UInt8(part % 251)]))
                if part.isMultiple(of: 3) { spin(upTo: 40) }
            }
            feed.finish()
            #expect(await reader.end.next() == true)
            #expect(reader.data.withLock { $0 } == Data((0..<500).map { UInt8($0 % 251) }))
            session.finishTasksAndInvalidate()
        }
    }

    @Test("A redirect is the response, and a late response is a timeout")
    func redirectsAndTimeouts() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .redirect(to: "/b"))
        #expect(await outcome { session.dataTask(with: request("/a"), completionHandler: $0).resume() }.status == 302)
        for response in [StubResponse.status(200).delayed(by: .seconds(3600)), .stream([.wait(.seconds(3600))])] {
            MockURLProtocol.stub(.get, "/a", respond: response)
            let request = URLRequest(url: example.appendingPathComponent("/a"), timeoutInterval: 0.05)
            let outcome = await outcome { session.dataTask(with: request, completionHandler: $0).resume() }
            #expect((outcome.error as? URLError)?.code == .timedOut)
        }
    }

    @Test("An upload is recorded with its body, from data, from a file and from a stream")
    func uploads() async throws {
        let (sent, folder) = (Data("sent".utf8), TemporaryFolder())
        try sent.write(to: folder.url("file"))
        MockURLProtocol.stub(.post, "/a", body: .data(sent), respond: .status(201))
        let request = request("/a", method: "POST")
        #expect(await outcome { session.uploadTask(with: request, from: sent, completionHandler: $0).resume() }.status == 201)
        #expect(
            await outcome { session.uploadTask(with: request, fromFile: folder.url("file"), completionHandler: $0).resume() }.status == 201)
        #expect((try await session.upload(for: request, from: sent).1 as? HTTPURLResponse)?.statusCode == 201)
        var streaming = request
        streaming.httpBodyStream = InputStream(data: sent)
        #expect(await outcome { session.dataTask(with: streaming, completionHandler: $0).resume() }.status == 201)
    }

    @Test("A stream of any length is read whole", arguments: [0, 1, 65_535, 65_536, 65_537, 200_000])
    func streams(length: Int) async throws {
        let sent = Data((0..<length).map { UInt8(truncatingIfNeeded: $0) })
        MockURLProtocol.stub(.post, "/a", respond: .status(201))
        var request = request("/a", method: "POST")
        request.httpBodyStream = InputStream(data: sent)
        #expect(await outcome { session.dataTask(with: request, completionHandler: $0).resume() }.status == 201)
        #expect(MockURLProtocol.requests.map(\.body) == [sent])
    }

    @Test("The header fields and the timeout of a session's configuration count, each session its own")
    func configuration() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .status(200))
        MockURLProtocol.stub(.get, "/never", respond: .never)
        let configuration = MockURLProtocol.configuration
        configuration.httpAdditionalHeaders = ["Authorization": "Bearer x", "X-Own": "session"]
        configuration.timeoutIntervalForRequest = 0.05
        let other = URLSession(configuration: configuration)
        var own = request("/a")
        own.setValue("request", forHTTPHeaderField: "X-Own")
        for (session, request) in [(other, own), (session, request("/a"))] {
            #expect(await outcome { session.dataTask(with: request, completionHandler: $0).resume() }.status == 200)
        }
        #expect(MockURLProtocol.requests.map { $0.headers["Authorization"] } == ["Bearer x", nil])
        #expect(MockURLProtocol.requests.map { $0.headers["X-Own"] } == ["request", nil])
        // An app may describe its tasks.
        let described = await outcome { done in
            let task = other.dataTask(with: own, completionHandler: done)
            task.taskDescription = "avatar"
            task.resume()
        }
        #expect(described.status == 200 && MockURLProtocol.requests.last?.headers["Authorization"] == "Bearer x")
        let error = await outcome { other.dataTask(with: request("/never"), completionHandler: $0).resume() }.error
        #expect((error as? URLError)?.code == .timedOut)
        // The timeout of a request comes before that of its session.
        configuration.timeoutIntervalForRequest = 3600
        let patient = URLSession(configuration: configuration)
        let hasty = URLRequest(url: example.appendingPathComponent("/never"), timeoutInterval: 0.05)
        #expect((await outcome { patient.dataTask(with: hasty, completionHandler: $0).resume() }.error as? URLError)?.code == .timedOut)
        #expect(MockURLProtocol.configuration.urlCache == nil)
        // A provider leaves such fields out where they do not belong.
        let provider = DefaultAPIProvider(baseURL: example, configuration: configuration)
        let elsewhere = try #require(URL(string: "https://other.example.org/a"))
        _ = try await provider.request(Endpoint<Data>(.get, .url(elsewhere))).value
        #expect(MockURLProtocol.requests.last?.headers["Authorization"] == nil)
    }

    @Test("The header fields of an app's own configuration count, too")
    func ownConfiguration() async {
        MockURLProtocol.stub(.get, "/a", respond: .status(200))
        let configuration = URLSessionConfiguration.default
        configuration.protocolClasses = [MockURLProtocol.current]
        configuration.httpAdditionalHeaders = ["X-Own": "session"]
        let own = URLSession(configuration: configuration)
        #expect(await outcome { own.dataTask(with: request("/a"), completionHandler: $0).resume() }.status == 200)
        #expect(MockURLProtocol.requests.map { $0.headers["X-Own"] } == ["session"])
    }

    @Test("A session is refused what a real one is refused, and the mock sees nothing of it")
    func refusedBySessions() async throws {
        var (withBody, withStream, empty) = (request("/a"), request("/a"), request("/a"))
        (withBody.httpBody, withStream.httpBodyStream, empty.httpBody) = (body, InputStream(data: body), Data())
        let other = URLRequest(url: try #require(URL(string: "unknown://host/a")))
        for (request, code) in [
            (withBody, URLError.Code.dataLengthExceedsMaximum), (withStream, .dataLengthExceedsMaximum), (other, .unsupportedURL),
        ] {
            #expect((await outcome { session.dataTask(with: request, completionHandler: $0).resume() }.error as? URLError)?.code == code)
        }
        let upload = await outcome { session.uploadTask(with: request("/a"), from: body, completionHandler: $0).resume() }
        #expect((upload.error as? URLError)?.code == .dataLengthExceedsMaximum)
        #expect(MockURLProtocol.requests.isEmpty)
        MockURLProtocol.stub(.get, "/a", respond: .status(200))
        #expect(await outcome { session.dataTask(with: empty, completionHandler: $0).resume() }.status == 200)
        MockURLProtocol.stub("a DELETE", where: { $0.method == .delete && $0.body == body }, respond: .status(204))
        withBody.httpMethod = "DELETE"
        let deletion = withBody
        #expect(await outcome { session.dataTask(with: deletion, completionHandler: $0).resume() }.status == 204)
    }

    #if canImport(FoundationNetworking)
    @Test("A download task fails on Linux, and does not trap")
    func download() async throws {
        // That is an issue of its scope.
        try await MockURLProtocol.withScope {
            let session = URLSession(configuration: MockURLProtocol.configuration)
            let outcome = await outcome { done in session.downloadTask(with: request("/a")) { done(nil, $1, $2) }.resume() }
            let error = try #require(outcome.error)
            #expect("\(error)".contains("download task"))
            #expect(try verification().contains("download task"))
            await #expect(throws: (any Error).self) { try await session.download(for: request("/a")) }
        }
    }
    #endif

    #if canImport(FoundationNetworking)
    @Test("An upload whose stream the session asks its delegate for fails on Linux, and says why; one from no bytes does not")
    func streamedUpload() async throws {
        try await MockURLProtocol.withScope {
            MockURLProtocol.stub(.post, "/a", isOptional: true, respond: .status(201))
            let session = URLSession(configuration: MockURLProtocol.configuration)
            let task = session.uploadTask(withStreamedRequest: request("/a", method: "POST"))
            task.resume()
            await eventually { !MockURLProtocol.problems.isEmpty }
            let report = try verification()
            #expect(report.contains("the stream of an uploadTask(withStreamedRequest:): use uploadTask(with:from:)"), "\(report)")
            let request = request("/a", method: "POST")
            #expect(await outcome { session.uploadTask(with: request, from: Data(), completionHandler: $0).resume() }.status == 201)
        }
    }
    #endif

    @Test("A task is answered once even if several threads suspend and resume it meanwhile")
    func suspendedForAMoment() async throws {
        let gate = DispatchSemaphore(value: 0)
        let response = StubResponse.handler { _ in
            gate.wait()
            return .status(200)
        }
        MockURLProtocol.stub(.get, "/a", respond: response)
        MockURLProtocol.stub(.get, "/b", respond: .status(200))
        for _ in 0..<rounds(50) {
            let outcome = await outcome { done in
                let task = session.dataTask(with: request("/a"), completionHandler: done)
                task.resume()
                DispatchQueue.concurrentPerform(iterations: 8) { $0.isMultiple(of: 2) ? task.suspend() : task.resume() }
                for _ in 0..<4 { task.resume() }
                // Once this one is answered, the session has seen all of that.
                session.dataTask(with: request("/b")) { _, _, _ in gate.signal() }.resume()
            }
            #expect(outcome.status == 200)
        }
        #expect(MockURLProtocol.requests.count == 2 * rounds(50))
    }

    /// Suspends its task at each chunk, as a slow reader does.
    private final class SlowReader: NSObject, URLSessionDataDelegate {
        let received = Signals<Data>()
        let end = Signals<Bool>()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            dataTask.suspend()
            received.send(data)
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { end.send(error == nil) }
    }

    @Test("A reader that suspends its task at each chunk of a feed gets each of them once, and the end after it has resumed the task")
    func slowReader() async throws {
        let feed = StreamFeed()
        MockURLProtocol.stub(.get, "/slow", respond: .stream(from: feed))
        let reader = SlowReader()
        let session = URLSession(configuration: MockURLProtocol.configuration, delegate: reader, delegateQueue: nil)
        let task = session.dataTask(with: request("/slow"))
        task.resume()
        for number in 0..<rounds(200) {
            let chunk = Data("\(number)".utf8)
            feed.send(chunk)
            #expect(await reader.received.next() == chunk)
            // It is suspended. On Linux, resuming it while its end is on the way may end the process: see Documentation/Upstream.md.
            task.resume()
        }
        feed.finish()
        #expect(await reader.end.next() == true)
        session.finishTasksAndInvalidate()
    }

    @Test("A task that is cancelled at any moment ends once", arguments: [0, 1, 10])
    func cancellingSoon(milliseconds: Int) async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).delayed(by: .milliseconds(milliseconds)).chunked(into: 2))
        // A continuation that is resumed twice traps.
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<rounds(200) {
                if number >= 50 { await group.next() }
                group.addTask {
                    _ = await outcome { done in
                        let task = session.dataTask(with: request("/a"), completionHandler: done)
                        task.resume()
                        if number % 3 == 1 { task.cancel() }
                        if number % 3 == 2 {
                            let moment = DispatchTime.now() + 2 * Double(milliseconds) / 1_000 * .random(in: 0...1)
                            DispatchQueue.global().asyncAfter(deadline: moment) { task.cancel() }
                        }
                    }
                }
            }
        }
    }

    /// Joins the data that a session delivers.
    private final class Reader: NSObject, URLSessionDataDelegate {
        let data = Locked(Data())
        let end = Signals<Bool>()

        func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
            self.data.withLock { $0 += data }
        }

        func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) { end.send(error == nil) }
    }

    private func request(_ path: String, method: String = "GET") -> URLRequest {
        var request = URLRequest(url: example.appendingPathComponent(path))
        request.httpMethod = method
        return request
    }

    /// What the completion handler of a task gets.
    private func outcome(
        _ start: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> Void
    ) async -> (data: Data?, status: Int?, error: (any Error)?) {
        await withCheckedContinuation { continuation in
            start { continuation.resume(returning: ($0, ($1 as? HTTPURLResponse)?.statusCode, $2)) }
        }
    }
}
