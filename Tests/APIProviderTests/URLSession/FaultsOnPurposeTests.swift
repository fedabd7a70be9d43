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
        /// A file that is emptied while the body is sent, when it is its turn.
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
                exchange.complete(with: Result { try send(exchange) }.failure)
                return Disposables.create()
            }
        }

        private func send(_ exchange: Exchange) throws {
            if var reader = exchange.request.body?.makeReader() {
                repeat {
                    if let file, faults.isNext() { truncate(file.path, 0) }
                } while try reader.read(upToCount: 10_000) != nil
            }
            let lost = URLError(.networkConnectionLost)
            let head = APIResponse(to: exchange.request, headers: ["Content-Length": "7"]).response
            if faults.isNext() || !exchange.receive(head) { throw lost }
            for chunk in ["[1,", "2,", "3]"] where faults.isNext() || !exchange.receive(Data(chunk.utf8)) { throw lost }
            if faults.isNext() { throw lost }
        }
    }

    /// The error of a request that ends with the value of the three chunks, or with an error after a fault.
    private func failure<Value: Sendable>(
        of endpoint: Endpoint<Value>, _ failing: Failing, by transport: (any Transport)? = nil
    ) async -> (any Error)? {
        let provider = DefaultAPIProvider(
            baseURL: example, transport: transport ?? failing.transport, decoder: failing,
            middlewares: [failing, RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))])
        do {
            let value = try await provider.request(endpoint).value
            if let numbers = value as? [Int] { #expect(numbers == [1, 2, 3]) }
            return nil
        } catch {
            #expect(failing.faults.hasFailed, "\(error)")
            return error
        }
    }

    /// Whether nothing holds an exchange any more. The thread that delivers an event may hold one until it returns.
    private func isReleased(_ failing: Failing) async -> Bool {
        await eventually { failing.exchanges.entries.allSatisfy { $0.exchange == nil } }
    }

    @Test("A request ends once, and nothing is kept")
    func request() async {
        let calls = await Faults.inTurn { faults in
            let failing = Failing(faults: faults)
            let endpoint = Endpoint<[Int]>(.get, "/items").adapting { _ in try faults.call() }.validating { _ in try faults.call() }
            _ = await failure(of: endpoint, failing)
            #expect(await isReleased(failing))
        }
        #expect(calls >= 10)
    }

    @Test("A request by a URLSession ends once, and the transport goes with it")
    func session() async {
        let configuration = URLSessionConfiguration.patient
        configuration.protocolClasses = [FailingProtocol.self]
        let calls = await Faults.inTurn { faults in
            FailingProtocol.faults.withLock { $0 = faults }
            weak var held: URLSessionTransport?
            do {
                let transport = URLSessionTransport(configuration: configuration)
                held = transport
                _ = await failure(of: Endpoint<[Int]>(.get, "/items"), Failing(faults: faults), by: transport)
            }
            #expect(await eventually { held == nil })
        }
        #expect(calls >= 8)
    }

    #if os(Linux)
    @Test("A download leaves the old file or the new one, no other, and none open", arguments: [true, false], [true, false])
    func download(isNew: Bool, isLasting: Bool) async throws {
        let calls = try await Faults.inTurn(isLasting: isLasting) { faults in
            let (folder, failing) = (TemporaryFolder(), Failing(faults: faults))
            let file = folder.url("file")
            if !isNew { try Data("old".utf8).write(to: file) }
            let (error, open) = await FaultyFiles.within(folder.url, faults) {
                let error = await failure(of: Endpoint(.get, "/items", downloadingTo: file), failing)
                #expect(await isReleased(failing))
                return error
            }
            let content = try? String(contentsOf: file, encoding: .utf8)
            if error == nil {
                #expect(content == "[1,2,3]")
            } else {
                #expect(content == (isNew ? nil : "old") || error is Faults.Failure)
            }
            #expect(try folder.names.allSatisfy { $0 == "file" })
            #expect(open == 0)
        }
        // Six or seven of them are calls on files: open, fchmod for an old file's mode, write for each chunk, fsync and rename.
        #expect(calls == (isNew ? 14 : 15))
    }

    @Test("An upload of files ends once, and says which file could not be read")
    func upload() async throws {
        let folder = TemporaryFolder()
        let files = ["a", "b"].map(folder.url)
        let body = HTTPBody.multipart(files.map { MultipartPart(name: "file", file: $0, contentType: "text/plain") })
        let sentences = Log<String>()
        let calls = try await Faults.inTurn { faults in
            for file in files { try Data(count: 100_000).write(to: file) }
            let failing = Failing(faults: faults, file: files[1])
            let (error, open) = await FaultyFiles.within(folder.url, faults) {
                let error = await failure(of: Endpoint<[Int]>(.post, "/items", body: body), failing)
                #expect(await isReleased(failing))
                return error
            }
            if let error { sentences.append("\(error)") }
            #expect(open == 0)
        }
        #expect(calls > 30)
        let sentence = "the file \(files[1].path) has become shorter since the request was made."
        #expect(sentences.entries.filter { $0.hasSuffix(sentence) }.count > 10)
    }
    #endif
}

extension Result {
    fileprivate var failure: Failure? {
        if case .failure(let error) = self { return error }
        return nil
    }
}

/// A response that breaks off when it is its turn.
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
