@_spi(Transports) import APIProvider
import Foundation
import MiniRx
import TestSupport
import Testing

@Suite("Faults in each call of a request", .serialized, tenMinutes)
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
                do {
                    try send(exchange)
                    exchange.complete()
                } catch {
                    exchange.complete(with: error)
                }
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
            let head = APIResponse(to: exchange.request, headers: ["Content-Length": "7"]).httpResponse
            if faults.isNext() || !exchange.receive(head) { throw lost }
            for chunk in ["[1,", "2,", "3]"] where faults.isNext() || !exchange.receive(Data(chunk.utf8)) { throw lost }
            if faults.isNext() { throw lost }
        }
    }

    /// The error of a request that ends with the value of the three chunks, or with an error after a fault. No exchange is kept.
    private func failure<Value: Sendable>(
        of endpoint: Endpoint<Value>, _ failing: Failing, by transport: (any Transport)? = nil
    ) async -> (any Error)? {
        let provider = DefaultAPIProvider(
            baseURL: example, transport: transport ?? failing.transport, decoder: failing,
            middlewares: [failing, RetryMiddleware(RetryPolicy(maxAttempts: 2, baseDelay: .nanoseconds(0)))])
        // The thread that delivers an event may hold an exchange until it returns.
        func isReleased() async -> Bool { await eventually { failing.exchanges.entries.allSatisfy { $0.exchange == nil } } }
        do {
            let value = try await provider.request(endpoint).value
            if let numbers = value as? [Int] { #expect(numbers == [1, 2, 3]) }
            #expect(await isReleased())
            return nil
        } catch {
            #expect(failing.faults.hasFailed, "\(error)")
            #expect(await isReleased())
            return error
        }
    }

    @Test("A request in a URLSession ends once, and the transport is released")
    func session() async {
        let calls = await Faults.inTurn { faults in
            FailingProtocol.faults.withLock { $0 = faults }
            weak var held: URLSessionTransport?
            do {
                let transport = URLSessionTransport(configuration: FailingProtocol.configuration)
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
                await failure(of: Endpoint(.get, "/items", downloadingTo: file), failing)
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

    @Test("An upload of files ends once, keeps nothing, and says which file could not be read")
    func upload() async throws {
        let folder = TemporaryFolder()
        let files = ["a", "b"].map(folder.url)
        let body = HTTPBody.multipart(files.map { MultipartPart(name: "file", file: $0, contentType: "text/plain") })
        let sentences = Log<String>()
        let calls = try await Faults.inTurn { faults in
            for file in files { try Data(count: 100_000).write(to: file) }
            let failing = Failing(faults: faults, file: files[1])
            let endpoint = Endpoint<[Int]>(.post, "/", body: body).adapting { _ in try faults.call() }.validating { _ in try faults.call() }
            let (error, open) = await FaultyFiles.within(folder.url, faults) { await failure(of: endpoint, failing) }
            if let error { sentences.append("\(error)") }
            #expect(open == 0)
        }
        #expect(calls > 30)
        let sentence = "the file \(files[1].path) has become shorter since the request was made."
        #expect(sentences.entries.filter { $0.hasSuffix(sentence) }.count > 10)
    }
    #endif
}

/// A response that breaks off when it is its turn.
private final class FailingProtocol: StubProtocol {
    static let faults = Locked<Faults?>(nil)

    override func startLoading() {
        guard let faults = Self.faults.withLock({ $0 }) else { return }
        let steps = [{ self.sendHead() }] + ["[1,", "2,", "3]"].map { chunk in { self.send(chunk) } } + [{ self.finish() }]
        for step in steps {
            if faults.isNext() { return fail(URLError(.networkConnectionLost)) }
            step()
        }
    }
}
