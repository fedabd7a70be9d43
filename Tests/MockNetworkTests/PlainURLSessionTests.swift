import Foundation
import MiniRx
import MockNetwork
import MockNetworkTesting
import TestSupport
import Testing

@Suite("URLSession code without a provider", .mockNetwork, tenMinutes)
struct PlainURLSessionTests {
    /// What a task has ended in.
    fileprivate struct Outcome: Sendable {
        var data: Data?
        var status: Int?
        var error: (any Error)?
    }

    private let session = URLSession(configuration: MockURLProtocol.configuration)
    private let body = Data("0123456789".utf8)

    @Test("A completion handler gets the whole body of an answer in chunks")
    func completionHandler() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).chunked(into: 3))
        let outcome = await outcome { session.dataTask(with: request("/a"), completionHandler: $0) }
        #expect(outcome.data == body)
        #expect(outcome.status == 200)
    }

    @Test("An async call gets the whole body of an answer in chunks")
    func asyncCall() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).chunked(into: 3))
        let (data, response) = try await session.data(for: request("/a"))
        #expect(data == body)
        #expect((response as? HTTPURLResponse)?.statusCode == 200)
    }

    @Test("A redirect is the response")
    func redirect() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .redirect(to: "/b"))
        #expect(await outcome { session.dataTask(with: request("/a"), completionHandler: $0) }.status == 302)
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
        let sent = Data("sent".utf8)
        let file = FileManager.default.temporaryDirectory.appendingPathComponent(UUID().uuidString)
        try sent.write(to: file)
        defer { try? FileManager.default.removeItem(at: file) }
        MockURLProtocol.stub(.post, "/a", body: .data(sent), respond: .status(201))
        let request = request("/a", method: "POST")
        #expect(await outcome { session.uploadTask(with: request, from: sent, completionHandler: $0) }.status == 201)
        #expect(await outcome { session.uploadTask(with: request, fromFile: file, completionHandler: $0) }.status == 201)
        let (_, response) = try await session.upload(for: request, from: sent)
        #expect((response as? HTTPURLResponse)?.statusCode == 201)
        let streamed = await outcome { done in
            var request = request
            request.httpBodyStream = InputStream(data: sent)
            return session.dataTask(with: request, completionHandler: done)
        }
        #expect(streamed.status == 201)
        #expect(MockURLProtocol.requests.map(\.body) == [sent, sent, sent, sent])
    }

    #if canImport(FoundationNetworking)
    @Test("A download task fails on Linux, and does not trap")
    func download() async throws {
        let error: (any Error)? = await withCheckedContinuation { continuation in
            session.downloadTask(with: request("/a")) { continuation.resume(returning: $2) }.resume()
        }
        #expect("\(try #require(error))".contains("download task"))
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
        for _ in 0..<500 {
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

    @Test("A task may be cancelled right after it is resumed", arguments: [0, 0.001])
    func cancellingSoon(delay: TimeInterval) async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).delayed(by: delay))
        await withTaskGroup(of: Void.self) { group in
            for _ in 0..<8 {
                group.addTask {
                    for number in 0..<500 {
                        await withCheckedContinuation { continuation in
                            let task = session.dataTask(with: request("/a")) { _, _, _ in continuation.resume() }
                            task.resume()
                            if !number.isMultiple(of: 3) { task.cancel() }
                        }
                    }
                }
            }
        }
    }

    @Test("5,000 delayed requests each end once, though half are cancelled at random moments")
    func cancellingMany() async throws {
        MockURLProtocol.stub(.get, "/a", respond: .data(body).delayed(by: 0.01).chunked(into: 2))
        let ends = Log<Int>()
        await withTaskGroup(of: Void.self) { group in
            for number in 0..<5_000 {
                if number >= 200 { await group.next() }
                group.addTask {
                    await withCheckedContinuation { continuation in
                        let task = session.dataTask(with: request("/a")) { _, _, _ in
                            ends.append(number)
                            continuation.resume()
                        }
                        task.resume()
                        guard number.isMultiple(of: 2) else { return }
                        let microseconds = Int.random(in: 0..<20_000)
                        DispatchQueue.global().asyncAfter(deadline: .now() + .microseconds(microseconds)) { task.cancel() }
                    }
                }
            }
        }
        #expect(ends.entries.sorted() == Array(0..<5_000))
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

extension PlainURLSessionTests.Outcome {
    fileprivate init(_ data: Data?, _ response: URLResponse?, _ error: (any Error)?) {
        self.init(data: data, status: (response as? HTTPURLResponse)?.statusCode, error: error)
    }
}

private final class Delegate: NSObject, URLSessionDataDelegate {
    private let log: Log<String>
    private let end: @Sendable () -> Void

    init(log: Log<String>, end: @escaping @Sendable () -> Void) {
        self.log = log
        self.end = end
    }

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
