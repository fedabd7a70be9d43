import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Each call of a request that may fail fails in turn", .serialized, tenMinutes)
struct FaultsOnPurposeTests {
    /// A decoder, a middleware and a network stack that fail when it is their turn.
    private struct Failing: BodyDecoder, Middleware {
        let faults: Faults
        let exchanges = Log<Weak>()
        /// A file that becomes empty while the body is sent, when it is its turn.
        var file: URL?

        struct Weak: Sendable {
            weak var exchange: Exchange?
        }

        func decode<Value: Decodable>(_ type: Value.Type, from data: Data) throws -> Value {
            try faults.call()
            return try JSONDecoder().decode(type, from: data)
        }

        func intercept(_ request: PreparedRequest, next: @escaping Next) -> Single<APIResponse> {
            .deferred {
                try faults.call()
                return next(request).map { response in
                    try faults.call()
                    return response
                }
            }
        }

        var transport: ExchangeTransport {
            ExchangeTransport { exchange in
                exchanges.append(Weak(exchange: exchange))
                exchange.complete(with: failureOfReading(exchange.request.body) ?? answer(exchange))
                return Disposables.create()
            }
        }

        /// Reads the whole body, as if to send it.
        private func failureOfReading(_ body: RequestBody?) -> (any Error)? {
            guard var reader = body?.makeReader() else { return nil }
            do {
                repeat {
                    if let file, faults.isNext() { truncate(file.path, 0) }
                } while try reader.read(upToCount: 10_000) != nil
                return nil
            } catch {
                return error
            }
        }

        private func answer(_ exchange: Exchange) -> (any Error)? {
            let lost = URLError(.networkConnectionLost)
            let fields = ["Content-Length": "7"]
            guard let head = HTTPURLResponse(url: exchange.request.url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: fields)
            else { return lost }
            if faults.isNext() || !exchange.receive(head) { return lost }
            for chunk in ["[1,", "2,", "3]"] where faults.isNext() || !exchange.receive(Data(chunk.utf8)) { return lost }
            return faults.isNext() ? lost : nil
        }

        /// Whether nothing holds an exchange, when the thread that delivered the event has gone on.
        func isReleased() async -> Bool { await eventually { exchanges.entries.allSatisfy { $0.exchange == nil } } }
    }

