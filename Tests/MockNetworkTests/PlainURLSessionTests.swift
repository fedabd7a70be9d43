import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

@Suite("URLSession code without a provider", .mockNetwork, tenMinutes)
struct PlainURLSessionTests {
    /// The arguments of a completion handler.
    private struct Outcome: Sendable {
        let data: Data?
        let status: Int?
        let error: (any Error)?

        init(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
            (self.data, status, self.error) = (data, (response as? HTTPURLResponse)?.statusCode, error)
        }
    }

    private let session = URLSession(configuration: MockURLProtocol.configuration)
    private let body = Data("0123456789".utf8)

    @Test("A completion handler and an async call get the whole body of an answer in chunks")
    func wholeBody() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).chunked(into: 3))
        let outcome = await outcome { session.dataTask(with: request("/a"), completionHandler: $0) }
        #expect(outcome.data == body)
        #expect(outcome.status == 200)
        let (data, response) = try await session.data(for: request("/a"))
        #expect(data == body)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("A redirect is the response, and a late response is a timeout")
    func redirectsAndTimeouts() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .redirect(to: "/b"))
        #expect(await outcome { session.dataTask(with: request("/a"), completionHandler: $0) }.status == 302)
        for response in [StubResponse.never, .status(200).delayed(by: 3600)] {
            MockURLProtocol.stub(.get, "/a", respond: response)
            var request = request("/a")
            request.timeoutInterval = 0.05
            let outcome = await outcome { session.dataTask(with: request, completionHandler: $0) }
            #expect((outcome.error as? URLError)?.code == .timedOut)
        }
    }

    @Test("A session's delegate gets the chunks one by one, then the end")
    func delegate() async throws {
        let chunks = body.count
        MockURLProtocol.stub(.get, "/a", respond: .data(body).chunked(into: chunks).failing(with: URLError(.networkConnectionLost)))
        let log = Log<String>()
        await withCheckedContinuation { continuation in
            let delegate = Delegate(log: log) { continuation.resume() }
            let session = URLSession(configuration: MockURLProtocol.configuration, delegate: delegate, delegateQueue: nil)
            session.dataTask(with: request("/a")).resume()
            session.finishTasksAndInvalidate()
        }
        let end = "\(URLError.Code.networkConnectionLost.rawValue)"
        #expect(log.entries.last == end)
        #if canImport(FoundationNetworking)
        // On Apple's systems, a session may join chunks, and drop those before an error.
        #expect(log.entries == ["200"] + body.map { String(decoding: [$0], as: UTF8.self) } + [end])
        #endif
    }

    @Test("An upload is recorded with its body, from data, from a file and from a stream")
    func uploads() async throws {
        let (sent, folder) = (Data("sent".utf8), TemporaryFolder())
        let file = folder.url("file")
        try sent.write(to: file)
        MockURLProtocol.stub(.post, "/a", body: .data(sent), respond: .status(201))
        let request = request("/a", method: "POST")
        #expect(await outcome { session.uploadTask(with: request, from: sent, completionHandler: $0) }.status == 201)
        #expect(await outcome { session.uploadTask(with: request, fromFile: file, completionHandler: $0) }.status == 201)
        let (_, response) = try await session.upload(for: request, from: sent)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        var streaming = request
        streaming.httpBodyStream = InputStream(data: sent)
        #expect(await outcome { session.dataTask(with: streaming, completionHandler: $0) }.status == 201)
        #expect(MockURLProtocol.requests.map(\.body) == [sent, sent, sent, sent])
    }

    #if canImport(FoundationNetworking)
    @Test("A download task fails on Linux, and does not trap")
    func download() async throws {
        let outcome = await outcome { done in session.downloadTask(with: request("/a")) { done(nil, $1, $2) } }
        #expect("\(try #require(outcome.error))".contains("download task"))
        await #expect(throws: (any Error).self) { try await session.download(for: request("/a")) }
    }
    #endif

    @Test("A task gets its answer even if several threads suspend and resume it meanwhile")
    func suspendedForAMoment() async throws {
        let gate = DispatchSemaphore(value: 0)
        MockURLProtocol.stub(
            .get, "/a",
            respond: .handler { _ in
                gate.wait()
                return .status(200)
            })
        MockURLProtocol.stub(.get, "/b", respond: .status(200))
        for _ in 0..<rounds(50) {
            let outcome = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request("/a")) { continuation.resume(returning: Outcome($0, $1, $2)) }
                task.resume()
                DispatchQueue.concurrentPerform(iterations: 8) { $0.isMultiple(of: 2) ? task.suspend() : task.resume() }
                for _ in 0..<4 { task.resume() }
                // Once this one is answered, the session has seen all of that.
                session.dataTask(with: request("/b")) { _, _, _ in gate.signal() }.resume()
            }
            #expect(outcome.status == 200)
        }
    }

    @Test("Cancelling ends a request that waits at once")
    func cancelling() async throws {
        for response in [StubResponse.never, .status(200).delayed(by: 3600)] {
            MockURLProtocol.stub(.get, "/a", respond: response)
            MockURLProtocol.stub(.get, "/b", respond: .status(200))
            let outcome = await withCheckedContinuation { continuation in
                let task = session.dataTask(with: request("/a")) { continuation.resume(returning: Outcome($0, $1, $2)) }
                task.resume()
                session.dataTask(with: request("/b")) { _, _, _ in task.cancel() }.resume()
            }
            #expect((outcome.error as? URLError)?.code == .cancelled)
        }
    }

    @Test("A task that is cancelled at any moment ends once", arguments: [0, 0.001, 0.01])
    func cancellingSoon(delay: TimeInterval) async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).delayed(by: delay).chunked(into: 2))
        let (count, ends) = (rounds(200), Log<Int>())
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<count {
                if number >= 50 { await group.next() }
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let task = session.dataTask(with: request("/a")) { _, _, _ in
                            ends.append(number)
                            continuation.resume()
                        }
                        task.resume()
                        switch number % 3 {
                        case 0: break
                        case 1: task.cancel()
                        default:
                            let moment = DispatchTime.now() + 2 * delay * .random(in: 0...1)
                            DispatchQueue.global().asyncAfter(deadline: moment) { task.cancel() }
                        }
                    }
                }
            }
        }
        #expect(ends.entries.sorted() == Array(0..<count))
    }

    private func request(_ path: String, method: String = "GET") -> URLRequest {
        var request = URLRequest(url: example.appendingPathComponent(path))
        request.httpMethod = method
        return request
    }

    private func outcome(
        _ task: (@escaping @Sendable (Data?, URLResponse?, (any Error)?) -> Void) -> URLSessionTask
    ) async -> Outcome {
        await withCheckedContinuation { continuation in
            task { continuation.resume(returning: Outcome($0, $1, $2)) }.resume()
        }
    }
}

private final class Delegate: NSObject, URLSessionDataDelegate {
    private let log: Log<String>
    private let end: @Sendable () -> Void

    init(log: Log<String>, end: @escaping @Sendable () -> Void) { (self.log, self.end) = (log, end) }

    func urlSession(
        _ session: URLSession, dataTask: URLSessionDataTask, didReceive response: URLResponse,
        completionHandler: @escaping @Sendable (URLSession.ResponseDisposition) -> Void
    ) {
        log.append("\((response as? HTTPURLResponse)?.statusCode ?? 0)")
        completionHandler(.allow)
    }

    func urlSession(_ session: URLSession, dataTask: URLSessionDataTask, didReceive data: Data) {
        log.append(String(decoding: data, as: UTF8.self))
    }

    func urlSession(_ session: URLSession, task: URLSessionTask, didCompleteWithError error: (any Error)?) {
        log.append("\((error as NSError?)?.code ?? 0)")
        end()
    }
}