    private func provider(_ failing: Failing, _ transport: (any Transport)? = nil) -> DefaultAPIProvider {
        DefaultAPIProvider(
            baseURL: example, transport: transport ?? failing.transport, decoder: failing,
            middlewares: [failing, RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))])
    }

    @Test("A request ends once, and nothing is kept")
    func request() async {
        let calls = await Faults.inTurn { faults in
            let failing = Failing(faults: faults)
            let endpoint = Endpoint<[Int]>(.get, "/items").adapting { _ in try faults.call() }.validating { _ in try faults.call() }
            let result = await outcome(of: provider(failing).request(endpoint))
            switch result {
            case .success(let value): #expect(value == [1, 2, 3])
            case .failure(let error): #expect(faults.hasFailed, "\(error)")
            }
            #expect(await failing.isReleased())
        }
        #expect(calls >= 10)
    }

    @Test("A request by a URLSession ends once, and the transport goes with it")
    func session() async {
        let configuration = URLSessionConfiguration.patient
        configuration.protocolClasses = [FailingProtocol.self]
        let calls = await Faults.inTurn { faults in
            FailingProtocol.faults.withLock { $0 = faults }
            weak var transport: URLSessionTransport?
            let result: Result<[Int], any Error>
            do {
                let own = URLSessionTransport(configuration: configuration)
                transport = own
                result = await outcome(of: provider(Failing(faults: faults), own).request(Endpoint<[Int]>(.get, "/items")))
            }
            switch result {
            case .success(let value): #expect(value == [1, 2, 3])
            case .failure(let error): #expect(faults.hasFailed, "\(error)")
            }
            #expect(await eventually { transport == nil })
        }
        #expect(calls >= 8)
    }

    #if os(Linux)
    @Test("A download leaves the old file or the new one, no other, and none open", arguments: [true, false], [true, false])
    func download(isNew: Bool, isLasting: Bool) async throws {
        let calls = try await Faults.inTurn(isLasting: isLasting) { faults in
            let folder = TemporaryFolder()
            let file = folder.url("file")
            if !isNew { try Data("old".utf8).write(to: file) }
            let failing = Failing(faults: faults)
            let (result, open) = await FaultyFiles.within(folder.url, faults) {
                let result = await outcome(of: provider(failing).request(Endpoint(.get, "/items", downloadingTo: file)))
                #expect(await failing.isReleased())
                return result
            }
            let content = try? String(contentsOf: file, encoding: .utf8)
            switch result {
            case .success: #expect(content == "[1,2,3]")
            case .failure(let error):
                #expect(faults.hasFailed, "\(error)")
                #expect(content == (isNew ? nil : "old") || error is Faults.Failure)
            }
            #expect(try folder.names.allSatisfy { $0 == "file" })
            #expect(open == 0)
        }
        // Six or seven of them are calls on files: open, fchmod for an old file's mode, write for each chunk, fsync and rename.
        #expect(calls == (isNew ? 14 : 15))
    }
    #endif

    #if os(Linux)
    @Test("An upload of files ends once, and says which file could not be read")
    func upload() async throws {
        let folder = TemporaryFolder()
        let files = ["a", "b"].map(folder.url)
        let body = HTTPBody.multipart(files.map { MultipartPart(name: "file", file: $0, contentType: "text/plain") })
        let sentences = Log<String>()
        let calls = try await Faults.inTurn { faults in
            for file in files { try Data(count: 100_000).write(to: file) }
            var failing = Failing(faults: faults)
            failing.file = files[1]
            let provider = provider(failing)
            let (result, open) = await FaultyFiles.within(folder.url, faults) {
                let result = await outcome(of: provider.request(Endpoint<[Int]>(.post, "/items", body: body)))
                #expect(await failing.isReleased())
                return result
            }
            switch result {
            case .success(let value): #expect(value == [1, 2, 3])
            case .failure(let error):
                #expect(faults.hasFailed, "\(error)")
                sentences.append("\(error)")
            }
            #expect(open == 0)
        }
        #expect(calls > 30)
        let sentence = "the file \(files[1].path) has become shorter since the request was made."
        #expect(sentences.entries.filter { $0.hasSuffix(sentence) }.count > 10)
    }
    #endif

    private func outcome<Value>(of single: Single<Value>) async -> Result<Value, any Error> {
        do { return .success(try await single.value) } catch { return .failure(error) }
    }
}

/// An answer that breaks off when it is its turn.
private final class FailingProtocol: URLProtocol {
    static let faults = Locked<Faults?>(nil)

    override static func canInit(with request: URLRequest) -> Bool { true }
    override static func canonicalRequest(for request: URLRequest) -> URLRequest { request }
    override func stopLoading() {}

    override func startLoading() {
        guard let faults = Self.faults.withLock({ $0 }), let url = request.url,
            let head = HTTPURLResponse(url: url, statusCode: 200, httpVersion: "HTTP/1.1", headerFields: ["Content-Length": "7"])
        else { return }
        func fail() { client?.urlProtocol(self, didFailWithError: URLError(.networkConnectionLost)) }
        if faults.isNext() { return fail() }
        client?.urlProtocol(self, didReceive: head, cacheStoragePolicy: .notAllowed)
        for chunk in ["[1,", "2,", "3]"] {
            if faults.isNext() { return fail() }
            client?.urlProtocol(self, didLoad: Data(chunk.utf8))
        }
        if faults.isNext() { return fail() }
        client?.urlProtocolDidFinishLoading(self)
    }
}
